import SpaceSystem
import TupleCoding

/// What lies below a responder that is answering: call it, and the next one answers, in whichever process it lives.
///
/// ```swift
/// self.token = try jobs.respond(to: "resize") { (file: String, next) -> String in
///     let smaller = try await next(file)
///     return smaller + ", sharpened"
/// }
/// ```
///
/// It is of use only while the handler runs that it was given to.
public struct NextResponder<Argument: Codable & Sendable, Reply: Codable & Sendable>: Sendable {
    private let namespace: Namespace
    private let request: IncomingRequest

    init(_ namespace: Namespace, _ request: IncomingRequest) {
        self.namespace = namespace
        self.request = request
    }

    /// Asks the next responder the same.
    ///
    /// Its time is what is left of the request's; when the request is taken back, so is this one.
    ///
    /// - Returns: Its reply.
    /// - Throws: `noResponder` when nobody is below; `responderFailed`, `timedOut`, `cancelled`, and `badData` for a reply of
    ///   another type.
    public func callAsFunction() async throws(SpaceError) -> Reply { try await ask(request.argument) }

    /// Asks the next responder something else.
    ///
    /// - Parameter argument: What it is asked in place of what the handler was.
    /// - Returns: Its reply.
    /// - Throws: What ``callAsFunction()`` does.
    public func callAsFunction(_ argument: Argument) async throws(SpaceError) -> Reply {
        try await ask(try namespace.encodedArgument(argument))
    }

    private func ask(_ argument: [UInt8]) async throws(SpaceError) -> Reply {
        let core = try namespace.usableCore(Requesting.operation)
        // The end of the request cancels this one, and it is who asked that tells of it; should that process be stopped, the
        // time ends here too.
        let timeout = core.remaining(of: request).map { $0 + .seconds(1) }
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

    /// Whether anybody is below.
    public var exists: Bool {
        get throws(SpaceError) {
            try namespace.usableCore(Requesting.operation).hasResponder(to: outgoing([]))
        }
    }

    /// Takes the responder that is answering off the stack: it answers this request, and no other.
    public func removeCurrent() { namespace.core.responders.end(request.position, of: namespace.core) }

    /// Who asks; where a responder above has asked with `next`, that one.
    public var requester: Int32 { request.pid }

    /// How much time is left for a reply; `nil`: there is no limit.
    public var remaining: Duration? { namespace.core.remaining(of: request) }
}
