import SpaceSystem

// Requests: asking the responders to a name.

extension Namespace {
    /// Asks the responders to a name, and awaits the reply without a limit.
    ///
    /// ```swift
    /// let sum: Int = try await jobs.request("add", 1, 2)
    /// let size: Int? = try await jobs.request("resize", "cat.png", timeout: .seconds(2))
    /// ```
    ///
    /// If the responder that is answering dies, the next one below is asked; each responder is asked once at most. If
    /// this process dies or the task is cancelled, the request is taken back, and a handler that has begun it is
    /// cancelled. A stopped responder does not answer before it goes on: if that matters, give a time-out.
    ///
    /// - Parameters:
    ///   - name: The name that the responders answer to.
    ///   - argument: The arguments of the request: any `Codable` values, together up to 64 MiB encoded. The request
    ///     carries no argument as null, one as it is, and several as an array.
    ///   - type: The type of the reply.
    ///   - absent: What happens if there is no responder.
    /// - Returns: The reply.
    /// - Throws: `responderFailed` with the description of the responder's error; `noResponder`; `cancelled`; `badData` for
    ///   a reply of another type; `typeMismatch`, `tooLarge`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`.
    public func request<each Argument: Encodable, Reply: Decodable & Sendable>(
        _ name: String,
        _ argument: repeat each Argument,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails
    ) async throws(SpaceError) -> Reply {
        let asked = try requesting(name, try encodedArguments(repeat each argument), absent, nil)
        return try decoded(try await asked.suspend(), of: name)
    }

    /// Asks the responders to a name, and awaits the reply; `nil` if the time-out passes first: then the request is taken
    /// back, and a handler that has begun it is cancelled.
    ///
    /// For a reply of any type, which the caller may ignore, use `as: Value.self`.
    ///
    /// - Throws: The same errors as ``request(_:_:as:ifAbsent:)``.
    public func request<each Argument: Encodable, Reply: Decodable & Sendable>(
        _ name: String,
        _ argument: repeat each Argument,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration
    ) async throws(SpaceError) -> Reply? {
        let asked = try requesting(name, try encodedArguments(repeat each argument), absent, timeout)
        guard let reply = try await asked.suspendUnlessLate() else { return nil }
        return try decoded(reply, of: name) as Reply
    }

    /// Asks the responders to a name, and awaits the end of the request without a limit; the reply is ignored.
    ///
    /// ```swift
    /// try await jobs.request("sayHello")
    /// ```
    ///
    /// - Throws: The same errors as ``request(_:_:as:ifAbsent:)``.
    public func request<each Argument: Encodable>(
        _ name: String,
        _ argument: repeat each Argument,
        ifAbsent absent: AbsentResponder = .fails
    ) async throws(SpaceError) {
        _ = try await requesting(name, try encodedArguments(repeat each argument), absent, nil).suspend()
    }

    /// Asks the responders to a name, and waits for the reply; `nil` if the time-out passes first.
    ///
    /// Blocks the thread. Otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func request<each Argument: Encodable, Reply: Decodable>(
        _ name: String,
        _ argument: repeat each Argument,
        as type: Reply.Type = Reply.self,
        ifAbsent absent: AbsentResponder = .fails,
        timeout: Duration
    ) throws(SpaceError) -> Reply? {
        let asked = try requesting(name, try encodedArguments(repeat each argument), absent, timeout)
        guard let reply = try asked.blockUnlessLate() else { return nil }
        return try decoded(reply, of: name) as Reply
    }

    /// Asks and waits for a command, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
    ///
    /// - Throws: `timedOut`, which names the process that was asked.
    package func requestBlocking(
        _ name: String,
        value: Value,
        ifAbsent absent: AbsentResponder,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Value {
        let asked = try requesting(name, value: value, ifAbsent: absent, timeout: timeout)
        return try decoded(try asked.block(interruption: interruption), of: name)
    }

    /// A request that its user carries out, blocking the thread or suspending the task.
    package func requesting(
        _ name: String,
        value: Value,
        ifAbsent absent: AbsentResponder,
        timeout: Duration?
    ) throws(SpaceError) -> Requesting {
        try requesting(name, try encodedArgument(value), absent, timeout)
    }

    /// Asks the next responder within a request that a responder of another process is answering, blocking the thread.
    ///
    /// - Parameters:
    ///   - word: The request (`RequestInHand.word`).
    ///   - value: The argument; `nil` for the same as the request's.
    ///   - timeout: The timeout, or `nil` for as long as the request has time.
    ///   - interruption: Ends the wait.
    /// - Returns: The reply.
    /// - Throws: `invalidArgument` for a word that names no request; `noResponder` if no reply is wanted any more.
    package func requestNextBlocking(
        of word: String,
        value: Value?,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Value {
        let asked = try requestingNext(of: word, value: value, timeout: timeout)
        return try decoded(try asked.block(interruption: interruption), of: asked.request.name)
    }

    /// A request within another one, as ``requestNextBlocking(of:value:timeout:interruption:)`` makes it.
    package func requestingNext(of word: String, value: Value?, timeout: Duration?) throws(SpaceError) -> Requesting {
        try attempt(Requesting.operation) { (core) throws(SpaceError) -> Requesting in
            let request = try core.requests.request(atHand: word)
            let outgoing = OutgoingRequest(
                name: request.name,
                argument: try value.map { (value) throws(SpaceError) in try encodedArgument(value) }
                    ?? request.argument,
                below: request.position,
                reached: request.reached,
                within: request.asking,
                deadline: request.deadline
            )
            let remaining = core.requests.remaining(of: request).map { $0 + .seconds(1) }
            let limits = [remaining, timeout].compactMap { $0 }
            return Requesting(core, outgoing, .fails, timeout: limits.min())
        }
    }

    // MARK: Helpers

    private func requesting(
        _ name: String,
        _ argument: [UInt8],
        _ absent: AbsentResponder,
        _ timeout: Duration?
    ) throws(SpaceError) -> Requesting {
        try attempt(Requesting.operation) { (core) throws(SpaceError) in
            try Limits.check(objectName: name)
            return Requesting(core, OutgoingRequest(name: name, argument: argument), absent, timeout: timeout)
        }
    }

    /// Several arguments as one encoded element: none is null, one is itself, and more are an array.
    private func encodedArguments<each Argument: Encodable>(
        _ argument: repeat each Argument
    ) throws(SpaceError) -> [UInt8] {
        var values: [Value] = []
        try core.naming(Requesting.operation) { () throws(SpaceError) in
            for argument in repeat each argument { values.append(try Value(checking: argument)) }
        }
        return try encodedArgument(values.count == 1 ? values[0] : values.isEmpty ? .null : .array(values))
    }

    func encodedArgument(_ argument: some Encodable) throws(SpaceError) -> [UInt8] {
        try core.naming(Requesting.operation) { () throws(SpaceError) in
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
