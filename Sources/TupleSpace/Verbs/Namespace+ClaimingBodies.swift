public import TupleCoding

// Claims with a body, which suit most uses: the claim is completed if the body returns, and the tuple returns to its
// place if the body throws; with `keeping: true` it returns in both cases.
//
//     try await jobs.claim("resize", any(Int.self), any(String.self)) { _, id, file in … }
//     try await lab.claim("gpu", any(Int.self), keeping: true) { _, number in … }

extension Namespace {
    /// Claims a tuple as soon as there is one that matches, runs `body` with its fields, and completes the claim.
    ///
    /// ```swift
    /// try await jobs.claim("resize", any(Int.self), any(String.self)) { _, id, file in
    ///     try await resize(file)
    /// }
    /// ```
    ///
    /// The tuple returns to its place if `body` throws, at the deadline, and when the process ends, in whatever way. If
    /// the task is cancelled while it waits, the wait ends. If the task is cancelled while `body` runs, `body` has to
    /// notice the cancellation, and throw.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most, on a clock that also runs while the machine sleeps; `nil`: until
    ///     `body` returns or the process ends.
    ///   - keeping: Whether the tuple returns to its place even if `body` returns, as in ``Claim/complete(keeping:)``:
    ///     then the processes that wait for it go first.
    ///   - body: The work. It runs where the caller runs.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws; `cancelled` if the task was cancelled while it waited; `claimLost` if the tuple
    ///   returned at its deadline before `body` did: then another process may have done the same work.
    nonisolated(nonsending) public func claim<each M: Matcher, Result>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        keeping: Bool = false,
        _ body: (repeat (each M).Matched) async throws -> Result
    ) async throws -> Result {
        let claim: Claim<(repeat (each M).Matched)> = try await claim(
            repeat each matcher,
            order: order,
            deadline: deadline
        )
        return try await claim.run(keeping: keeping) { () async throws -> Result in
            try await body(repeat each claim.content)
        }
    }

    /// Claims a tuple that matches, runs `body` with its fields, and completes the claim; `nil` if the time-out passes
    /// first.
    ///
    /// In all else this form is like the one without a time-out.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most; `nil`: until `body` returns or the process ends.
    ///   - keeping: Whether the tuple returns to its place even if `body` returns, as in ``Claim/complete(keeping:)``:
    ///     then the processes that wait for it go first.
    ///   - timeout: How long to wait for a match; zero looks once.
    ///   - body: The work. It runs where the caller runs; the time-out does not limit it.
    /// - Returns: The result of `body`; `nil` if the time-out passes without a match.
    /// - Throws: What `body` throws; `cancelled` if the task was cancelled while it waited; `claimLost` if the tuple
    ///   returned at its deadline before `body` did.
    nonisolated(nonsending) public func claim<each M: Matcher, Result>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        keeping: Bool = false,
        timeout: Duration,
        _ body: (repeat (each M).Matched) async throws -> Result
    ) async throws -> Result? {
        let claim: Claim<(repeat (each M).Matched)>? = try await claim(
            repeat each matcher,
            order: order,
            deadline: deadline,
            timeout: timeout
        )
        guard let claim else { return nil }
        return try await claim.run(keeping: keeping) { () async throws -> Result in
            try await body(repeat each claim.content)
        }
    }

    /// Claims a tuple that matches, runs `body` with its fields, and completes the claim; `nil` if the time-out passes
    /// first.
    ///
    /// The wait blocks the thread. In all else this form is like the one without a time-out.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most; `nil`: until `body` returns or the process ends.
    ///   - keeping: Whether the tuple returns to its place even if `body` returns, as in ``Claim/complete(keeping:)``:
    ///     then the processes that wait for it go first.
    ///   - timeout: How long to wait for a match; zero looks once.
    ///   - body: The work.
    /// - Returns: The result of `body`; `nil` if the time-out passes without a match.
    /// - Throws: What `body` throws, and `claimLost` if the tuple returned at its deadline before `body` did.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func claim<each M: Matcher, Result>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        keeping: Bool = false,
        timeout: Duration,
        _ body: (repeat (each M).Matched) throws -> Result
    ) throws -> Result? {
        guard let claim = try claim(repeat each matcher, order: order, deadline: deadline, timeout: timeout) else {
            return nil
        }
        return try claim.run(keeping: keeping) { () throws -> Result in try body(repeat each claim.content) }
    }

    /// Claims a tuple that matches, runs `body` with what the selection makes of it, and completes the claim; `nil` if the
    /// time-out passes first.
    ///
    /// It works like the form for fields.
    ///
    /// - Throws: What `body` throws, `cancelled`, `claimLost`.
    nonisolated(nonsending) public func claim<Content, Result>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        keeping: Bool = false,
        timeout: Duration,
        _ body: (Content) async throws -> Result
    ) async throws -> Result? {
        let claim = try await claim(matching: selection, order: order, deadline: deadline, timeout: timeout)
        guard let claim else { return nil }
        return try await claim.run(keeping: keeping) { () async throws -> Result in try await body(claim.content) }
    }

    /// Claims a tuple as soon as there is one that matches, runs `body` with what the selection makes of it, and completes
    /// the claim.
    ///
    /// ```swift
    /// try await jobs.claim(matching: .record(Job.self, ["kind": "resize"])) { job in try await resize(job.file) }
    /// ```
    ///
    /// It works like the form for fields.
    ///
    /// - Throws: What `body` throws, `cancelled`, `claimLost`.
    nonisolated(nonsending) public func claim<Content, Result>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        keeping: Bool = false,
        _ body: (Content) async throws -> Result
    ) async throws -> Result {
        let claim = try await claim(matching: selection, order: order, deadline: deadline)
        return try await claim.run(keeping: keeping) { () async throws -> Result in try await body(claim.content) }
    }
}

extension Claim {
    /// Completes the claim if `body` returns, and releases the tuple if `body` throws.
    nonisolated(nonsending) func run<Result>(keeping: Bool, _ body: () async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body()
        } catch {
            // A claim that can't be released now is released when it goes out of scope.
            try? release()
            throw error
        }
        try complete(keeping: keeping)
        if keeping { await state.namespace.core.waits.letWaiterGoFirst(id) }
        return result
    }

    func run<Result>(keeping: Bool, _ body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            try? release()
            throw error
        }
        try complete(keeping: keeping)
        if keeping { state.namespace.core.waits.letWaiterGoFirst(id) }
        return result
    }
}
