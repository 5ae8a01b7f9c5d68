import SpaceSystem
import TupleCoding

// Requests: asking the responders to a name.

extension Namespace {
    /// Asks the responders to a name, and awaits the reply.
    ///
    /// ```swift
    /// let size: Int = try await jobs.request("resize", "cat.png", timeout: .seconds(2))
    /// ```
    ///
    /// If the responder that is answering dies, the next one below is asked; each responder is asked once at most. If
    /// this process dies, the task is cancelled or the time-out passes, the request is taken back, and a handler that
    /// has begun it is cancelled.
    ///
    /// - Parameters:
    ///   - name: The name that the responders answer to.
    ///   - argument: The argument of the request: any `Codable` value, up to 64 MiB encoded.
    ///   - type: The type of the reply.
    ///   - absent: What happens if there is no responder.
    ///   - timeout: The timeout, or `nil` to wait indefinitely.
    /// - Returns: The reply.
    /// - Throws: `responderFailed` with the description of the responder's error; `timedOut`, which names the process
    ///   that was asked; `noResponder`; `cancelled`; `badData` for a reply of another type; `typeMismatch`, `tooLarge`,
    ///   `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func request<Reply: Decodable & Sendable>(
        _ name: String,
        _ argument: some Encodable,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration? = .seconds(5)
    ) async throws(SpaceError) -> Reply {
        try decoded(try await requesting(name, argument, absent, timeout).suspend(), of: name)
    }

    /// Asks the responders to a name, with null as the argument, and awaits the reply.
    ///
    /// - Parameters:
    ///   - name: The name that the responders answer to.
    ///   - type: The type of the reply.
    ///   - absent: What happens if there is no responder.
    ///   - timeout: The timeout, or `nil` to wait indefinitely.
    /// - Returns: The reply.
    /// - Throws: The same errors as the form with an argument.
    public func request<Reply: Decodable & Sendable>(
        _ name: String,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration? = .seconds(5)
    ) async throws(SpaceError) -> Reply {
        try await request(name, Value.null, as: type, ifAbsent: absent, timeout: timeout)
    }

    /// Asks the responders to a name, and waits for the reply.
    ///
    /// Blocks the thread. Otherwise it does the same as the asynchronous form.
    ///
    /// - Parameters:
    ///   - name: The name that the responders answer to.
    ///   - argument: The argument of the request.
    ///   - type: The type of the reply.
    ///   - absent: What happens if there is no responder.
    ///   - timeout: The timeout.
    /// - Returns: The reply.
    /// - Throws: The same errors as the asynchronous form.
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

    /// Asks the responders to a name, with null as the argument, and waits for the reply.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - name: The name that the responders answer to.
    ///   - type: The type of the reply.
    ///   - absent: What happens if there is no responder.
    ///   - timeout: The timeout.
    /// - Returns: The reply.
    /// - Throws: The same errors as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func request<Reply: Decodable>(
        _ name: String,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration
    ) throws(SpaceError) -> Reply {
        try request(name, Value.null, as: type, ifAbsent: absent, timeout: timeout)
    }

    /// Asks and waits, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
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
        try attempt(Requesting.operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            let request = OutgoingRequest(name: name, argument: try encodedArgument(argument))
            return Requesting(core, request, absent, timeout: timeout)
        }
    }

    func encodedArgument(_ argument: some Encodable) throws(SpaceError) -> [UInt8] {
        try core.attempt(Requesting.operation) { () throws(SpaceError) in
            try Value(checking: argument).checkedElement()
        }
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
