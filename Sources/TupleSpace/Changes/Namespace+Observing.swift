// Observing by callback: the observation lasts as long as its token.

extension Namespace {
    // MARK: Tokens

    /// Calls a handler with each change of a cell, or with each change that a filter lets through.
    ///
    /// ```swift
    /// self.token = try jobs.observe("progress", options: [.initial, .new]) { change in
    ///     print(change.new ?? "not set")
    /// }
    /// ```
    ///
    /// A handler without isolation is called on the thread that receives the change: keep it short, or give it a
    /// queue. A handler that belongs to an actor (`{ @MainActor change in … }`) is called there. Calls come one after
    /// the other, in order, and after the call that made the change has returned; ``settled()`` waits for them. An
    /// error that the handler throws goes to `onError`, and the observation continues.
    ///
    /// - Parameters:
    ///   - filter: A cell's key, or with a path (`"user.name"`) a part of its value: then only changes of that part
    ///     are delivered, and the values are that part. Or a filter: `.tuples(["resize", .any])`, `.cells`,
    ///     `.notification("done")`.
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
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try observe(filter, options, ObserverHandler({ $0 }, handler, on: queue), onError)
    }

    /// Calls an asynchronous handler with each change, in a task; the next call comes after it has returned.
    ///
    /// - Parameters:
    ///   - filter: As in the synchronous form.
    ///   - options: The content of each call.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ filter: ChangeFilter,
        options: ObservationOptions = [.old, .new],
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Change) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try observe(filter, options, ObserverHandler({ $0 }, handler), onError)
    }

    // MARK: The end

    /// Ends all observations that were made with this handle.
    public func stopObserving() { core.observations.end(handle: ObjectIdentifier(self), of: core) }

    // MARK: Helpers

    func observe(
        _ filter: ChangeFilter,
        _ options: ObservationOptions,
        _ handler: ObserverHandler,
        _ onError: (@Sendable (any Error) -> Void)?
    ) throws(SpaceError) -> ObservationToken {
        ObservationToken(
            try add(ObservationRequest(filter: filter, options: options, handler: handler, onError: onError)),
            core
        )
    }

    package func add(
        _ request: ObservationRequest,
        keeping kept: Namespace? = nil
    ) throws(SpaceError) -> Observer {
        try attempt("observe") { (core) throws(SpaceError) in
            try core.observations.add(request, handle: self, keeping: kept)
        }
    }
}
