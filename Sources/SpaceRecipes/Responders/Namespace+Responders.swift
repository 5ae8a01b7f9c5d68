import SpaceSystem
import TupleCoding

// Responders: named behaviour that processes give a namespace at run time.

extension Namespace {
    /// Answers requests of a name, until the token goes.
    ///
    /// ```swift
    /// self.token = try jobs.respond(to: "resize", key: "plain") { (file: String, next) -> Int in
    ///     try await resize(file)
    /// }
    /// ```
    ///
    /// The newest responder answers; the handler's second argument calls the one below, in whichever process it lives. The
    /// handler runs in a task, where its isolation says, so it may await and must not block. What it throws reaches
    /// the one who asks as `responderFailed`, with its description. It is cancelled when the request is taken back: the time has
    /// passed, or who asked has gone. When this process dies, its responders leave the stack, and what they had not answered goes to
    /// the next, at most once to each.
    ///
    /// - Parameters:
    ///   - name: What it answers to: 1 to 240 bytes, which no lock, collection or other shared object bears.
    ///   - key: By which it can be removed and replaced, from any process; `nil`: a UUID. A responder with the same key leaves.
    ///   - base: Whether it lies under the stack: below all that are no base handlers, whatever the order of registration.
    ///   - concurrency: How many requests it answers side by side; the others wait in order.
    ///   - handler: Called with the argument and what lies below; returns the reply.
    /// - Returns: A token; when it goes, the responder leaves.
    /// - Throws: `typeMismatch` when the name is another object's, `invalidArgument`, `storageFull`, `limitReached`,
    ///   `holderStopped`, `holderBusy`.
    public func respond<Argument: Codable & Sendable, Reply: Codable & Sendable>(
        to name: String,
        key: String? = nil,
        base: Bool = false,
        concurrency: Int = 1,
        _ handler:
            @escaping @isolated(any) @Sendable (Argument, NextResponder<Argument, Reply>) async throws -> Reply
    ) throws(SpaceError) -> ResponderToken {
        let operation = "respond"
        try checkObjectName(name, operation)
        let key = key ?? "\(TupleUUID.random())"
        try checkObjectName(key, operation)
        guard concurrency > 0 else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: self.name,
                reason: "it is to answer \(concurrency) requests side by side",
                advice: "give a number from 1"
            )
        }
        let core = try usableCore(operation)
        let responder = LocalResponder(
            name: name,
            key: key,
            position: try core.enrolResponder(name, key: key, isBase: base),
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

    /// The responders to a name, the one that is asked first in front, base handlers last; those of dead processes left out.
    ///
    /// - Parameter name: What they answer to; `nil`: all, by name.
    /// - Returns: The responders.
    /// - Throws: `readersExhausted`, `damaged`.
    public func responders(to name: String? = nil) throws(SpaceError) -> [Responder] {
        try usableCore("list responders").responders(to: name).map { Responder($0.name, $0.row) }
    }

    /// Whether anybody answers to a name.
    ///
    /// - Parameters:
    ///   - name: What they answer to.
    ///   - key: Of the one that is meant; `nil`: whichever.
    /// - Returns: Whether there is one.
    /// - Throws: `readersExhausted`, `damaged`.
    public func hasResponder(to name: String, key: String? = nil) throws(SpaceError) -> Bool {
        try responders(to: name).contains { key.isSame(as: nil) || key.isSame(as: $0.key) }
    }

    /// Takes a responder off the stack, in whichever process it lives.
    ///
    /// What it has begun it goes on with, and its reply counts.
    ///
    /// - Parameters:
    ///   - name: What it answers to.
    ///   - key: Its key.
    /// - Returns: Whether there was one.
    /// - Throws: `holderStopped`, `holderBusy`.
    @discardableResult
    public func removeResponder(to name: String, key: String) throws(SpaceError) -> Bool {
        try usableCore("remove a responder").retireResponders(to: name) { $0.key.isSame(as: key) }
    }

    /// Takes all responders off their stacks that were made with this handle.
    public func stopResponding() { core.responders.end(handle: ObjectIdentifier(self), of: core) }
}
