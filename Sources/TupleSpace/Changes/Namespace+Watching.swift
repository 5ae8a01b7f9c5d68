extension Namespace {
    /// The changes of the namespace that a filter lets through.
    ///
    /// ```swift
    /// for try await change in try jobs.changes(.tuples(["resize", .any])) { … }         // from now on
    /// for try await change in try jobs.changes(from: .initial) { copy.apply(change) }
    /// ```
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver.
    ///   - start: The place to begin.
    /// - Returns: The changes, in order; you see every change after this call, or a gap.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`; `invalidArgument`
    ///   for a subscription without a name, or one that is in use.
    /// - Complexity: O(log n); `initial` reads all tuples and cells as the consumer asks for them.
    public func changes(
        _ filter: ChangeFilter = .everything,
        from start: Changes.Start = .now
    ) throws(SpaceError) -> Changes {
        if case .subscription("", _) = start {
            let advice = "give it a name that its next process knows too"
            throw SpaceError.misuse("a subscription's name is empty", advice: advice).named("watch", name)
        }
        return Changes(source: try ChangeSource(self, filter, from: start))
    }

    /// Ends a subscription that no process has in use.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func endSubscription(_ name: String) throws(SpaceError) -> Bool {
        try attempt("end a subscription") { (core) throws(SpaceError) in
            try core.write(.removing) { (scope) throws(SpaceError) in
                guard let (number, _) = try scope.snapshot.watcher(of: name) else { return false }
                try scope.watchers.remove(number)
                return true
            }
        }
    }

    /// Posts a notification to all present watchers, in every process; only the journal keeps it.
    ///
    /// ```swift
    /// try jobs.post("done", job, from: self)
    /// ```
    ///
    /// It returns once the notification is committed, before observers run; ``settled()`` waits for the observers of
    /// this process.
    ///
    /// - Parameters:
    ///   - name: 1 to 480 bytes of UTF-8.
    ///   - content: Any `Codable` value, up to 64 MiB encoded.
    ///   - sender: The object that counts as the sender. Watchers in this process find the object in `Change.sender` as
    ///     long as it lives (it is not retained); watchers in other processes get only its number.
    /// - Throws: `tooLarge`; `badData` if the content doesn't encode, or is nested deeper than 64
    ///   levels; and what ``write(tuple:expires:lifetime:)`` throws.
    public func post(
        _ name: String,
        _ content: some Encodable = Value.null,
        from sender: (any AnyObject & Sendable)? = nil
    ) throws(SpaceError) {
        try attempt(Post.name) { (core) throws(SpaceError) in try core.execute(Post(name, content, sender)) }
    }
}

extension Post {
    /// A notification of a caller, checked; an object that is its sender gets a number.
    init(_ name: String, _ content: some Encodable, _ sender: (any AnyObject & Sendable)?) throws(SpaceError) {
        try Limits.check(cellKey: name, "a name")
        let element = try Value(checking: content).checkedElement()
        let number = sender.map { Value.int(SenderNumbers.shared.number(of: $0)).knownElement }
        self.init(subject: name, value: element, sender: number)
    }
}
