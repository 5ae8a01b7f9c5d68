import SpaceSystem
public import TupleCoding

// Claiming: a take that can be undone. A tuple that does not decode stays in the namespace, and a wait that throws has
// claimed nothing.

extension Namespace {
    // MARK: Selections

    /// Claims the first tuple that matches; `nil` if none does.
    ///
    /// - Parameters:
    ///   - selection: What to claim.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most; `nil`: until it is ended.
    /// - Returns: The claim, which releases the tuple if it goes out of scope without having been ended.
    /// - Throws: What ``takeIfExists(matching:order:)`` throws; then nothing was claimed.
    @inlinable
    public func claimIfExists<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) throws(SpaceError) -> Claim<Content>? {
        try claim(selection.form, order, deadline, .none, selection.decode)
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// Blocks the thread.
    @inlinable
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func claim<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) throws(SpaceError) -> Claim<Content>? {
        try claim(selection.form, order, deadline, .upTo(timeout), selection.decode)
    }

    /// Claims a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    @inlinable
    public func claim<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<Content> {
        try await claim(selection.form, order, deadline, awaiting: .forever, selection.decode).orEnded()
    }

    /// Claims a tuple that matches as soon as there is one; `nil` if the time-out passes first.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    @inlinable
    public func claim<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        timeout: Duration
    ) async throws(SpaceError) -> Claim<Content>? {
        try await claim(selection.form, order, deadline, awaiting: .upTo(timeout), selection.decode)
    }

    /// Claims the tuple with an id; `nil` if there is no visible tuple with it.
    ///
    /// - Complexity: O(log n).
    public func claimIfExists(id: TupleID, deadline: Duration? = nil) throws(SpaceError) -> Claim<Tuple>? {
        let claim = try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            try core.claiming.claim(id: id, try core.claiming.prepareClaim(deadline))
        }
        guard let claim else { return nil }
        return Claim(OwnClaim(claim, in: self), claim.tuple)
    }

    // MARK: Fields

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
    ) throws(SpaceError) -> Claim<(repeat (each M).Matched)>? {
        try withTemplate(for: .claim, repeat each matcher) { (template) throws(SpaceError) in
            try claim(template, order, deadline, .none) { (decoder) throws(TupleCodingError) in
                try decoder.decodeMatched(repeat each matcher)
            }
        }
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
    ) throws(SpaceError) -> Claim<(repeat (each M).Matched)>? {
        try withTemplate(for: .claim, repeat each matcher) { (template) throws(SpaceError) in
            try claim(template, order, deadline, .upTo(timeout)) { (decoder) throws(TupleCodingError) in
                try decoder.decodeMatched(repeat each matcher)
            }
        }
    }

    /// Claims a tuple that matches as soon as there is one.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was claimed.
    @inlinable
    public func claim<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) async throws(SpaceError) -> Claim<(repeat (each M).Matched)> {
        let template = try template(for: .claim, repeat each matcher)
        return try await claim(template, order, deadline, awaiting: .forever) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }.orEnded()
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
    ) async throws(SpaceError) -> Claim<(repeat (each M).Matched)>? {
        let template = try template(for: .claim, repeat each matcher)
        return try await claim(template, order, deadline, awaiting: .upTo(timeout)) {
            (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    // MARK: With the content's type

    /// Claims a match, on the calling thread.
    @inlinable
    @inline(__always)
    func claim<Content>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ wait: Wait,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> Claim<Content>? {
        var content: Content?
        let claim = try carryOutClaim(template, order, deadline, wait) { (decoder) throws(TupleCodingError) in
            content = try decode(&decoder)
        }
        guard let claim, let content = content.take() else { return nil }
        return Claim(claim, content)
    }

    /// Claims a match; the task is suspended until there is one, or the time has passed.
    @inlinable
    @inline(__always)
    func claim<Content>(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ deadline: Duration?,
        awaiting wait: Wait,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) async throws(SpaceError) -> Claim<Content>? {
        var content: Content?
        var first = FirstLook(wait)
        var claim = try carryOutClaim(&first, template, order, deadline) { (decoder) throws(TupleCodingError) in
            content = try decode(&decoder)
        }
        if claim == nil {
            claim = try await carryOutClaim(after: first, template, order, deadline) {
                (decoder) throws(TupleCodingError) in
                content = try decode(&decoder)
            }
        }
        guard let claim, let content = content.take() else { return nil }
        return Claim(claim, content)
    }

    // MARK: Without it

    /// Claims a match, on the calling thread.
    @usableFromInline
    func carryOutClaim(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ wait: Wait,
        _ keep: Keeping
    ) throws(SpaceError) -> OwnClaim? {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            let terms = try core.claiming.prepareClaim(deadline)
            let claim = try core.looking.find(template, isTaking: true, wait) { (aim: inout Aim) throws(SpaceError) in
                try core.claiming.lookToClaim(template, order, terms, &aim, checkedBy: keep)
            }
            return claim.map { OwnClaim($0, in: self) }
        }
    }

    /// Makes the first look of a wait.
    @usableFromInline
    func carryOutClaim(
        _ first: inout FirstLook,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ keep: Keeping
    ) throws(SpaceError) -> OwnClaim? {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            if Task.isCancelled { throw .cancelled }
            let terms = try core.claiming.prepareClaim(deadline)
            let found = try first.make(in: core) { (aim: inout Aim) throws(SpaceError) in
                try core.claiming.lookToClaim(template, order, terms, &aim, checkedBy: keep)
            }
            return found.map { OwnClaim($0.result, in: self) }
        }
    }

    /// Waits after a first look that found nothing.
    @usableFromInline
    func carryOutClaim(
        after first: FirstLook,
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ deadline: Duration?,
        _ keep: Keeping
    ) async throws(SpaceError) -> OwnClaim? {
        try await attempt(suspending: Verb.claim.rawValue) { (core) async throws(SpaceError) in
            let terms = try core.claiming.prepareClaim(deadline)
            let claim = try await core.looking.suspend(for: template, isTaking: true, after: first) {
                (aim: inout Aim) throws(SpaceError) in
                try core.claiming.lookToClaim(template, order, terms, &aim, checkedBy: keep)
            }
            return claim.map { OwnClaim($0, in: self) }
        }
    }
}

extension Claiming {
    @inline(__always)
    fileprivate func lookToClaim(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        _ aim: inout Aim,
        checkedBy keep: Keeping
    ) throws(SpaceError) -> Found<HeldClaim>? {
        func checked(_ tuple: EncodedTuple) throws(TupleCodingError) -> Tuple {
            try tuple.decode(keep)
            return Tuple(trusting: Array(tuple.bytes), isRecord: tuple.isRecord)
        }
        if aim.takesFirst {
            let near = try core.looking.lookNear(template, order, checked) {
                (id, tuple) throws(SpaceError) -> Found<HeldClaim>? in
                guard case .removed(let made) = try core.execute(ClaimFound(Candidate(id), terms)) else { return nil }
                return Found(result: HeldClaim(id, made, tuple), removed: id.rawValue)
            }
            switch near {
            case .found(let found): return found
            case .nothing: return nil
            case .unknown: break
            }
        }
        return try lookToClaim(template, order, terms, &aim) { (match) throws(SpaceError) in
            try match.tuple(checkedBy: keep)
        }
    }
}
