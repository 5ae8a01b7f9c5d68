import SpaceSystem
import TupleCoding

// Observing a dictionary, or one of its keys: by callback, with a token or for an object, and as a sequence.

extension SharedDictionary {
    // MARK: Tokens

    /// Calls a handler with each change, whichever process makes it, and with whatever call or command.
    ///
    /// ```swift
    /// self.token = try settings.observe("retries") { change in show(change.event) }
    /// ```
    ///
    /// Where and when handlers are called is as with ``Namespace/observe(_:options:on:onError:_:)-(ChangeFilter,_,_,_,_)``: one call
    /// at a time, in order; on an actor if the handler belongs to one. An observer that falls behind the journal's bound gets a
    /// reset.
    ///
    /// - Parameters:
    ///   - key: Whose changes; `nil`: all.
    ///   - options: With ``CollectionObservationOptions/initial``, at first what is there; there are no moves here.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws, and of values that don't decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it goes, the observation ends. Nothing after this call is missed.
    /// - Throws: `closed`, `tooLarge` for a key that no entry can have, `namespaceDeleted`, `storageFull`, `limitReached`,
    ///   `holderStopped`, `holderBusy`.
    public func observe(
        _ key: String? = nil,
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (DictionaryChange<Value>) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = try teller(key, options)
        return ObservationToken(try add(teller, nil, ObserverHandler(teller.tell, handler, on: queue), onError), core)
    }

    /// Calls an asynchronous handler with each change, in a task; the next call comes when it has returned.
    ///
    /// - Parameters:
    ///   - key: Whose changes; `nil`: all.
    ///   - options: What is told.
    ///   - onError: Is told of what the handler throws, and of values that don't decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it goes, the observation ends.
    /// - Throws: As the synchronous form.
    public func observe(
        _ key: String? = nil,
        options: CollectionObservationOptions = [],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (DictionaryChange<Value>) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = try teller(key, options)
        return ObservationToken(try add(teller, nil, ObserverHandler(teller.tell, handler), onError), core)
    }

    // MARK: Objects

    /// Calls a handler with an object and each change, as long as the object lives.
    ///
    /// - Parameters:
    ///   - key: Whose changes; `nil`: all.
    ///   - object: For whom; it is not kept alive.
    ///   - options: What is told.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws, and of values that don't decode.
    ///   - handler: Called with the object and each change.
    /// - Throws: As the form with a token.
    public func observe<Object: AnyObject & Sendable>(
        _ key: String? = nil,
        for object: Object,
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, DictionaryChange<Value>) throws -> Void
    ) throws(SpaceError) {
        let object = WeakObject(object)
        let teller = try teller(key, options)
        let handler = ObserverHandler(object, teller.tell, handler, on: queue)
        _ = try add(teller, Observer.Subject(object), handler, onError)
    }

    // MARK: Sequences

    /// The changes, whichever process makes them, at the consumer's pace.
    ///
    /// ```swift
    /// var copy: [String: Int] = [:]
    /// for try await change in try settings.changes() { change.apply(to: &copy) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: Whose changes; `nil`: all.
    ///   - options: What is told; ``CollectionObservationOptions/initial`` unless said otherwise.
    /// - Returns: The changes, in order; nothing after this call is missed.
    /// - Throws: As ``observe(_:options:on:onError:_:)``.
    public func changes(
        of key: String? = nil,
        options: CollectionObservationOptions = .initial
    ) throws(SpaceError) -> DictionaryChanges<Value> {
        let teller = try teller(key, options)
        let source = try namespace.changes(.collection(name))
        try teller.begin()
        return DictionaryChanges(source: source, teller: teller)
    }

    // MARK: Helpers

    private var core: NamespaceCore { namespace.core }

    /// It reads in the namespace, also where this handle belongs to a transaction.
    private func teller(
        _ key: String?,
        _ options: CollectionObservationOptions
    ) throws(SpaceError) -> CollectionFeed<DictionarySource<Value>> {
        if let key { _ = try cellKey(key, "observe") }
        let dictionary = SharedDictionary(place: .namespace(namespace), name: name, number: number)
        return CollectionFeed(DictionarySource(dictionary, key: key), options)
    }

    private func add(
        _ teller: CollectionFeed<DictionarySource<Value>>,
        _ subject: Observer.Subject?,
        _ handler: ObserverHandler,
        _ onError: ObservationErrorHandler?
    ) throws(SpaceError) -> Observer {
        try namespace.add(toldBy: teller, subject, handler, onError)
    }
}
