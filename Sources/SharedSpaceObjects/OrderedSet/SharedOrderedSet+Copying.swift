extension SharedOrderedSet {
    /// Copies the ordered set under another name, in one step.
    ///
    /// The copy has the elements of one moment, in their order, and is edited independently. In a transaction, it is
    /// made together with everything else that the body does.
    ///
    /// - Parameter name: 1 to 240 bytes of UTF-8; no object may have this name.
    /// - Returns: The copy, of the same type and with the same identity of elements.
    /// - Throws: `invalidArgument` for a name that is not allowed or that an object has; `closed`, `storageFull`,
    ///   `limitReached`, `transactionTooLarge`, `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(n); all other writers wait meanwhile.
    public func copy(as name: String) throws(SpaceError) -> SharedOrderedSet {
        let number = try context.naming("copy an ordered set") { () throws(SpaceError) in
            try Limits.check(objectName: name)
            switch context {
            case .namespace(let namespace):
                return try namespace.usableCore().write(.adding) { (scope) throws(SpaceError) in
                    try Self.copy(scope.snapshot.elementList(self.name, self.number), to: name, in: scope)
                }
            case .transaction(let state):
                try state.checkRunsHere(title)
                let bytes = try state.read { (scope) throws(SpaceError) in
                    let list = try scope.snapshot.elementList(self.name, self.number)
                    try scope.snapshot.checkIsFree(name)
                    return try list.size(of: .sort([]))
                }
                return try state.change(.adding, bytes: bytes) { (scope) throws(SpaceError) in
                    try Self.copy(scope.snapshot.elementList(self.name, self.number), to: name, in: scope)
                }
            }
        }
        return SharedOrderedSet(name, in: context, number: number, identity: identity)
    }

    /// Makes an ordered set with the elements of another, and returns its number; no object may have the name.
    private static func copy(
        _ original: ElementList,
        to name: String,
        in scope: WriteScope
    ) throws(SpaceError) -> UInt64 {
        try scope.snapshot.checkIsFree(name)
        guard let object = try scope.snapshot.object(original.name) else {
            throw .removed("the ordered set", original.name)
        }
        var elements: [ElementBytes] = []
        elements.reserveCapacity(original.count)
        try original.forEach(0..<original.count) { (row) throws(SpaceError) in
            elements.append(ElementBytes(Array(row.encoded), key: row.key.map { Array($0) }))
        }
        let number = try scope.orderedSets.make(name, details: object.details)
        try scope.orderedSets.fill(name, number, with: elements)
        return number
    }
}

extension Snapshot {
    /// Throws `invalidArgument` if an object has the name.
    fileprivate func checkIsFree(_ name: String) throws(SpaceError) {
        guard try object(name) == nil else {
            throw .misuse(
                "\(name.quotedForPeople) is the name of an object already",
                advice: "give another name, or remove that object first"
            )
        }
    }
}
