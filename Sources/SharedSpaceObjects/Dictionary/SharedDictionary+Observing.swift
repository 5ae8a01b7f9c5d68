// Observing a dictionary, or one of its keys: by callback, with a token or for an object, and as a sequence.

extension SharedDictionary {
    // MARK: Tokens

    /// Calls a handler with each change, made by any process with any call or command.
    ///
    /// ```swift
    /// self.token = try settings.observe("retries") { change in show(change.event) }
    /// ```
    ///
    /// Handlers are called as with ``Namespace/observe(_:options:on:onError:_:)``: one call at a
    /// time, in order; on an actor if the handler belongs to one. An observer that falls behind the journal's bound
    /// gets a reset.
    ///
    /// - Parameters:
    ///   - key: The key whose changes are reported, or `nil` for all keys.
    ///   - options: With ``CollectionObservationOptions/initial``, the state at the registration comes first.
    ///     Dictionaries have no moves.
    ///   - queue: The queue on which a handler without isolation is called, or `nil` for the thread that hears the
    ///     signal.
    ///   - onError: Called with the handler's errors, and with an error for each value that doesn't decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends. Every change after this call is reported.
    /// - Throws: `closed`, `tooLarge` for a key that no entry can have, `namespaceDeleted`, `storageFull`,
    ///   `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        _ key: String? = nil,
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (DictionaryChange<Value>) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = try teller(key, options)
        return try namespace.token(toldBy: teller, ObserverHandler(teller.tell, handler, on: queue), onError)
    }

    /// Calls an asynchronous handler with each change, in a task; the next call comes when it has returned.
    ///
    /// - Parameters:
    ///   - key: The key whose changes are reported, or `nil` for all keys.
    ///   - options: The options of the observation.
    ///   - onError: Called with the handler's errors, and with an error for each value that doesn't decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it is released, the observation ends.
    /// - Throws: The same errors as the synchronous form.
    public func observe(
        _ key: String? = nil,
        options: CollectionObservationOptions = [],
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (DictionaryChange<Value>) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = try teller(key, options)
        return try namespace.token(toldBy: teller, ObserverHandler(teller.tell, handler), onError)
    }

    // MARK: Objects

    /// Calls a handler with an object and each change, as long as the object lives.
    ///
    /// - Parameters:
    ///   - key: The key whose changes are reported, or `nil` for all keys.
    ///   - object: The object for which the handler is called; it is not kept alive.
    ///   - options: The options of the observation.
    ///   - queue: The queue on which a handler without isolation is called, or `nil` for the thread that hears the
    ///     signal.
    ///   - onError: Called with the handler's errors, and with an error for each value that doesn't decode.
    ///   - handler: Called with the object and each change.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: The same errors as the form with a token.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        _ key: String? = nil,
        for object: Object,
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, DictionaryChange<Value>) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try namespace.token(
            for: object,
            onError,
            toldBy: { kept throws(SpaceError) in try teller(key, options, in: kept) }
        ) {
            ObserverHandler($0, $1.tell, handler, on: queue)
        }
    }

    /// Calls an asynchronous handler with an object and each change, in a task, as long as the object lives.
    ///
    /// - Parameters:
    ///   - key: The key whose changes are reported, or `nil` for all keys.
    ///   - object: The object for which the handler is called; it is kept alive only during a call.
    ///   - options: The options of the observation.
    ///   - onError: Called with the handler's errors, and with an error for each value that doesn't decode.
    ///   - handler: Called with the object and each change; the next call comes when it has returned.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: The same errors as the form with a token.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        _ key: String? = nil,
        for object: Object,
        options: CollectionObservationOptions = [],
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, DictionaryChange<Value>) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try namespace.token(
            for: object,
            onError,
            toldBy: { kept throws(SpaceError) in try teller(key, options, in: kept) }
        ) {
            ObserverHandler($0, $1.tell, handler)
        }
    }

    // MARK: Sequences

    /// The changes made by any process, at the consumer's pace.
    ///
    /// ```swift
    /// var copy: [String: Int] = [:]
    /// for try await change in try settings.changes() { change.apply(to: &copy) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The key whose changes are reported, or `nil` for all keys.
    ///   - options: The options of the observation; ``CollectionObservationOptions/initial`` by default.
    /// - Returns: The changes, in order; every change after this call is reported.
    /// - Throws: The same errors as ``observe(_:options:on:onError:_:)``.
    public func changes(
        of key: String? = nil,
        options: CollectionObservationOptions = .initial
    ) throws(SpaceError) -> DictionaryChanges<Value> {
        let teller = try teller(key, options)
        let source = try namespace.changes(.collection(name))
        try teller.begin()
        return DictionaryChanges(source, toldBy: teller)
    }

    // MARK: Helpers

    /// Makes the feed; it reads in the namespace, even if this handle belongs to a transaction.
    private func teller(
        _ key: String?,
        _ options: CollectionObservationOptions,
        in kept: Namespace? = nil
    ) throws(SpaceError) -> CollectionFeed<DictionarySource<Value>> {
        if let key { _ = try context.naming("observe") { () throws(SpaceError) in try cellKey(key) } }
        let dictionary = moved(to: .namespace(kept ?? namespace))
        return CollectionFeed(DictionarySource(dictionary, key: key), options)
    }
}
