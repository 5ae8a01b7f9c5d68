import SpaceSystem
import TupleCoding

// Responders: named behaviour that processes add to a namespace at run time.

extension Namespace {
    /// Answers requests of a name, as long as the returned token lives.
    ///
    /// ```swift
    /// self.token = try jobs.respond(to: "resize", key: "plain") { (file: String, next) -> Int in
    ///     try await resize(file)
    /// }
    /// ```
    ///
    /// The newest responder answers. The handler's second argument calls the responder below, in any process. The
    /// handler runs in a task, with the isolation it was declared with, so it may await and must not block. If the
    /// handler throws, the asking process gets `responderFailed` with the error's description. If the request is taken
    /// back, because its time has passed or the asking process has gone, the handler's task is cancelled. If this
    /// process dies, its responders leave the stack, and the requests that they have not answered go to the next
    /// responder; each responder is asked once at most.
    ///
    /// - Parameters:
    ///   - name: The name to answer to: 1 to 240 bytes, not used by any lock, collection or other shared object.
    ///   - key: The key by which any process can remove or replace this responder; `nil` stands for a new UUID. An
    ///     earlier responder with the same key leaves the stack.
    ///   - base: Whether this is a base handler: it is asked after all responders that are not base handlers, whatever
    ///     the order of registration.
    ///   - concurrency: How many requests the handler answers at the same time; further requests wait in order.
    ///   - handler: Called with the argument and the responders below; returns the reply.
    /// - Returns: A token; when it is released, the responder leaves the stack.
    /// - Throws: `typeMismatch` if another kind of object has the name; `invalidArgument`, `storageFull`,
    ///   `limitReached`, `holderStopped`, `holderBusy`.
    public func respond<Argument: Codable & Sendable, Reply: Codable & Sendable>(
        to name: String,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler:
            @escaping @isolated(any) @Sendable (Argument, NextResponder<Argument, Reply>) async throws -> Reply
    ) throws(SpaceError) -> ResponderToken {
        let key = key ?? "\(TupleUUID.random())"
        let position = try enrolResponder(name, key: key, isBase: base, concurrency: concurrency)
        let responder = LocalResponder(
            name: name,
            key: key,
            position: position,
            concurrency: concurrency,
            namespace: self
        ) { request in
            let argument: Argument
            do throws(TupleCodingError) {
                argument = try request.argument.withBytes { bytes throws(TupleCodingError) in
                    try Value(encodedElement: bytes).decode()
                }
            } catch {
                throw ResponderFailure("the argument is no \(Argument.self): \(error)")
            }
            return try Value(encoding: try await handler(argument, NextResponder(self, request)))
        }
        core.responders.add(responder, to: core)
        return ResponderToken(responder, core)
    }

    /// The responders of living processes to a name, in the order in which they are asked: base handlers last.
    ///
    /// - Parameter name: The name that they answer to, or `nil` for the responders to all names, by name.
    /// - Returns: The responders.
    /// - Throws: `readersExhausted`, `damaged`.
    public func responders(to name: String? = nil) throws(SpaceError) -> [Responder] {
        try attempt("list responders") { (core) throws(SpaceError) in
            try core.responders(to: name).map { Responder($0.name, $0.row) }
        }
    }

    /// Whether there is a responder to a name.
    ///
    /// - Parameters:
    ///   - name: The name that the responder answers to.
    ///   - key: The key of the responder, or `nil` for any responder.
    /// - Returns: Whether there is one.
    /// - Throws: `readersExhausted`, `damaged`.
    public func hasResponder(to name: String, key: String? = nil) throws(SpaceError) -> Bool {
        try responders(to: name).contains { key.isSame(as: nil) || key.isSame(as: $0.key) }
    }

    /// Takes a responder off the stack, in any process.
    ///
    /// The responder finishes the requests that it has begun, and its replies count.
    ///
    /// - Parameters:
    ///   - name: The name that the responder answers to.
    ///   - key: The key of the responder.
    /// - Returns: Whether there was one.
    /// - Throws: `holderStopped`, `holderBusy`.
    @discardableResult
    public func removeResponder(to name: String, key: String) throws(SpaceError) -> Bool {
        try attempt("remove a responder") { (core) throws(SpaceError) in
            try core.retireResponders(to: name) { $0.key.isSame(as: key) }
        }
    }

    /// Takes all responders that were registered with this handle off their stacks.
    public func stopResponding() { core.responders.end(handle: ObjectIdentifier(self), of: core) }

    /// Registers a responder of this process.
    func enrolResponder(
        _ name: String,
        key: String,
        isBase: Bool,
        concurrency: Int = 1
    ) throws(SpaceError) -> ResponderPosition {
        try attempt("respond") { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            try Limits.check(objectName: key)
            guard concurrency > 0 else {
                throw .badNumber("it is to answer \(concurrency) requests side by side")
            }
            return try core.enrolResponder(name, key: key, isBase: isBase)
        }
    }
}
