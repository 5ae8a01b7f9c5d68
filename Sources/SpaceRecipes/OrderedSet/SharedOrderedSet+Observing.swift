import SpaceSystem
import TupleCoding

// Observing an ordered set: by callback, with a token or for an object, and as a sequence.

extension ChangeFilter {
    /// What happens to the ordered set, or to the dictionary, of a name.
    public static func collection(_ name: String) -> ChangeFilter { ChangeFilter(collections: .named(name)) }
}

extension SharedOrderedSet {
    // MARK: Tokens

    /// Calls a handler with each change, whichever process makes it.
    ///
    /// ```swift
    /// self.token = try songs.observe(options: .initial) { change in change.apply(to: &self.copy) }
    /// ```
    ///
    /// Where and when handlers are called is as with ``Namespace/observe(_:options:on:onError:_:)-(ChangeFilter,_,_,_,_)``: one call
    /// at a time, in order; on an actor if the handler belongs to one. An observer that falls behind the journal's bound gets a
    /// reset.
    ///
    /// - Parameters:
    ///   - options: What is told.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws, and of elements that don't decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it goes, the observation ends. Nothing after this call is missed.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (CollectionChange<Element>) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = teller(options)
        return ObservationToken(try add(teller, nil, ObserverHandler(teller.tell, handler, on: queue), onError), core)
    }

    /// Calls an asynchronous handler with each change, in a task; the next call comes when it has returned.
    ///
    /// - Parameters:
    ///   - options: What is told.
    ///   - onError: Is told of what the handler throws, and of elements that don't decode.
    ///   - handler: Called with each change.
    /// - Returns: A token; when it goes, the observation ends.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe(
        options: CollectionObservationOptions = [],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (CollectionChange<Element>) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let teller = teller(options)
        return ObservationToken(try add(teller, nil, ObserverHandler(teller.tell, handler), onError), core)
    }

    // MARK: Objects

    /// Calls a handler with an object and each change, as long as the object lives.
    ///
    /// - Parameters:
    ///   - object: For whom; it is not kept alive.
    ///   - options: What is told.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws, and of elements that don't decode.
    ///   - handler: Called with the object and each change.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe<Object: AnyObject & Sendable>(
        for object: Object,
        options: CollectionObservationOptions = [],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, CollectionChange<Element>) throws -> Void
    ) throws(SpaceError) {
        let object = WeakObject(object)
        let teller = teller(options)
        let handler = ObserverHandler(object, teller.tell, handler, on: queue)
        _ = try add(teller, Observer.Subject(object), handler, onError)
    }

    // MARK: Who observes

    /// The observations of this ordered set in this process, whichever handle they were made with, the oldest first.
    ///
    /// Those of other processes are among the watchers of ``Namespace/status()``.
    public var observations: [ObservationInfo] {
        core.observations.all.filter { isOfThis($0) && $0.isActive }.map(ObservationInfo.init)
    }

    /// Ends all observations of this ordered set in this process.
    public func stopObserving() { core.observations.end(core) { isOfThis($0) } }

    /// Ends the observations of this ordered set that were made for an object.
    public func stopObserving(for object: some AnyObject & Sendable) {
        let id = ObjectIdentifier(object)
        core.observations.end(core) { isOfThis($0) && $0.subject?.id == id && !$0.isGone }
    }

    private func isOfThis(_ observer: Observer) -> Bool { observer.filter.collections == .named(name) }

    // MARK: Sequences

    /// The changes, whichever process makes them, at the consumer's pace.
    ///
    /// ```swift
    /// var copy: [String] = []
    /// for try await change in try songs.changes() { change.apply(to: &copy) }
    /// ```
    ///
    /// - Parameter options: What is told; ``CollectionObservationOptions/initial`` unless said otherwise.
    /// - Returns: The changes, in order; nothing after this call is missed.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func changes(options: CollectionObservationOptions = .initial) throws(SpaceError) -> CollectionChanges<
        Element
    > {
        let source = try namespace.changes(.collection(name))
        let teller = teller(options)
        try teller.begin()
        return CollectionChanges(source: source, teller: teller)
    }

    // MARK: Helpers

    private var core: NamespaceCore { namespace.core }

    /// It reads in the namespace, also where this handle belongs to a transaction.
    private func teller(_ options: CollectionObservationOptions) -> CollectionFeed<OrderedSetSource<Element>> {
        let set = SharedOrderedSet(place: .namespace(namespace), name: name, number: number)
        return CollectionFeed(OrderedSetSource(elements: set, options: options), options)
    }

    private func add(
        _ teller: CollectionFeed<OrderedSetSource<Element>>,
        _ subject: Observer.Subject?,
        _ handler: ObserverHandler,
        _ onError: ObservationErrorHandler?
    ) throws(SpaceError) -> Observer {
        try namespace.add(toldBy: teller, subject, handler, onError)
    }
}

extension Namespace {
    /// Adds an observer of a collection.
    ///
    /// Throws: `closed` where the collection has been removed.
    package func add<Source>(
        toldBy teller: CollectionFeed<Source>,
        _ subject: Observer.Subject?,
        _ handler: ObserverHandler,
        _ onError: ObservationErrorHandler?
    ) throws(SpaceError) -> Observer {
        let request = ObservationRequest(
            filter: .collection(teller.name),
            options: teller.tellsInitial ? [.initial, .old, .new] : [.old, .new],
            subject: subject,
            handler: handler,
            onError: onError
        )
        // After the registration: if the collection goes later, there is a change that says so.
        return try usableCore("observe").observations.add(request, handle: self) { () throws(SpaceError) in
            try teller.begin()
        }
    }
}
