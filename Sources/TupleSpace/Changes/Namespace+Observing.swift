import TupleCoding

// Observing by callback: a token holds the observation, or the object that it is for does.

extension Namespace {
    // MARK: Tokens

    /// Calls a handler with each change of a cell.
    ///
    /// ```swift
    /// self.token = try jobs.observe("progress", options: [.initial, .new]) { change in
    ///     print(change.new ?? "not set")
    /// }
    /// ```
    ///
    /// A handler without isolation is called on the thread that hears of the change: keep it short, or give it a queue. One that
    /// belongs to an actor (`{ @MainActor change in … }`) is called there. Calls come one after the other, in order. An error that
    /// the handler throws is told to `onError`, and the observation goes on.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value: then only changes of that part are told, and the
    ///     values are that part.
    ///   - options: What each call brings.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws.
    ///   - handler: Called with each change, then with a gap where changes were missed, and at last with `gone` when the namespace
    ///     was deleted.
    /// - Returns: A token; when it goes, the observation ends. Nothing after this call is missed.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ key: String,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try observe(.cell(key), options: options, on: queue, onError: onError, handler)
    }

    /// Calls an asynchronous handler with each change of a cell, in a task; the next call comes when it has returned.
    ///
    /// - Parameters:
    ///   - key: As in the synchronous form.
    ///   - options: What each call brings.
    ///   - onError: Is told of what the handler throws.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it goes, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ key: String,
        options: ObservationOptions = [.old, .new],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try observe(.cell(key), options: options, onError: onError, handler)
    }

    /// Calls a handler with each change that a filter lets through: of tuples, cells, notifications.
    ///
    /// - Parameters:
    ///   - filter: Which changes; `.tuples(["resize", .any])`, `.cells`, `.notification("done")`.
    ///   - options: What each call brings.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws.
    ///   - handler: Called with each change, then with a gap where changes were missed, and at last with `gone` when the namespace
    ///     was deleted.
    /// - Returns: A token; when it goes, the observation ends. Nothing after this call is missed.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ filter: ChangeFilter,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try token(
            ObservationRequest(
                filter: filter,
                options: options,
                handler: ObserverHandler(handler, on: queue),
                onError: onError
            )
        )
    }

    /// Calls an asynchronous handler with each change that a filter lets through, in a task; the next call comes when it has
    /// returned.
    ///
    /// - Parameters:
    ///   - filter: Which changes.
    ///   - options: What each call brings.
    ///   - onError: Is told of what the handler throws.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it goes, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ filter: ChangeFilter,
        options: ObservationOptions = [.old, .new],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try token(
            ObservationRequest(
                filter: filter,
                options: options,
                handler: ObserverHandler(handler),
                onError: onError
            )
        )
    }

    private func token(_ request: ObservationRequest) throws(SpaceError) -> ObservationToken {
        ObservationToken(try add(request), core)
    }

    package func add(_ request: ObservationRequest) throws(SpaceError) -> Observer {
        try usableCore("observe").observations.add(request, handle: self)
    }

    // MARK: The end

    /// Ends all observations that were made with this handle.
    public func stopObserving() {
        let handle = ObjectIdentifier(self)
        core.observations.end(core) { $0.handle == handle }
    }
}
