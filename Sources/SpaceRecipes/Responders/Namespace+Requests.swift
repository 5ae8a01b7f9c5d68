import SpaceSystem
import TupleCoding

// Requests: asking who answers to a name.

extension Namespace {
    /// Asks who answers to a name, and awaits the reply.
    ///
    /// ```swift
    /// let size: Int = try await jobs.request("resize", "cat.png", timeout: .seconds(2))
    /// ```
    ///
    /// When the one who is answering dies, the next responder below is asked, at most once each. When this process dies, or
    /// the task is cancelled, or the time has passed, the request is taken back, and a handler that had begun is cancelled.
    ///
    /// - Parameters:
    ///   - name: What they answer to.
    ///   - argument: What they are asked: any `Codable` value, up to 64 MiB encoded.
    ///   - type: The reply's.
    ///   - absent: What happens when nobody is there.
    ///   - timeout: How long; `nil`: no limit.
    /// - Returns: The reply.
    /// - Throws: `responderFailed` with what the responder threw; `timedOut`, which names the process that was asked;
    ///   `noResponder`; `cancelled`; `badData` for a reply of another type; `typeMismatch`, `tooLarge`, `storageFull`,
    ///   `limitReached`, `holderStopped`, `holderBusy`.
    public func request<Reply: Decodable & Sendable>(
        _ name: String,
        _ argument: some Encodable,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration? = .seconds(5)
    ) async throws(SpaceError) -> Reply {
        try decoded(try await requesting(name, argument, absent, timeout).suspend(), of: name)
    }

    /// Asks who answers to a name, with null as the argument, and awaits the reply.
    ///
    /// - Parameters:
    ///   - name: What they answer to.
    ///   - type: The reply's.
    ///   - absent: What happens when nobody is there.
    ///   - timeout: How long; `nil`: no limit.
    /// - Returns: The reply.
    /// - Throws: What the form with an argument does.
    public func request<Reply: Decodable & Sendable>(
        _ name: String,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration? = .seconds(5)
    ) async throws(SpaceError) -> Reply {
        try await request(name, Value.null, as: type, ifAbsent: absent, timeout: timeout)
    }

    /// Asks who answers to a name, and waits for the reply.
    ///
    /// Blocks the thread. Otherwise like the form to await.
    ///
    /// - Parameters:
    ///   - name: What they answer to.
    ///   - argument: What they are asked.
    ///   - type: The reply's.
    ///   - absent: What happens when nobody is there.
    ///   - timeout: How long.
    /// - Returns: The reply.
    /// - Throws: What the form to await does.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func request<Reply: Decodable>(
        _ name: String,
        _ argument: some Encodable,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration
    ) throws(SpaceError) -> Reply {
        try decoded(try requesting(name, argument, absent, timeout).block(), of: name)
    }

    /// Asks who answers to a name, with null as the argument, and waits for the reply.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - name: What they answer to.
    ///   - type: The reply's.
    ///   - absent: What happens when nobody is there.
    ///   - timeout: How long.
    /// - Returns: The reply.
    /// - Throws: What the form to await does.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func request<Reply: Decodable>(
        _ name: String,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration
    ) throws(SpaceError) -> Reply {
        try request(name, Value.null, as: type, ifAbsent: absent, timeout: timeout)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func requestBlocking(
        _ name: String,
        value: Value,
        ifAbsent absent: AbsentResponder,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Value {
        try decoded(try requesting(name, value, absent, timeout).block(interruption: interruption), of: name)
    }

    // MARK: Helpers

    private func requesting(
        _ name: String,
        _ argument: some Encodable,
        _ absent: AbsentResponder,
        _ timeout: Duration?
    ) throws(SpaceError) -> Requesting {
        try checkObjectName(name, Requesting.operation)
        let request = OutgoingRequest(name: name, argument: try encodedArgument(argument))
        return Requesting(try usableCore(Requesting.operation), request, absent, timeout: timeout)
    }

    func encodedArgument(_ argument: some Encodable) throws(SpaceError) -> [UInt8] {
        let bytes = try encodedElement(of: try encoded(argument, Requesting.operation), Requesting.operation)
        guard bytes.count <= Limits.valueBytes else { throw tooLarge(Requesting.operation, bytes.count) }
        return bytes
    }

    package func decoded<Reply: Decodable>(_ reply: Requesting.Reply, of name: String) throws(SpaceError) -> Reply {
        do throws(TupleCodingError) {
            return try reply.value.withBytes { bytes throws(TupleCodingError) in
                try Value(encodedElement: bytes).decode()
            }
        } catch {
            throw SpaceError(
                .badData,
                "\(Requesting.operation) \(name.quotedForPeople)",
                namespace: self.name,
                holder: reply.pid,
                reason: "the reply of process \(reply.pid) is no \(Reply.self): \(error)"
            )
        }
    }
}
