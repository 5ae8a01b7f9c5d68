import TupleCoding

extension Namespace {
    /// The changes of the namespace, from now on.
    ///
    /// - Parameters:
    ///   - template: The tuples whose changes are wanted: those that match it.
    ///   - kinds: The kinds of change; `nil` for all that can happen to tuples.
    /// - Returns: The changes, in order; you see every change after this call, or a gap.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func changes(matching template: Template, kinds: Set<Change.Kind>? = nil) throws(SpaceError) -> Changes {
        try changes(ChangeFilter(tuples: template, kinds: kinds))
    }

    /// The changes of the namespace that a filter lets through.
    ///
    /// ```swift
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
    public func changes(_ filter: ChangeFilter = .everything, from start: Changes.Start) throws(SpaceError) -> Changes {
        try changes(filter, from: start, of: nil)
    }

    private func changes(
        _ filter: ChangeFilter,
        from start: Changes.Start,
        of life: NamespaceLife?
    ) throws(SpaceError) -> Changes {
        if start == .subscription("") {
            let advice = "give it a name that its next process knows too"
            throw SpaceError.misuse("a subscription's name is empty", advice: advice).named("watch", name)
        }
        return Changes(source: try ChangeSource(self, filter, from: start, of: life))
    }

    /// The changes of the namespace that a filter lets through, from now on or after a change.
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver.
    ///   - sequence: The last change that is not wanted; `nil` to begin now. Changes that the journal has dropped are
    ///     reported as a gap. To store a place for later, use a ``ResumePoint``, which also names the life of the
    ///     namespace.
    /// - Returns: The changes, in order; you see every change after this call, or a gap.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func changes(_ filter: ChangeFilter = .everything, after sequence: UInt64? = nil) throws(SpaceError)
        -> Changes
    {
        try changes(filter, from: sequence.map { .after($0) } ?? .now)
    }

    /// The changes of a named subscription, from where it last acknowledged.
    ///
    /// The subscription is kept while no process uses it, and so is the journal from its position on: after a watcher
    /// is killed, its next process continues after the last `Changes.acknowledge(through:)`. The journal is kept
    /// within its bound (65,536 changes or 16 MiB, or the namespace's history); a subscription that falls further
    /// behind gets a gap. `endSubscription` ends it.
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver.
    ///   - name: The subscription's name.
    ///   - life: The life of the namespace in which the caller last had the subscription (``Changes/life``); `nil` if
    ///     it is unknown. A subscription ends with its namespace. If the namespace is in another life now, the caller
    ///     first gets a gap. It then begins with this life's first change, or at the position of the subscription
    ///     that has this name in this life.
    /// - Returns: The changes, in order.
    /// - Throws: What ``changes(_:from:)`` does.
    public func changes(
        _ filter: ChangeFilter = .everything,
        subscription name: String,
        of life: NamespaceLife? = nil
    ) throws(SpaceError) -> Changes {
        try changes(filter, from: .subscription(name), of: life)
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
    /// It returns once the notification is committed, before observers run; ``settled()`` waits for those of this
    /// process.
    ///
    /// - Parameters:
    ///   - name: 1 to 480 bytes of UTF-8.
    ///   - content: Any `Codable` value, up to 64 MiB encoded.
    ///   - sender: The object in whose name it is posted. Watchers in this process find the object in `Change.sender`
    ///     as long as it lives (it is not retained); watchers in other processes get only its number.
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
