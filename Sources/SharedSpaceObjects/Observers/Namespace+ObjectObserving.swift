// Observing for an object.

extension Namespace {
    // MARK: Objects

    /// Calls a handler with an object and each change, as long as the object lives.
    ///
    /// ```swift
    /// try jobs.observe("progress", for: self) { @MainActor me, change in me.show(change.new) }
    /// ```
    ///
    /// The observation keeps neither the object nor the namespace alive: the handler gets the object as an argument and
    /// need not capture it. The observation ends with the object, the process or the namespace, and when the handle is
    /// left. If the handle is only released, the observation goes on, as long as the namespace has another owner. Swift
    /// on Linux does not report the end of an object, so the library notices it at the next delivery or tick (250 ms),
    /// and calls no handler in between.
    ///
    /// - Parameters:
    ///   - filter: A cell's key or path, or a filter, as in ``observe(_:options:on:onError:_:)``.
    ///   - object: The object that the observation belongs to.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with the object and each change.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        _ filter: ChangeFilter,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let object = WeakObject(object)
        return try observe(filter, for: object, options, onError) { _ in
            ObserverHandler(object, { $0 }, handler, on: queue)
        }
    }

    /// Calls a method of an object with each change, as long as the object lives.
    ///
    /// ```swift
    /// try jobs.observe("progress", for: self, Screen.changed)     // func changed(_ change: Change)
    /// ```
    ///
    /// Name the method of the class: it does not keep the object alive, while `self.changed` would. A method of an
    /// actor is called there.
    ///
    /// - Parameters:
    ///   - filter: A cell's key or path, or a filter.
    ///   - object: The object whose method is called.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a method without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the method throws.
    ///   - method: The method.
    /// - Returns: A token that need not be kept.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        _ filter: ChangeFilter,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ method: @escaping @Sendable (Object) -> @isolated(any) @Sendable (Change) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let object = WeakObject(object)
        return try observe(filter, for: object, options, onError) { _ in
            ObserverHandler(object, { $0 }, method: method, on: queue)
        }
    }

    /// Calls an asynchronous handler with an object and each change, in a task, as long as the object lives.
    ///
    /// - Parameters:
    ///   - filter: A cell's key or path, or a filter.
    ///   - object: The object that the observation belongs to; it is kept alive only during a call.
    ///   - options: The content of each call.
    ///   - onError: Receives the errors that the handler throws.
    ///   - handler: Called with the object and each change.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    @discardableResult
    public func observe<Object: AnyObject & Sendable>(
        _ filter: ChangeFilter,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) async throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let object = WeakObject(object)
        return try observe(filter, for: object, options, onError) { _ in ObserverHandler(object, { $0 }, handler) }
    }

    /// Calls a handler with an object and the values of a cell before and after each change, as long as the object
    /// lives.
    ///
    /// ```swift
    /// try jobs.observe(cell: "progress", as: Double.self, for: self) { me, values in me.show(values.new ?? 0) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: The cell, or with a path (`"user.name"`) a part of its value.
    ///   - type: The type of the value.
    ///   - object: The object that the observation belongs to; neither it nor the namespace is kept alive.
    ///   - options: The content of each call.
    ///   - queue: The queue on which a handler without isolation is called; `nil` for the thread that receives the
    ///     change.
    ///   - onError: Receives the errors that the handler throws, and one for each value of another type.
    ///   - handler: Called with the object and the values before and after.
    /// - Returns: A token that need not be kept, to end this observation alone.
    /// - Throws: `namespaceDeleted`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    @discardableResult
    public func observe<Content: Decodable & Sendable, Object: AnyObject & Sendable>(
        cell key: String,
        as type: Content.Type,
        for object: Object,
        options: ObservationOptions = [.old, .new],
        on queue: ObservationQueue? = nil,
        onError: (@Sendable (any Error) -> Void)? = nil,
        _ handler: @escaping @isolated(any) @Sendable (Object, (old: Content?, new: Content?)) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        let object = WeakObject(object)
        return try observe(.cell(key), for: object, options, onError) { kept in
            let tell: ObserverHandler.Teller<(old: Content?, new: Content?)> = { change in
                try kept.values(of: key, in: change)
            }
            return ObserverHandler(object, tell, handler, on: queue)
        }
    }

    /// Adds an observation for an object: it ends with the object, and keeps neither the object nor the namespace
    /// alive.
    private func observe<Object>(
        _ filter: ChangeFilter,
        for object: WeakObject<Object>,
        _ options: ObservationOptions,
        _ onError: (@Sendable (any Error) -> Void)?,
        _ handler: (_ kept: Namespace) -> ObserverHandler
    ) throws(SpaceError) -> ObservationToken {
        let kept = try attempt("observe") { (_) throws(SpaceError) in try nonOwningHandle() }
        let request = ObservationRequest(
            filter: filter,
            options: options,
            subject: Observer.Subject(object),
            handler: handler(kept),
            onError: onError
        )
        return ObservationToken(try add(request, keeping: kept), core)
    }

    /// Ends all observations of this process that were made for an object, with any handle.
    public func stopObserving(for object: some AnyObject & Sendable) {
        let id = ObjectIdentifier(object)
        // The address may have belonged to an object that is gone.
        core.observations.end(core) { $0.subject?.id == id && !$0.isGone }
    }

    // MARK: Listing

    /// The observations of this process in the namespace, made with any handle, oldest first.
    ///
    /// Those of other processes are among the watchers of ``status()``.
    public var observations: [ObservationInfo] { core.observations.all.filter(\.isActive).map(ObservationInfo.init) }
}
