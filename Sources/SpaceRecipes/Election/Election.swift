/// The election of one leader among candidate processes.
///
/// ```swift
/// try await cluster.election("scheduler").lead { term in
///     while !Task.isCancelled { try await schedule(fencing: term) }
/// }
/// ```
///
/// The oldest candidate leads; when the leader resigns or dies, the next candidate leads. The number of a term (the
/// fencing number) is greater than that of every earlier term. A stopped leader cannot be distinguished from a slow
/// one, so it remains leader until a process deposes it. Then the next term begins at once. The old leader learns of
/// its loss when it runs again.
public struct Election: SharedObject, TurnHandle {
    package let object: ObjectReference

    /// The request of a candidate with a value.
    package func request(_ value: Value) throws(SpaceError) -> PlaceRequest {
        try namespace.core.naming("acquire an election") { () throws(SpaceError) in try Self.check(value) }
        return PlaceRequest(name: name, kind: .election, rules: TurnRules(), details: value)
    }

    /// The request of a candidate; throws `badData` if its content doesn't encode.
    private func request(_ content: some Encodable) throws(SpaceError) -> PlaceRequest {
        if let value = content as? Value { return try request(value) }
        return try request(
            try namespace.core.naming("acquire an election") { () throws(SpaceError) in try Value(checking: content) }
        )
    }

    private static func check(_ value: Value) throws(SpaceError) {
        let size = try value.uncheckedElement().count
        guard size <= Limits.candidateBytes else {
            throw .tooLarge("a candidate's value", bytes: size, most: Limits.candidateBytes, ": a name, an address")
        }
    }

    /// Stands for leadership without a limit of time, runs `body` as leader, and resigns when `body` ends.
    ///
    /// - Parameters:
    ///   - content: What other processes see while this one leads, such as its address; see ``stand(as:onLoss:)``.
    ///   - body: The work; it gets the number of the term. Its task is cancelled when leadership is lost, and when the
    ///     caller's task is.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body` and of ``stand(as:onLoss:)``; `holdLost` if leadership was lost before
    ///   `body` returned.
    public func lead<Result: Sendable>(
        as content: some Encodable & Sendable = Value.null,
        _ body: @escaping @Sendable (_ term: UInt64) async throws -> Result
    ) async throws -> Result {
        try await lead(with: try await stand(as: content), body)
    }

    /// Stands for leadership, and runs `body` as leader, unless the time passes first; `nil` if it did, and `body` did not
    /// run.
    public func lead<Result: Sendable>(
        as content: some Encodable & Sendable = Value.null,
        timeout: Duration,
        _ body: @escaping @Sendable (_ term: UInt64) async throws -> Result
    ) async throws -> Result? {
        guard let hold = try await stand(as: content, timeout: timeout) else { return nil }
        return try await lead(with: hold, body)
    }

    /// Stands for leadership, and runs `body` as leader, unless the time passes first; `false` if it did, and `body` did not
    /// run.
    public func lead(
        as content: some Encodable & Sendable = Value.null,
        timeout: Duration,
        _ body: @escaping @Sendable (_ term: UInt64) async throws -> Void
    ) async throws -> Bool {
        let isDone: Void? = try await lead(as: content, timeout: timeout, body)
        return isDone != nil
    }

    private func lead<Result: Sendable>(
        with hold: consuming Hold,
        _ body: @escaping @Sendable (_ term: UInt64) async throws -> Result
    ) async throws -> Result {
        let (term, state) = (hold.fencing, hold.state)
        return try await hold.run { _ in
            try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    // The body runs in this task, and leadership ends once it has returned.
                    state.note(isScoped: true)
                    return try await body(term)
                }
                group.addTask {
                    // If this task was cancelled with the caller's, it has no loss to report: the result of the body
                    // counts.
                    guard let loss = try? await state.loss() else { return nil }
                    throw loss
                }
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let result = ended { return result }
                }
                throw CancellationError()
            }
        }
    }

    /// Stands for leadership, and waits without a limit until this process leads.
    ///
    /// - Parameters:
    ///   - content: What other processes see while this one leads: any `Codable`, up to 256 bytes encoded.
    ///   - onLoss: Called once, on any thread, if leadership is lost without resigning: the leader was deposed, the
    ///     namespace was deleted, the process left it (with its last handle), or the session was taken for dead.
    /// - Returns: The leadership, which ends when it goes out of scope; its ``Hold/fencing`` is the number of the term.
    /// - Throws: `wouldDeadlock` if the task that stands already leads; `cancelled` if the task is cancelled;
    ///   `typeMismatch` if the name belongs to another kind of object; `tooLarge`, `badData` for the content; and the
    ///   errors of every write.
    public func stand(
        as content: some Encodable = Value.null,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) async throws(SpaceError) -> Hold {
        try await namespace.acquireSuspending(try request(content), onLoss: onLoss)
    }

    /// Stands for leadership, and waits until this process leads; `nil` if the time-out passes first.
    ///
    /// - Throws: The same errors as ``stand(as:onLoss:)``.
    public func stand(
        as content: some Encodable = Value.null,
        timeout: Duration,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) async throws(SpaceError) -> Hold? {
        try await namespace.acquireSuspending(try request(content), timeout: timeout, onLoss: onLoss)
    }

    /// Stands for leadership, and waits until this process leads; `nil` if the time-out passes first.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func stand(
        as content: some Encodable = Value.null,
        timeout: Duration,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) throws(SpaceError) -> Hold? {
        try namespace.acquireBlocking(try request(content), timeout: timeout, onLoss: onLoss)
    }

    // MARK: The leader

    /// The leader at this moment, or `nil` if there is none.
    ///
    /// - Returns: The number of its term, its value and its process.
    /// - Throws: The errors of every read.
    public func leader() throws(SpaceError) -> Leader? {
        try namespace.attempt("look who leads") { (core) throws(SpaceError) in
            guard let row = try core.places.firstLivingHolder(name, .election) else { return nil }
            return Leader(term: row.ticket, value: row.details, pid: core.places.pid(of: row.holder))
        }
    }

    /// Replaces the value of the present leader, which other processes see, while its term lasts.
    ///
    /// Watchers are told: ``ChangeKind/proclaim``.
    ///
    /// ```swift
    /// try await election.lead { term in
    ///     let server = try await listen()
    ///     try election.proclaim(server.address, term: term)
    ///     try await server.run()
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - content: The value: any `Codable`, up to 256 bytes encoded.
    ///   - term: The number of the caller's term.
    /// - Throws: `holdLost` if the term is over; `tooLarge`, `badData` for the value; and the errors of every write.
    public func proclaim(_ content: some Encodable, term: UInt64) throws(SpaceError) {
        try namespace.attempt("proclaim a leader's value") { (core) throws(SpaceError) in
            let value = try Value(checking: content)
            try Self.check(value)
            let row = try core.write(.removing) { scope throws(SpaceError) in
                try scope.places.proclaim(value, term, of: name)
            }
            if row == nil { throw .lost(Place(name: name, kind: .election, ticket: term, rules: TurnRules())) }
        }
    }

    /// Ends the term of the present leader, which may be stopped or stuck; the next candidate leads.
    ///
    /// - Parameter term: The term to end, or `nil` for the present one, whatever its number.
    /// - Returns: Whether there was such a leader.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object, and the errors of every write.
    @discardableResult
    public func depose(term: UInt64? = nil) throws(SpaceError) -> Bool {
        try namespace.attempt("depose the leader") { (core) throws(SpaceError) in
            try core.write(.removing) { scope throws(SpaceError) in
                guard let row = try scope.snapshot.firstHolder(name, .election), term == nil || term == row.ticket
                else { return false }
                try scope.places.remove(row.ticket, of: name, by: TurnRules())
                return true
            }
        }
    }
}

extension Limits {
    /// The largest value of a candidate in an election, encoded.
    package static let candidateBytes = 256
}

extension Namespace {
    /// The election with a name.
    ///
    /// - Parameter name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    /// - Returns: The election; nothing is written before a process stands.
    public func election(_ name: String) -> Election { Election(object: ObjectReference(.election, name, in: self)) }
}
