import TupleCoding

// Observing for an object: no token, the observation ends with the object.

extension Namespace {
    // MARK: Handlers

    /// Calls a handler with an object and each change of a cell, as long as the object lives.
    ///
    /// ```swift
    /// try jobs.observe("progress", for: self) { @MainActor me, change in me.show(change.new) }
    /// ```
    ///
    /// The object is not kept alive: the handler is given it, and need not capture it. The observation ends with the object, the
    /// process, the handle or the namespace. Swift on Linux tells nobody when an object ends, so that is noticed at the
    /// next delivery or tick (250 ms); no handler is called in between.
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value.
    ///   - object: For whom.
    ///   - options: What each call brings.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws.
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
    ///   - object: For whom; it is not kept alive but for the time of a call.
    ///   - options: What each call brings.
    ///   - onError: Is told of what the handler throws.
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
    ///   - filter: Which changes.
    ///   - object: For whom; it is not kept alive.
    ///   - options: What each call brings.
    ///   - queue: Where a handler without isolation is called; `nil`: on the thread that hears of the change.
    ///   - onError: Is told of what the handler throws.
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

    /// Calls an asynchronous handler with an object and each change that a filter lets through, in a task, as long as the object
    /// lives.
    ///
    /// - Parameters:
    ///   - filter: Which changes.
    ///   - object: For whom; it is not kept alive but for the time of a call.
    ///   - options: What each call brings.
    ///   - onError: Is told of what the handler throws.
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

    /// Ends all observations that were made for an object, in this process, with whichever handle.
    public func stopObserving(for object: some AnyObject & Sendable) {
        let id = ObjectIdentifier(object)
        // An object that has gone may have had the same address.
        core.observations.end(core) { $0.subject?.id == id && !$0.isGone }
    }

    // MARK: Coarse observers

    /// Tells an object, from now on, that something has changed, and no more than that.
    ///
    /// What changes while the object is being told is told in one call. The object is not kept alive; adding it again with the same
    /// filter changes nothing. Objects are told apart by identity, never by equality.
    ///
    /// - Parameters:
    ///   - observer: Whom to tell; it may observe any number of namespaces and cells.
    ///   - filter: Which changes concern it.
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
        // Only older ones: of two that are added at once the younger stays.
        core.observations.end(core) { other in
            other.isCoarse && other.subject?.id == object.id && other.filter.text.isSame(as: filter.text)
                && other.id < added.id
        }
    }

    /// Undoes ``addObserver(_:for:)``, for all filters; other objects' observations stay.
    public func removeObserver(_ observer: some SpaceObserver) {
        let id = ObjectIdentifier(observer)
        core.observations.end(core) { $0.isCoarse && $0.subject?.id == id && !$0.isGone }
    }

    // MARK: Who observes what

    /// The observations of this process in the namespace, with whichever handle they were made, the oldest first.
    ///
    /// Those of other processes are among the watchers of ``status()``.
    public var observations: [ObservationInfo] { core.observations.all.filter(\.isActive).map(ObservationInfo.init) }

    /// How often a filter was asked about a change, for the observations of this process.
    package var filterEvaluations: Int { core.observations.filterEvaluations }
}
