import TupleCoding

/// The handler of an observation, and the place where it runs.
///
/// A handler is called with one change at a time, in order. The permission to call it is checked where it runs, right
/// before the call: an actor that has cancelled an observation is not called by it afterwards.
package enum ObserverHandler: Sendable {
    /// The check before each call; `false` once the observation has ended.
    package typealias Permission = @Sendable () -> Bool

    /// A synchronous handler without isolation, called on the thread that heard the change signal.
    case prompt(@Sendable (Change) throws -> Void)
    /// The same, called on the user's queue.
    case queued(@Sendable (Change) throws -> Void, ObservationQueue)
    /// A handler that is called in a task, on its actor.
    case task(@Sendable (Change, Permission) async throws -> Void)
    /// A coarse handler: called in a task, with only the last change's number.
    case coarse(@Sendable (UInt64, Permission) async -> Void)

    package typealias Synchronous = @isolated(any) @Sendable (Change) throws -> Void
    package typealias Asynchronous = @isolated(any) @Sendable (Change) async throws -> Void

    package init(_ handler: @escaping Synchronous, on queue: ObservationQueue?) {
        guard handler.isolation == nil else {
            self = .task { change, mayCall in
                try await Self.call(handler.isolation, mayCall) { try await handler(change) }
            }
            return
        }
        // The type system forbids a synchronous call of a function with dynamic isolation. Without isolation it is an
        // ordinary function: both have the same representation, because the isolation is a part of the context
        // (SE-0431).
        let plain = unsafeBitCast(handler, to: (@Sendable (Change) throws -> Void).self)
        self = queue.map { .queued(plain, $0) } ?? .prompt(plain)
    }

    package init(_ handler: @escaping Asynchronous) {
        self = .task { change, mayCall in
            try await Self.call(handler.isolation, mayCall) { try await handler(change) }
        }
    }

    package init<Object: AnyObject & Sendable>(
        _ object: WeakObject<Object>,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) throws -> Void,
        on queue: ObservationQueue?
    ) {
        guard handler.isolation == nil else {
            self = .task { change, mayCall in
                try await Self.call(handler.isolation, mayCall) {
                    if let object = object.value { try await handler(object, change) }
                }
            }
            return
        }
        let plain = unsafeBitCast(handler, to: (@Sendable (Object, Change) throws -> Void).self)
        self.init({ change in if let object = object.value { try plain(object, change) } }, on: queue)
    }

    package init<Object: AnyObject & Sendable>(
        _ object: WeakObject<Object>,
        _ handler: @escaping @isolated(any) @Sendable (Object, Change) async throws -> Void
    ) {
        self = .task { change, mayCall in
            try await Self.call(handler.isolation, mayCall) {
                if let object = object.value { try await handler(object, change) }
            }
        }
    }

    /// Calls `body` on an actor, if it is still permitted there.
    ///
    /// From the check to the handler's first line nothing else runs on the actor: the handler belongs to the same
    /// actor, so awaiting it does not leave the actor.
    static func call(
        _ isolation: isolated (any Actor)?,
        _ mayCall: Permission,
        _ body: () async throws -> Void
    ) async throws {
        if mayCall() { try await body() }
    }
}

/// Receives an error that a handler has thrown.
public typealias ObservationErrorHandler = @Sendable (any Error) -> Void
