import TupleCoding

extension Namespace {
    /// The dictionary of a name, which is made if there is none.
    ///
    /// All processes have to mean the same type of values: the first one's is kept, and another is refused, as with
    /// ``orderedSet(_:of:schema:)``. Cells that are there under the name and a slash are its entries.
    ///
    /// - Parameters:
    ///   - name: 1 to ``Limits/objectNameBytes`` bytes of UTF-8, without a slash.
    ///   - type: The type of the values.
    ///   - schema: The type's name for all processes; `nil`: its name in Swift.
    /// - Returns: A handle, which keeps the namespace.
    /// - Throws: `typeMismatch` when the dictionary has values of another type, or the name is that of another kind of object;
    ///   `invalidArgument` for a name that is none; `storageFull`, `limitReached`, `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`.
    public func dictionary<Value: Codable & Sendable>(
        _ name: String,
        of type: Value.Type = Value.self,
        schema: String? = nil
    ) throws(SpaceError) -> SharedDictionary<Value> {
        guard !name.utf8.contains(DictionaryKeys.separator) else {
            throw SpaceError(
                .invalidArgument,
                "open a dictionary",
                namespace: self.name,
                reason: "the name \(name.quotedForPeople) has a slash, which parts it from the keys",
                advice: "give a name without one; keys may have some"
            )
        }
        let number = try collection(.dictionary, name, elementType: schema ?? "\(Value.self)") {
            (scope, details) throws(SpaceError) in
            try scope.makeObject(name, .dictionary, details: details)
        }
        return SharedDictionary(place: .namespace(self), name: name, number: number)
    }

    /// Removes a dictionary, with all entries.
    ///
    /// Its handles, in all processes, throw `closed` from then on; observers are told that it is gone.
    ///
    /// - Returns: Whether there was one.
    /// - Throws: `typeMismatch` when the name is that of another kind of object; `storageFull`, `limitReached`, `holderStopped`,
    ///   `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(n log n), and all others who write wait meanwhile.
    @discardableResult
    public func removeDictionary(_ name: String) throws(SpaceError) -> Bool {
        let operation = "remove a dictionary"
        try checkObjectName(name, operation)
        let core = try usableCore(operation)
        return try core.write(operation, DiskReserve.Demand.none) { (scope) throws(SpaceError) in
            guard try scope.snapshot.object(name, .dictionary) != nil else { return false }
            scope.demand = scope.demand + .removing(1, bytes: 1024)
            try core.removeEntries(ofDictionary: name, in: scope)
            try scope.removeObject(name)
            try scope.note(.discard, name: name)
            return true
        }
    }
}

extension Transaction {
    /// A dictionary as a part of the transaction: its changes are seen by others with all else that the body does.
    ///
    /// ```swift
    /// try app.transaction { t in
    ///     guard let task = try t.orderedSet(tasks).removeFirst() else { return }
    ///     try t.dictionary(states).updateValue("running", forKey: task)
    /// }
    /// ```
    ///
    /// - Parameter dictionary: A dictionary of the same namespace.
    /// - Returns: The same, for use in the body.
    /// - Throws: `invalidArgument` for one of another namespace.
    public func dictionary<Value>(_ dictionary: SharedDictionary<Value>) throws(SpaceError) -> SharedDictionary<Value> {
        try state.checkIsHere(dictionary.title, of: dictionary.namespace)
        return SharedDictionary(place: .transaction(state), name: dictionary.name, number: dictionary.number)
    }
}
