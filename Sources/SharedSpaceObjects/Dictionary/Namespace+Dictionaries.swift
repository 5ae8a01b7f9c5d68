extension Namespace {
    /// The dictionary with a name; it is made if there is none.
    ///
    /// All processes must use the same type of values: the first one's type is kept, and any other is refused, as with
    /// ``orderedSet(_:of:schema:initial:)``. Existing cells with keys that begin with the name and a slash become its entries.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes of UTF-8, without a slash.
    ///   - type: The type of the values.
    ///   - schema: The type's name for all processes, or `nil` for its name in Swift.
    /// - Returns: A handle, which keeps the namespace open.
    /// - Throws: `typeMismatch` if the dictionary has values of another type, or the name belongs to another kind of
    ///   object; `invalidArgument` for a name that is not allowed; `storageFull`, `limitReached`, `holderStopped`,
    ///   `holderBusy`, `namespaceDeleted`.
    public func dictionary<Value: Codable & Sendable>(
        _ name: String,
        of type: Value.Type = Value.self,
        schema: String? = nil
    ) throws(SpaceError) -> SharedDictionary<Value> {
        guard !name.utf8.contains(DictionaryKeys.separator) else {
            let reason = "the name \(name.quotedForPeople) has a slash, which parts it from the keys"
            throw SpaceError.misuse(reason, advice: "give a name without one; keys may have some")
                .named("open a dictionary", self.name)
        }
        let number = try collection(.dictionary, name, CollectionDetails(elementType: schema ?? "\(Value.self)")) {
            (scope, details) throws(SpaceError) in
            try scope.places.makeObject(name, .dictionary, details: details)
        }
        return SharedDictionary(object: ObjectReference(.dictionary, name, in: self), number: number)
    }
}

extension Transaction {
    /// A dictionary as part of the transaction: its changes become visible together with everything else that the body
    /// does.
    ///
    /// ```swift
    /// try app.transaction { t in
    ///     guard let task = try t.orderedSet(tasks).removeFirst() else { return }
    ///     try t.dictionary(states).updateValue("running", forKey: task)
    /// }
    /// ```
    ///
    /// - Parameter dictionary: A dictionary of the same namespace.
    /// - Returns: The same dictionary, for use in the body.
    /// - Throws: `invalidArgument` for a dictionary of another namespace.
    public func dictionary<Value>(_ dictionary: SharedDictionary<Value>) throws(SpaceError) -> SharedDictionary<Value> {
        try state.checkIsHere(dictionary.title, of: dictionary.namespace)
        return dictionary.moved(to: .transaction(state))
    }
}
