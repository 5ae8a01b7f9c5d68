import SpaceSystem
public import TupleCoding

// Claiming: a take that can be undone. A tuple that does not decode stays in the namespace, and a wait that throws has
// claimed nothing. `Namespace+Finding` describes the forms.

extension Namespace {
    // MARK: Templates

    /// Claims the first tuple that matches; `nil` if none does.
    public func claimIfExists(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) throws(SpaceError) -> Claim<Tuple>? {
        guard let held = try hold(template, order, deadline, .none, { _ in }) else { return nil }
        return Claim(held.hold, held.hold.claim.tuple)
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
        guard let held = try hold(template, order, deadline, .waiting(timeout), { _ in }) else { return nil }
        return Claim(held.hold, held.hold.claim.tuple)
    }

    /// Claims a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    public func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<Tuple> {
        let held = try await holdSuspending(template, order, deadline, timeout: nil) { _ in }.orEnded()
        return Claim(held.hold, held.hold.claim.tuple)
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
        guard let held = try await holdSuspending(template, order, deadline, timeout: timeout, { _ in }) else {
            return nil
        }
        return Claim(held.hold, held.hold.claim.tuple)
    }

    /// Claims the tuple with an id; `nil` if there is no visible tuple with it.
    ///
    /// - Complexity: O(log n).
    public func claimIfExists(id: TupleID, deadline: Duration? = nil) throws(SpaceError) -> Claim<Tuple>? {
        let claim = try attempt("claim") { (core) throws(SpaceError) in
            try core.claim(id: id, try core.prepareClaim(deadline))
        }
        guard let claim else { return nil }
        return Claim(OwnClaim(claim, in: self), claim.tuple)
    }

    // MARK: Matchers

    /// Claims the first tuple that matches, as typed fields; `nil` if none does.
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
        try claim(order, deadline, within: nil, repeat each matcher)
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
        try claim(order, deadline, within: timeout, repeat each matcher)
    }

    /// Claims a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    @inlinable
    public func claim<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<repeat (each M).Matched> {
        try await claim(order, deadline, awaiting: nil, repeat each matcher).orEnded()
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    @inlinable
    public func claim<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) async throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        try await claim(order, deadline, awaiting: timeout, repeat each matcher)
    }

    // MARK: Records

    /// Claims the first record that matches, decoded; `nil` if none does.
    public func claimIfExists<Content: Decodable & Sendable>(
        _ type: Content.Type,
        matching template: Template,
        deadline: Duration? = nil
    ) throws(SpaceError) -> Claim<Content>? {
        let held = try hold(template, .oldestFirst, deadline, .none) { (match) throws(SpaceError) in
            try match.tuple().content(type)
        }
        guard let held else { return nil }
        return Claim(held.hold, held.content)
    }

    /// Claims a record that matches as soon as there is one, decoded.
    ///
    /// - Throws: `cancelled` if the task is cancelled, and `badData` for a record that doesn't decode.
    public func claim<Content: Decodable & Sendable>(
        _ type: Content.Type,
        matching template: Template,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<Content> {
        let held = try await holdSuspending(template, .oldestFirst, deadline, timeout: nil) {
            (match) throws(SpaceError) in
            try match.tuple().content(type)
        }.orEnded()
        return Claim(held.hold, held.content)
    }

    // MARK: The verb

    /// A claim as its owner has it, and the decoded content of its tuple.
    typealias Held<Content> = (hold: OwnClaim, content: Content)

    /// Claims a match, on the calling thread.
    private func hold<Content>(
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ patience: Patience,
        _ decode: (Match) throws(SpaceError) -> Content
    ) throws(SpaceError) -> Held<Content>? {
        try attempt("claim") { (core) throws(SpaceError) in
            let terms = try core.prepareClaim(deadline)
            let claimed = try core.claim(template, order, terms, patience, decode)
            return claimed.map { (OwnClaim($0.claim, in: self), $0.content) }
        }
    }

    /// Waits for a match to claim; the task is suspended.
    ///
    /// `first` is the first look if it was made.
    private func holdSuspending<Content>(
        after first: FirstLook? = nil,
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        timeout: Duration?,
        _ decode: (Match) throws(SpaceError) -> Content
    ) async throws(SpaceError) -> Held<Content>? {
        try await attempt(suspending: "claim") { (core) async throws(SpaceError) in
            let terms = try core.prepareClaim(deadline)
            let claimed = try await core.suspend(for: template, isTaking: true, after: first, timeout: timeout) {
                () throws(SpaceError) in
                try core.lookToClaim(template, order, terms, decode)
            }
            return claimed.map { (OwnClaim($0.claim, in: self), $0.content) }
        }
    }

    /// Claims a match for matchers, and decodes its fields in the caller, which knows their types.
    @inlinable
    @inline(__always)
    func claim<each M: Matcher>(
        _ order: MatchOrder,
        _ deadline: Duration?,
        within timeout: Duration?,
        _ matcher: repeat each M
    ) throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        let template = try template(for: .claim, repeat each matcher)
        let held = try hold(template, order, deadline, within: timeout) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
        guard let held else { return nil }
        return Claim(held.hold, repeat each held.fields)
    }

    /// Claims a match for matchers; the task is suspended until there is one, or `timeout` has passed.
    @inlinable
    @inline(__always)
    func claim<each M: Matcher>(
        _ order: MatchOrder,
        _ deadline: Duration?,
        awaiting timeout: Duration?,
        _ matcher: repeat each M
    ) async throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        let template = try template(for: .claim, repeat each matcher)
        var first = FirstLook(timeout: timeout)
        let held = try look(&first, toClaim: template, order, deadline) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
        if let held { return Claim(held.hold, repeat each held.fields) }
        return try await wait(after: first, toClaim: template, order, deadline, repeat each matcher)
    }

    /// Makes the first look of a wait.
    @inlinable
    func look<Fields>(
        _ first: inout FirstLook,
        toClaim template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> (hold: OwnClaim, fields: Fields)? {
        var fields: Fields?
        let hold = try carryOutClaim(&first, template, order, deadline) { (decoder) throws(TupleCodingError) in
            fields = try decode(&decoder)
        }
        guard let hold, let fields else { return nil }
        return (hold, fields)
    }

    /// Makes the first look of a wait, without generics.
    @usableFromInline
    func carryOutClaim(
        _ first: inout FirstLook,
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(SpaceError) -> OwnClaim? {
        try attempt("claim") { (core) throws(SpaceError) in
            let terms = try core.prepareClaim(deadline)
            let found = try first.make(in: core) { () throws(SpaceError) in
                try core.lookToClaim(template, order, terms) { (match) throws(SpaceError) in try match.decode(decode) }
            }
            return found.map { OwnClaim($0.result.claim, in: self) }
        }
    }

    /// Waits for a match after a first look that found none.
    @usableFromInline
    func wait<each M: Matcher>(
        after first: FirstLook,
        toClaim template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ matcher: repeat each M
    ) async throws(SpaceError) -> Claim<repeat (each M).Matched>? {
        let held = try await holdSuspending(after: first, template, order, deadline, timeout: nil) {
            (match) throws(SpaceError) in
            try match.fields(repeat each matcher)
        }
        guard let held else { return nil }
        return Claim(held.hold, repeat each held.content)
    }

    @inlinable
    func hold<Fields>(
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Fields
    ) throws(SpaceError) -> (hold: OwnClaim, fields: Fields)? {
        var fields: Fields?
        let hold = try carryOutClaim(template, order, deadline, within: timeout) {
            (decoder) throws(TupleCodingError) in
            fields = try decode(&decoder)
        }
        guard let hold, let fields else { return nil }
        return (hold, fields)
    }

    /// Claims, without generics.
    @usableFromInline
    func carryOutClaim(
        _ template: Template,
        _ order: MatchOrder,
        _ deadline: Duration?,
        within timeout: Duration?,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(SpaceError) -> OwnClaim? {
        try hold(template, order, deadline, timeout.map { .waiting($0) } ?? .none) { (match) throws(SpaceError) in
            try match.decode(decode)
        }?.hold
    }
}
