import TupleCoding

extension Namespace {
    /// The changes of the namespace, from now on.
    ///
    /// - Parameters:
    ///   - template: Which tuples: what happens to those that match.
    ///   - kinds: Which kinds; `nil`: all that can happen to tuples.
    /// - Returns: The changes, in order; nothing after this call is missed.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func changes(matching template: Template, kinds: Set<Change.Kind>? = nil) throws(SpaceError) -> Changes {
        try changes(ChangeFilter(tuples: template, kinds: kinds))
    }

    /// The changes of the namespace that a filter lets through.
    ///
    /// - Parameters:
    ///   - filter: Which changes.
    ///   - sequence: The last change that is not wanted; `nil`: from now on. What the journal has no longer is told as a gap.
    /// - Returns: The changes, in order; nothing after this call is missed.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func changes(_ filter: ChangeFilter = .everything, after sequence: UInt64? = nil) throws(SpaceError)
        -> Changes
    {
        Changes(source: try ChangeSource(self, filter, sequence.map { .after($0) } ?? .now, ""))
    }

    /// The changes of a named subscription, from where it last acknowledged.
    ///
    /// The subscription, and the journal from its position on, is kept while no process has it: a watcher that is killed goes on
    /// where it was, with `Changes.acknowledge(through:)` as the mark. Kept within the journal's bound (65,536
    /// changes or 16 MiB); beyond it the watcher gets a gap. `endSubscription` ends it.
    public func changes(_ filter: ChangeFilter = .everything, subscription name: String) throws(SpaceError) -> Changes {
        guard !name.isEmpty else {
            throw SpaceError(
                .invalidArgument,
                "watch",
                namespace: self.name,
                reason: "a subscription's name is empty",
                advice: "give it a name that its next process knows too"
            )
        }
        return Changes(source: try ChangeSource(self, filter, .now, name))
    }

    /// Ends a subscription that no process has in use.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    public func endSubscription(_ name: String) throws(SpaceError) -> Bool {
        let core = try usableCore("end a subscription")
        return try core.write("end a subscription", .removing(1, bytes: 1024)) { (scope) throws(SpaceError) in
            guard let (number, _) = try scope.snapshot.watchers().first(where: { $0.row.subscription == name }) else {
                return false
            }
            try scope.remove(watcher: number)
            return true
        }
    }

    /// Posts a notification: it reaches whoever watches at this moment, in every process, and is not stored.
    ///
    /// - Parameters:
    ///   - name: 1 to 480 bytes of UTF-8.
    ///   - value: Up to 64 MiB encoded.
    /// - Throws: `tooLarge`, and what ``write(tuple:expires:)`` throws.
    public func post(_ name: String, value: Value = .null) throws(SpaceError) {
        let operation = "post a notification"
        let (encoded, demand) = try posting(name, value, operation)
        try usableCore(operation).write(operation, demand) { (scope) throws(SpaceError) in
            try encoded.withBytes { (bytes) throws(SpaceError) in try scope.note(.post, name: name, new: bytes) }
        }
    }

    /// A notification's encoding, and what posting it demands.
    func posting(_ name: String, _ value: Value, _ operation: String) throws(SpaceError) -> ([UInt8], Room.Demand) {
        guard (1...Limits.cellKeyBytes).contains(name.utf8.count) else {
            throw SpaceError(
                .tooLarge,
                operation,
                namespace: self.name,
                reason: "a name of \(name.utf8.count) bytes is out of range",
                advice: "a name is 1 to \(Limits.cellKeyBytes) bytes of UTF-8"
            )
        }
        let encoded = value.encodedElement
        guard encoded.count <= Limits.valueBytes else { throw tooLarge(operation, encoded.count) }
        return (encoded, .adding(1, bytes: encoded.count + name.utf8.count))
    }
}
