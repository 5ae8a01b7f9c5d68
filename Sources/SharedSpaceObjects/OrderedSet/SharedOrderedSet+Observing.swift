// Observing an ordered set: by callback, with a token or for an object, and as a sequence.

extension SharedOrderedSet {
    // MARK: Tokens

    /// Calls a handler with each change, made by any process.
    ///
    /// ```swift
    /// self.token = try songs.observe(options: .initial) { [copy] change in
    ///     copy.withLock { elements in change.apply(to: &elements) }
    /// }
    /// ```
    ///
    /// Handlers are called as with ``Namespace/observe(_:options:on:onError:_:)``: one call at a
    /// time, in order; on an actor if the handler belongs to one. An observer that falls behind the journal's bound
    /// gets a reset.
    ///
    /// - Parameters:
    ///   - options: The options of the observation.
    ///   - queue: The queue on which a handler without isolation is called, or `nil` for the thread that hears the
    ///     signal.
    ///   - onError: Called with the handler's errors, and with an error for each change with elements that don't
    ///     decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends. Every change after this call is reported.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (CollectionChange<Element>) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = teller(options)
        return try namespace.token(toldBy: teller, ObserverHandler(teller.tell, handler, on: queue), onError)
    }

    /// Calls an asynchronous handler with each change, in a task; the next call comes when it has returned.
    ///
    /// - Parameters:
    ///   - options: The options of the observation.
    ///   - onError: Called with the handler's errors, and with an error for each change with elements that don't
    ///     decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        options: CollectionObservationOptions = [],
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (CollectionChange<Element>) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = teller(options)
        return try namespace.token(toldBy: teller, ObserverHandler(teller.tell, handler), onError)
    }

    // MARK: Objects

    /// Calls a handler with an object and each change, as long as the object lives.
    ///
    /// - Parameters:
    ///   - object: The object for which the handler is called; it is not kept alive.
    ///   - options: The options of the observation.
    ///   - queue: The queue on which a handler without isolation is called, or `nil` for the thread that hears the
    ///     signal.
    ///   - onError: Called with the handler's errors, and with an error for each change with elements that don't
    ///     decode.
    ///   - handler: Called with the object and each change.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        for object: Object,
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, CollectionChange<Element>) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try namespace.token(for: object, onError, toldBy: { teller(options, in: $0) }) {
            ObserverHandler($0, $1.tell, handler, on: queue)
        }
    }

    /// Calls an asynchronous handler with an object and each change, in a task, as long as the object lives.
    ///
    /// - Parameters:
    ///   - object: The object for which the handler is called; it is kept alive only during a call.
    ///   - options: The options of the observation.
    ///   - onError: Called with the handler's errors, and with an error for each change with elements that don't
    ///     decode.
    ///   - handler: Called with the object and each change; the next call comes when it has returned.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        for object: Object,
        options: CollectionObservationOptions = [],
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, CollectionChange<Element>) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try namespace.token(for: object, onError, toldBy: { teller(options, in: $0) }) {
            ObserverHandler($0, $1.tell, handler)
        }
    }

    // MARK: Sequences

    /// The changes made by any process, at the consumer's pace.
    ///
    /// ```swift
    /// var copy: [String] = []
    /// for try await change in try songs.changes() { change.apply(to: &copy) }
    /// ```
    ///
    /// - Parameter options: The options of the observation; ``CollectionObservationOptions/initial`` by default.
    /// - Returns: The changes, in order; every change after this call is reported.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func changes(options: CollectionObservationOptions = .initial) throws(SpaceError) -> CollectionChanges<
        Element
    > {
        let source = try namespace.changes(.collection(name))
        let teller = teller(options)
        try teller.begin()
        return CollectionChanges(source, toldBy: teller)
    }

    // MARK: Helpers

    /// Makes the feed; it reads in the namespace, even if this handle belongs to a transaction.
    private func teller(_ options: CollectionObservationOptions, in kept: Namespace? = nil) -> CollectionFeed<
        OrderedSetSource<Element>
    > {
        let set = moved(to: .namespace(kept ?? namespace))
        return CollectionFeed(OrderedSetSource(elements: set, options: options), options)
    }
}
