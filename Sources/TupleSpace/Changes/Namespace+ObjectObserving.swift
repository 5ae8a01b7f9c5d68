import TupleCoding

// Observing for an object: there is no token, and the observation ends with the object.

extension Namespace {
    // MARK: Handlers

    /// Calls a handler with an object and each change of a cell, as long as the object lives.
    ///
    /// ```swift
    /// try jobs.observe("progress", for: self) { @MainActor me, change in me.show(change.new) }
    /// ```
    ///
    /// The observation does not keep the object alive: the handler gets it as an argument and need not capture it.
    /// The observation ends with the object, the process, the handle or the namespace. Swift on Linux does not report
    /// the end of an object, so the library notices it at the next delivery or tick (250 ms); it calls no handler in
    /// between.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value.
    ///   - object: The object that the observation belongs to.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with the object and each change.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe<Object: AnyObject & Sendable>(
        _ key: String,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) throws -> Void
    ) throws(SpaceError) {
        try observe(.cell(key), for: object, options: options, on: queue, onError: onError, handler)
    }

    /// Calls an asynchronous handler with an object and each change of a cell, in a task, as long as the object lives.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path a part of its value.
    ///   - object: The object that the observation belongs to; it is kept alive only during a call.
    ///   - options: The content of each call.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with the object and each change.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe<Object: AnyObject & Sendable>(
        _ key: String,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) async throws -> Void
    ) throws(SpaceError) {
        try observe(.cell(key), for: object, options: options, onError: onError, handler)
    }

    /// Calls a handler with an object and each change that a filter lets through, as long as the object lives.
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver.
    ///   - object: The object that the observation belongs to; it is not kept alive.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with the object and each change.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe<Object: AnyObject & Sendable>(
        _ filter: ChangeFilter,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) throws -> Void
    ) throws(SpaceError) {
        let object = WeakObject(object)
        _ = try add(
            ObservationRequest(
                filter: filter,
                options: options,
                subject: Observer.Subject(object),
                handler: ObserverHandler(object, handler, on: queue),
                onError: onError
            )
        )
    }

    /// Calls an asynchronous handler with an object and each change that a filter lets through, in a task.
    ///
    /// The observation lasts as long as the object lives.
    ///
    /// - Parameters:
    ///   - filter: The changes to deliver.
    ///   - object: The object that the observation belongs to; it is kept alive only during a call.
    ///   - options: The content of each call.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with the object and each change.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func observe<Object: AnyObject & Sendable>(
        _ filter: ChangeFilter,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        onError: ObservationErrorHandler? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) async throws -> Void
    ) throws(SpaceError) {
        let object = WeakObject(object)
        _ = try add(
            ObservationRequest(
                filter: filter,
                options: options,
                subject: Observer.Subject(object),
                handler: ObserverHandler(object, handler),
                onError: onError
            )
        )
    }

    /// Ends all observations of this process that were made for an object, with any handle.
    public func stopObserving(for object: some AnyObject & Sendable) {
        let id = ObjectIdentifier(object)
        // The address may have belonged to an object that is gone.
        core.observations.end(core) { $0.subject?.id == id && !$0.isGone }
    }

    // MARK: Coarse observers

    /// Notifies an object, from now on, that something has changed, without saying what.
    ///
    /// Changes that happen during a call lead to one further call. The object is not kept alive. Adding it again with
    /// the same filter replaces the earlier registration, which changes nothing for the object. Objects are compared
    /// by identity, never by equality.
    ///
    /// - Parameters:
    ///   - observer: The object to notify; it may observe any number of namespaces and cells.
    ///   - filter: The changes that concern it.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func addObserver<Object: SpaceObserver>(_ observer: Object, for filter: ChangeFilter = .everything)
        throws(SpaceError)
    {
        let name = name
        let object = WeakObject(observer)
        let added = try add(
            ObservationRequest(
                filter: filter,
                options: [],
                subject: Observer.Subject(object),
                handler: .coarse { generation, mayCall in
                    guard let object = object.value, mayCall() else { return }
                    await object.spaceDidChange(name, generation: generation)
                }
            )
        )
        // Ends only older ones: if two threads add the same object at once, the younger observation stays.
        core.observations.end(core) { other in
            other.isCoarse && other.subject?.id == object.id && other.filter.text.isSame(as: filter.text)
                && other.id < added.id
        }
    }

    /// Undoes ``addObserver(_:for:)``, for all filters; observations of other objects stay.
    public func removeObserver(_ observer: some SpaceObserver) {
        let id = ObjectIdentifier(observer)
        core.observations.end(core) { $0.isCoarse && $0.subject?.id == id && !$0.isGone }
    }

    // MARK: Listing

    /// The observations of this process in the namespace, made with any handle, oldest first.
    ///
    /// Those of other processes are among the watchers of ``status()``.
    public var observations: [ObservationInfo] { core.observations.all.filter(\.isActive).map(ObservationInfo.init) }

    /// How often a filter was evaluated for a change, over all observations of this process.
    package var filterEvaluations: Int { core.observations.filterEvaluations }
}
