extension Transaction {
    /// An ordered set as part of the transaction: its edits become visible together with everything else that the body
    /// does.
    ///
    /// ```swift
    /// try party.transaction { t in
    ///     guard let song = try t.orderedSet(requests).removeFirst() else { return }
    ///     try t.orderedSet(playlist).append(song)
    /// }
    /// ```
    ///
    /// Observers get each edit, one after the other, all with the same ``CollectionChange/batch``.
    ///
    /// - Parameter set: An ordered set of the same namespace.
    /// - Returns: The same set, for use in the body.
    /// - Throws: `invalidArgument` for a set of another namespace.
    public func orderedSet<Element>(_ set: SharedOrderedSet<Element>) throws(SpaceError) -> SharedOrderedSet<Element> {
        try state.checkIsHere(set.title, of: set.namespace)
        return set.moved(to: .transaction(state))
    }
}
