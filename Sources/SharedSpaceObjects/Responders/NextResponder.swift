/// The responders below the answering one: a call asks the next of them, in any process.
///
/// ```swift
/// self.token = try jobs.respond(to: "resize") { (file: String, next) -> String in
///     let smaller = try await next(file)
///     return smaller + ", sharpened"
/// }
/// ```
///
/// It is valid only while the handler that received it runs.
public struct NextResponder<Argument: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    private let namespace: Namespace
    private let request: IncomingRequest
    /// The key of the responder that is answering.
    public let key: String

    init(_ namespace: Namespace, _ request: IncomingRequest, key: String) {
        self.namespace = namespace
        self.request = request
        self.key = key
    }

    /// The name that was asked for.
    public var name: String { request.name }

    /// Asks the next responder, with the same argument.
    ///
    /// The next responder has as much time as this request has left. If this request is taken back, the one made here
    /// is taken back too.
    ///
    /// - Returns: The reply of the next responder.
    /// - Throws: `noResponder` if there is no responder below; `responderFailed`, `timedOut`, `cancelled`, and
    ///   `badData` for a reply of another type.
    public func callAsFunction() async throws(SpaceError) -> Reply { try await ask(request.argument) }

    /// Asks the next responder, with another argument.
    ///
    /// - Parameter argument: The argument, in place of the one that the handler received.
    /// - Returns: The reply of the next responder.
    /// - Throws: The same errors as ``callAsFunction()``.
    public func callAsFunction(_ argument: Argument) async throws(SpaceError) -> Reply {
        try await ask(try namespace.encodedArgument(argument))
    }

    private func ask(_ argument: [UInt8]) async throws(SpaceError) -> Reply {
        let core = try namespace.attempt(Requesting.operation) { (core) throws(SpaceError) in core }
        // When the outer request ends, this one is cancelled. It is the asking process that ends the outer request. If
        // that process is stopped, this time-out ends the wait.
        let timeout = core.requests.remaining(of: request).map { $0 + .seconds(1) }
        let reply = try await Requesting(core, outgoing(argument), .fails, timeout: timeout).suspend()
        return try namespace.decoded(reply, of: request.name)
    }

    private func outgoing(_ argument: [UInt8]) -> OutgoingRequest {
        OutgoingRequest(
            name: request.name,
            argument: argument,
            below: request.position,
            reached: request.reached,
            within: request.asking,
            deadline: request.deadline
        )
    }

    /// Whether there is a responder below.
    public var exists: Bool {
        get throws(SpaceError) {
            try namespace.attempt(Requesting.operation) { (core) throws(SpaceError) in
                try core.requests.hasResponder(to: outgoing([]))
            }
        }
    }

    /// Takes the answering responder off the stack: it still answers this request, and no other.
    public func removeCurrent() { namespace.core.responderHub.end(request.position, of: namespace.core) }

    /// The asking process; if a responder above has asked with `next`, that responder's process.
    public var requester: Int32 { request.pid }

    /// The time that is left for a reply, or `nil` if there is no limit.
    public var remaining: Duration? { namespace.core.requests.remaining(of: request) }
}
