import Synchronization
import TupleCoding

/// What an observation calls, and where.
///
/// A handler is called with one change at a time, in order. Whether it may still be called is decided where it runs, right before
/// the call: an actor that has cancelled an observation is not called by it afterwards.
package enum ObserverHandler: Sendable {
    /// Asked right before each call.
    package typealias Permission = @Sendable () -> Bool

    /// Synchronous and isolated to nothing: on the thread that heard the bell.
    case prompt(@Sendable (Change) throws -> Void)
    /// The same, where the user's closure takes it.
    case queued(@Sendable (Change) throws -> Void, ObservationQueue)
    /// In a task, on the handler's actor.
    case task(@Sendable (Change, Permission) async throws -> Void)
    /// Coarse: in a task, with the last change's number alone.
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
        // A function with dynamic isolation can be called synchronously by nobody who has only its type. Without isolation it is
        // an ordinary function: the two are represented alike, the isolation being a part of the context (SE-0431).
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

    /// Calls on an actor, if it may there.
    ///
    /// From the question to the handler's first line nothing else runs on the actor: the handler belongs to the same one, so
    /// awaiting it does not leave it.
    static func call(
        _ isolation: isolated (any Actor)?,
        _ mayCall: Permission,
        _ body: () async throws -> Void
    ) async throws {
        if mayCall() { try await body() }
    }
}

/// What is told of an error that a handler has thrown.
public typealias ObservationErrorHandler = @Sendable (any Error) -> Void
