/// The handler of an observation, and the place where it runs.
///
/// A handler is called with one change at a time, in order. The permission to call it is checked where it runs, right
/// before the call: an actor that has cancelled an observation is not called by it afterwards.
package enum ObserverHandler: Sendable {
    /// The check before each call; `false` once the observation has ended.
    package typealias Permission = @Sendable () -> Bool
    /// What a handler is called with for a change; `nil` for no call.
    package typealias Teller<Told> = @Sendable (Change) throws -> Told?

    /// A synchronous handler without isolation, called on the thread that heard the change signal.
    case prompt(@Sendable (Change) throws -> Void)
    /// The same, called on the user's queue.
    case queued(@Sendable (Change) throws -> Void, ObservationQueue)
    /// A handler that is called in a task, on its actor.
    case task(@Sendable (Change, Permission) async throws -> Void)
    /// A coarse handler: called in a task, with all changes of a batch at once.
    case coarse(@Sendable ([Change], Permission) async -> Void)

    private init(_ handler: @escaping @Sendable (Change) throws -> Void, on queue: ObservationQueue?) {
        self = queue.map { .queued(handler, $0) } ?? .prompt(handler)
    }

    /// Calls `body` on an actor, if it is still permitted there.
    ///
    /// From the check to the handler's first line nothing else runs on the actor: the handler belongs to the same
    /// actor, so awaiting it does not leave the actor.
    private static func call(
        _ isolation: isolated (any Actor)?,
        _ mayCall: Permission,
        _ body: () async throws -> Void
    ) async throws {
        if mayCall() { try await body() }
    }
}

// The type system forbids a synchronous call of a function with dynamic isolation. Without isolation it is an ordinary
// function: both have the same representation, because the isolation is a part of the context (SE-0431). So the
// handlers below without isolation are converted with `unsafeBitCast`.

extension ObserverHandler {
    package init<Told: Sendable>(
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Told) throws -> Void,
        on queue: ObservationQueue?
    ) {
        guard handler.isolation == nil else {
            self = .task { change, mayCall in
                guard let told = try tell(change) else { return }
                try await Self.call(handler.isolation, mayCall) { try await handler(told) }
            }
            return
        }
        let plain = unsafeBitCast(handler, to: (@Sendable (Told) throws -> Void).self)
        self.init({ change in if let told = try tell(change) { try plain(told) } }, on: queue)
    }

    package init<Told: Sendable>(
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Told) async throws -> Void
    ) {
        self = .task { change, mayCall in
            guard let told = try tell(change) else { return }
            try await Self.call(handler.isolation, mayCall) { try await handler(told) }
        }
    }

    // MARK: For an object

    package init<Object: AnyObject & Sendable, Told: Sendable>(
        _ object: WeakObject<Object>,
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Object, Told) throws -> Void,
        on queue: ObservationQueue?
    ) {
        guard handler.isolation == nil else {
            self = .task { change, mayCall in
                guard let told = try tell(change) else { return }
                try await Self.call(handler.isolation, mayCall) {
                    if let object = object.value { try await handler(object, told) }
                }
            }
            return
        }
        let plain = unsafeBitCast(handler, to: (@Sendable (Object, Told) throws -> Void).self)
        self.init(
            { change in if let told = try tell(change), let object = object.value { try plain(object, told) } },
            on: queue
        )
    }

    package init<Object: AnyObject & Sendable, Told: Sendable>(
        _ object: WeakObject<Object>,
        _ tell: @escaping Teller<Told>,
        _ handler: @escaping @isolated(any) @Sendable (Object, Told) async throws -> Void
    ) {
        self = .task { change, mayCall in
            guard let told = try tell(change) else { return }
            try await Self.call(handler.isolation, mayCall) {
                if let object = object.value { try await handler(object, told) }
            }
        }
    }

    /// A method of the object's class; its isolation is known once it is bound to the object.
    package init<Object: AnyObject & Sendable, Told: Sendable>(
        _ object: WeakObject<Object>,
        _ tell: @escaping Teller<Told>,
        method: @escaping @Sendable (Object) -> @isolated(any) @Sendable (Told) throws -> Void,
        on queue: ObservationQueue?
    ) {
        guard let isolation = object.value.flatMap({ method($0).isolation }) else {
            self.init(
                object,
                tell,
                { me, told in try unsafeBitCast(method(me), to: (@Sendable (Told) throws -> Void).self)(told) },
                on: queue
            )
            return
        }
        self = .task { change, mayCall in
            guard let told = try tell(change) else { return }
            try await Self.call(isolation, mayCall) {
                if let object = object.value { try await method(object)(told) }
            }
        }
    }
}
