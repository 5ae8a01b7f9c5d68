import SpaceSystem
public import TupleCoding

// Claims: takes that can be undone. Each claim has the forms of a take, and a form with a body, which suits most uses:
// it completes the claim if the body returns, and puts the tuple back if the body throws.
//
//     try await jobs.claim("resize", any(Int.self), any(String.self)) { _, id, file in … }

extension Namespace {
    // MARK: With a body

    /// Claims a tuple as soon as there is one that matches, runs `body` with its fields, and completes the claim.
    ///
    /// ```swift
    /// try await jobs.claim("resize", any(Int.self), any(String.self)) { _, id, file in
    ///     try await resize(file)
    /// }
    /// ```
    ///
    /// The tuple returns to its place if `body` throws, at the deadline, and when the process ends, in whatever way. If
    /// the task is cancelled while it waits, the wait ends. If it is cancelled while `body` runs, `body` has to notice
    /// that, and throw.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most, on a clock that also runs while the machine sleeps; `nil`: until
    ///     `body` returns or the process ends.
    ///   - body: The work. It runs where the caller runs.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws; `cancelled` if the task was cancelled while it waited; `claimLost` if the tuple
    ///   returned at its deadline before `body` did: then another process may have done the same work.
    nonisolated(nonsending) public func claim<each M: Matcher, Result>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        _ body: (repeat (each M).Matched) async throws -> Result
    ) async throws -> Result {
        let claim: Claim<repeat (each M).Matched> = try await claim(
            repeat each matcher,
            order: order,
            deadline: deadline
        )
        return try await claim.run { () async throws -> Result in try await body(repeat each claim.fields) }
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
    ///   - timeout: How long to wait for a match; zero looks once.
    ///   - body: The work.
    /// - Returns: The result of `body`; `nil` if the time-out passes without a match.
    /// - Throws: What `body` throws, and `claimLost` if the tuple returned at its deadline before `body` did.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func claim<each M: Matcher, Result>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration,
        _ body: (repeat (each M).Matched) throws -> Result
    ) throws -> Result? {
        guard let claim = try claim(repeat each matcher, order: order, deadline: deadline, timeout: timeout) else {
            return nil
        }
        return try claim.run { () throws -> Result in try body(repeat each claim.fields) }
    }

    /// Claims a tuple as soon as there is one that matches, runs `body` with it, and completes the claim.
    ///
    /// It works like the typed form, for templates that are values.
    ///
    /// - Throws: What `body` throws, `cancelled`, `claimLost`.
    nonisolated(nonsending) public func claim<Result>(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        _ body: (Tuple) async throws -> Result
    ) async throws -> Result {
        let claim = try await claim(matching: template, order: order, deadline: deadline)
        return try await claim.run { () async throws -> Result in try await body(claim.tuple) }
    }

    /// Claims a record as soon as there is one that matches, runs `body` with it decoded, and completes the claim.
    ///
    /// It works like the typed form, for `Codable` records.
    ///
    /// - Throws: What `body` throws, `cancelled`, `claimLost`, and `badData` for a record that doesn't decode; the
    ///   record then stays in the namespace.
    nonisolated(nonsending) public func claim<Content: Decodable & Sendable, Result>(
        _ type: Content.Type,
        matching template: Template,
        deadline: Duration? = nil,
        _ body: (Content) async throws -> Result
    ) async throws -> Result {
        let claim = try await claim(type, matching: template, deadline: deadline)
        return try await claim.run { () async throws -> Result in try await body(claim.fields) }
    }

    // MARK: Typed

    /// Claims the first tuple that matches; `nil` if none does.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most; `nil`: until it is ended.
    /// - Returns: The claim, which releases the tuple if it goes out of scope without having been ended.
    /// - Throws: What ``takeIfExists(_:order:)`` throws; then nothing was claimed.
    @inlinable
    public func claimIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        let held = try hold(try template("claim", repeat each matcher), order, deadline, within: nil) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
        guard let held else { return nil }
        return Claim(held.hold, repeat each held.fields)
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    ///
    /// - Parameters:
    ///   - matcher: The template: an actual, a formal, a range or a pattern for each field.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most; `nil`: until it is ended.
    ///   - timeout: How long to wait for a match; zero looks once.
    /// - Returns: The claim; `nil` if the time-out passes first, and then nothing was claimed.
    /// - Throws: What ``takeIfExists(_:order:)`` throws; then nothing was claimed.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func claim<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        let held = try hold(try template("claim", repeat each matcher), order, deadline, within: timeout) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
        guard let held else { return nil }
        return Claim(held.hold, repeat each held.fields)
    }

    /// Claims a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    public func claim<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<repeat (each M).Matched> {
        let (core, terms) = try claimingCore(deadline)
        let template = try template("claim", repeat each matcher)
        let claimed = try await core.claimSuspending(template, order, terms, timeout: nil) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }.orEnded("claim", name)
        return Claim(OwnClaim(claimed.claim, in: self), repeat each claimed.content)
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    public func claim<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) async throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        let (core, terms) = try claimingCore(deadline)
        let template = try template("claim", repeat each matcher)
        let claimed = try await core.claimSuspending(template, order, terms, timeout: timeout) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
        guard let claimed else { return nil }
        return Claim(OwnClaim(claimed.claim, in: self), repeat each claimed.content)
    }

    /// Claims a match, and decodes its fields in the caller, which knows their types.
    ///
    /// `timeout` says how long the thread may block; `nil` looks once, without waiting.
    @inlinable
    package func hold<Fields>(
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> (hold: OwnClaim, fields: Fields)? {
        var fields: Fields?
        let hold = try hold(
            template,
            order,
            deadline,
            within: timeout,
            decoding: {
                (decoder) throws(TupleCodingError) in
                fields = try decode(&decoder)
            }
        )
        guard let hold, let fields else { return nil }
        return (hold, fields)
    }

    /// Claims a match, without generics.
    ///
    /// The last call of `decode` is for the tuple that was claimed. There may be earlier calls, for tuples that other
    /// processes took first.
    @usableFromInline
    func hold(
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        within timeout: Duration?,
        decoding decode: (inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(SpaceError) -> OwnClaim? {
        let (core, terms) = try claimingCore(deadline)
        let claimed =
            if let timeout {
                try core.claimBlocking(template, order, terms, timeout: timeout) { (match) throws(SpaceError) in
                    try match.decode(decode)
                }
            } else {
                try core.claimIfExists(template, order, terms) { (match) throws(SpaceError) in
                    try match.decode(decode)
                }
            }
        guard let claimed else { return nil }
        return OwnClaim(claimed.claim, in: self)
    }

    // MARK: With templates that are values

    /// Claims the first tuple that matches; `nil` if none does.
    public func claimIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) throws(SpaceError) -> Claim<Tuple>? {
        let (core, terms) = try claimingCore(deadline)
        guard let claimed = try core.claimIfExists(template, order, terms, decode: Self.nothingMore) else { return nil }
        return Claim(OwnClaim(claimed.claim, in: self), claimed.claim.tuple)
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) throws(SpaceError) -> Claim<Tuple>? {
        let claim = try claimBlocking(
            matching: template,
            order: order,
            deadline: deadline,
            timeout: timeout,
            interruption: nil
        )
        guard let claim else { return nil }
        return Claim(OwnClaim(claim, in: self), claim.tuple)
    }

    /// Claims with a wait that blocks the thread; if `timeout` is `nil`, only the interruption ends the wait early.
    package func claimBlocking(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration?,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        let (core, terms) = try claimingCore(deadline)
        return try core.claimBlocking(
            template,
            order,
            terms,
            timeout: timeout,
            interruption: interruption,
            decode: Self.nothingMore
        )?.claim
    }

    /// Claims a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    public func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<Tuple> {
        let (core, terms) = try claimingCore(deadline)
        let claimed = try await core.claimSuspending(template, order, terms, timeout: nil, decode: Self.nothingMore)
            .orEnded("claim", name)
        return Claim(OwnClaim(claimed.claim, in: self), claimed.claim.tuple)
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    public func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) async throws(SpaceError) -> Claim<Tuple>? {
        let (core, terms) = try claimingCore(deadline)
        let claimed = try await core.claimSuspending(template, order, terms, timeout: timeout, decode: Self.nothingMore)
        guard let claimed else { return nil }
        return Claim(OwnClaim(claimed.claim, in: self), claimed.claim.tuple)
    }

    /// Claims the tuple with an id; `nil` if there is no visible tuple with it.
    ///
    /// - Complexity: O(log n).
    public func claimIfExists(id: TupleID, deadline: Duration? = nil) throws(SpaceError) -> Claim<Tuple>? {
        let (core, terms) = try claimingCore(deadline)
        guard let claimed = try core.claim(id: id, terms) else { return nil }
        return Claim(OwnClaim(claimed.claim, in: self), claimed.content)
    }

    private static func nothingMore(_: Match) throws(SpaceError) {}

    // MARK: Records

    /// Claims the first record that matches, decoded; `nil` if none does.
    public func claimIfExists<Content: Decodable & Sendable>(
        _ type: Content.Type,
        matching template: Template,
        deadline: Duration? = nil
    ) throws(SpaceError) -> Claim<Content>? {
        let (core, terms) = try claimingCore(deadline)
        let claimed = try core.claimIfExists(template, .oldestFirst, terms) { (match) throws(SpaceError) in
            try match.tuple().content(type, "claim", name)
        }
        guard let claimed else { return nil }
        return Claim(OwnClaim(claimed.claim, in: self), claimed.content)
    }

    /// Claims a record that matches as soon as there is one, decoded.
    ///
    /// - Throws: `cancelled` if the task is cancelled, and `badData` for a record that doesn't decode; the record then
    ///   stays in the namespace.
    public func claim<Content: Decodable & Sendable>(
        _ type: Content.Type,
        matching template: Template,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<Content> {
        let (core, terms) = try claimingCore(deadline)
        let claimed = try await core.claimSuspending(template, .oldestFirst, terms, timeout: nil) {
            (match) throws(SpaceError) in
            try match.tuple().content(type, "claim", name)
        }.orEnded("claim", name)
        return Claim(OwnClaim(claimed.claim, in: self), claimed.content)
    }
}

extension Claim {
    /// Completes the claim if `body` returns, and releases the tuple if `body` throws.
    nonisolated(nonsending) func run<Result>(_ body: () async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body()
        } catch {
            // A claim that can't be released now is released when it goes out of scope.
            try? release()
            throw error
        }
        try complete()
        return result
    }

    package func run<Result>(_ body: () throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body()
        } catch {
            try? release()
            throw error
        }
        try complete()
        return result
    }
}
