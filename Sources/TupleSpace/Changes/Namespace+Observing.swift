import TupleCoding

// Observing by callback: the observation lives as long as its token, or the object that it belongs to.

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
    /// A handler without isolation is called on the thread that receives the change: keep it short, or give it a
    /// queue. A handler that belongs to an actor (`{ @MainActor change in … }`) is called there. Calls come one after
    /// the other, in order. An error that the handler throws goes to `onError`, and the observation continues.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value: then only changes of that part are
    ///     delivered, and the values are that part.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with each change, with a gap if changes were missed, and finally with `gone` when the
    ///     namespace has been deleted.
    /// - Returns: A token; when it is released, the observation ends. You see every change after this call, or a gap.
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

    /// Calls an asynchronous handler with each change of a cell, in a task; the next call comes after it has
    /// returned.
    ///
    /// - Parameters:
    ///   - key: As in the synchronous form.
    ///   - options: The content of each call.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ key: String,
        options: ObservationOptions = [.old, .new],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try observe(.cell(key), options: options, onError: onError, handler)
    }

    /// Calls a handler with each change that a filter lets through, of tuples, cells or notifications.
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver; `.tuples(["resize", .any])`, `.cells`, `.notification("done")`.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with each change, with a gap if changes were missed, and finally with `gone` when the
    ///     namespace has been deleted.
    /// - Returns: A token; when it is released, the observation ends. You see every change after this call, or a gap.
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

    /// Calls an asynchronous handler with each change that a filter lets through, in a task.
    ///
    /// The next call comes after the handler has returned.
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver.
    ///   - options: The content of each call.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends.
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
        try attempt("observe") { (core) throws(SpaceError) in try core.observations.add(request, handle: self) }
    }

    // MARK: The end

    /// Ends all observations that were made with this handle.
    public func stopObserving() {
        let handle = ObjectIdentifier(self)
        core.observations.end(core) { $0.handle == handle }
    }
}
