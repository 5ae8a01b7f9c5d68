import TupleCoding

extension SharedOrderedSet {
    /// Copies the ordered set under another name, in one step.
    ///
    /// The copy has the elements of one moment, in their order, and is edited independently. In a transaction, it is
    /// made together with everything else that the body does.
    ///
    /// - Parameter name: 1 to ``Limits/objectNameBytes`` bytes of UTF-8; no object may have this name.
    /// - Returns: The copy, of the same type and with the same identity of elements.
    /// - Throws: `invalidArgument` for a name that is not allowed or that an object has; `closed`, `storageFull`,
    ///   `limitReached`, `transactionTooLarge`, `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(n); all other writers wait meanwhile.
    public func copy(as name: String) throws(SpaceError) -> SharedOrderedSet {
        let number = try place.attempt("copy an ordered set") { () throws(SpaceError) in
            try Limits.check(objectName: name)
            switch place {
            case .namespace(let namespace):
                return try namespace.usableCore().write(.adding) { (scope) throws(SpaceError) in
                    try scope.copyOrderedSet(scope.snapshot.elementList(self.name, self.number), to: name)
                }
            case .transaction(let state):
                try state.checkRunsHere(title)
                let bytes = try state.look { (scope) throws(SpaceError) in
                    let list = try scope.snapshot.elementList(self.name, self.number)
                    try scope.checkIsFree(name)
                    return try list.size(of: .sort([]))
                }
                return try state.change(.adding, bytes: bytes) { (scope) throws(SpaceError) in
                    try scope.copyOrderedSet(scope.snapshot.elementList(self.name, self.number), to: name)
                }
            }
        }
        return SharedOrderedSet(place: place, name: name, number: number, identity: identity)
    }
}

extension WriteScope {
    /// Throws `invalidArgument` if an object has the name.
    fileprivate func checkIsFree(_ name: String) throws(SpaceError) {
        guard try snapshot.object(name) == nil else {
            throw .misuse(
                "\(name.quotedForPeople) is the name of an object already",
                advice: "give another name, or remove that object first"
            )
        }
    }

    /// Makes an ordered set with the elements of another, and returns its number; no object may have the name.
    fileprivate func copyOrderedSet(_ original: ElementList, to name: String) throws(SpaceError) -> UInt64 {
        try checkIsFree(name)
        guard let object = try snapshot.object(original.name) else { throw .removed("the ordered set", original.name) }
        var elements: [ElementBytes] = []
        elements.reserveCapacity(original.count)
        try original.forEach(0..<original.count) { (row) throws(SpaceError) in
            elements.append(ElementBytes(Array(row.encoded), key: row.key.map { Array($0) }))
        }
        let number = try makeOrderedSet(name, details: object.details)
        try fill(name, number, with: elements)
        return number
    }
}
