import SpaceSystem

extension Namespace {
    /// Runs `body` as one step: others see all of its changes at once or, if it throws, none of them.
    ///
    /// ```swift
    /// try accounts.transaction { t in
    ///     guard let (_, balance) = try t.takeIfExists("balance", any(Int.self)) else { return }
    ///     try t.write("balance", balance - 1)
    /// }
    /// ```
    ///
    /// The body sees its own changes. A tuple that it writes and takes again leaves no trace; watchers get all other
    /// changes as one batch. All other writers wait for the body, so it must be short: no input or output, no waiting,
    /// no calls that take long. Within the body, the namespace's own operations throw `invalidArgument`, and so does
    /// waiting in any namespace. The body may write to other namespaces, but those writes are not part of the
    /// transaction.
    ///
    /// - Parameter body: The work; it runs once, on this thread, with up to 65,536 changes and 128 MiB.
    /// - Returns: The result of `body`, after the commit.
    /// - Throws: What `body` throws, after everything is undone; `transactionTooLarge`, `storageFull`, `limitReached`,
    ///   `holderStopped`, `holderBusy`, `namespaceDeleted`; in a namespace of several machines `outrun`: another
    ///   machine wrote first, and the caller can try again.
    public func transaction<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        let core = try attempt(TransactionState.operation) { (core) throws(SpaceError) in core }
        return try core.transaction(in: self, TransactionState.operation, body)
    }

    /// A transaction whose body may run several times: it runs again if another machine has written first.
    ///
    /// - Throws: What ``transaction(_:)`` throws; `outrun` if other machines were first until the handle's time-out.
    package func repeatableTransaction<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        let deadline = MonotonicInstant.now.advanced(by: core.timeout)
        while true {
            do {
                return try transaction(body)
            } catch let error as SpaceError where error.code == .outrun && !deadline.hasPassed {
                continue
            }
        }
    }

    /// Takes the first tuple that matches and writes what `transform` makes of it, in one transaction.
    ///
    /// ```swift
    /// try jobs.move(matching: Selection("job", any(Int.self), "queued")) { kind, id, _ in [kind, id, "running"] }
    /// ```
    ///
    /// - Parameters:
    ///   - selection: What to look for.
    ///   - order: Which tuple comes first, if several match.
    ///   - transform: Makes the new tuple. It runs within the transaction, so it must be short; in a namespace of several
    ///     machines it runs again if another machine has written first.
    /// - Returns: What the selection makes of the tuple that was taken; `nil` if none matched, and then nothing is written.
    /// - Throws: What `transform` throws, after which nothing has changed, and what ``transaction(_:)`` throws.
    @discardableResult
    public func move<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        to transform: (Content) throws -> Tuple
    ) throws -> Content? {
        try repeatableTransaction { transaction in
            guard let taken = try transaction.takeIfExists(matching: selection, order: order) else { return nil }
            try transaction.write(tuple: try transform(taken))
            return taken
        }
    }
}
