package import SpaceSystem
import TupleCoding

// Claiming has the same ways as taking: at once, blocking the thread, suspending the task.

extension NamespaceCore {
    /// Claims the first match; `decode` runs before the tuple is touched, so a tuple that does not decode stays in
    /// place.
    func claimIfExists<Content>(
        _ template: Template,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        decode: (Match) throws(SpaceError) -> Content
    ) throws(SpaceError) -> Claimed<Content>? {
        let taken = try takeIfExists("claim", template, order, isMoving: true) {
            (match) throws(SpaceError) -> (Tuple, Content) in
            (try match.tuple(), try decode(match))
        } _: { (scope, id, row) throws(SpaceError) in
            try scope.claim(id, row, terms)
        }
        return taken.map { Claimed(claim: HeldClaim($0.id, $0.result, $0.content.0), content: $0.content.1) }
    }

    /// Claims the tuple with an id; `nil` if there is no visible tuple with it.
    package func claim(id: TupleID, _ terms: ClaimTerms) throws(SpaceError) -> Claimed<Tuple>? {
        func look() throws(SpaceError) -> Match? {
            try read("claim") { (snapshot) throws(SpaceError) in
                try snapshot.tupleRow(id.rawValue).map { Match(id.rawValue, $0) }
            }
        }
        var match = try look()
        if match == nil, try returnEndedClaims("claim") { match = try look() }
        guard let match else { return nil }
        let tuple = try match.tuple()
        let made = try write("claim", .removing) { (scope) throws(SpaceError) -> ClaimMade? in
            guard let row = try scope.snapshot.tupleRow(id.rawValue) else { return nil }
            return try scope.claim(id.rawValue, row, terms)
        }
        return made.map { Claimed(claim: HeldClaim(id, $0, tuple), content: tuple) }
    }

    package func claimBlocking<Content>(
        _ template: Template,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        timeout: Duration?,
        interruption: Interruption? = nil,
        decode: (Match) throws(SpaceError) -> Content
    ) throws(SpaceError) -> Claimed<Content>? {
        try block("claim", for: template, isTaking: true, timeout: timeout, interruption: interruption) {
            () throws(SpaceError) in
            try lookToClaim(template, order, terms, decode: decode)
        }
    }

    func claimSuspending<Content>(
        _ template: Template,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        timeout: Duration?,
        decode: (Match) throws(SpaceError) -> Content
    ) async throws(SpaceError) -> Claimed<Content>? {
        try await suspend("claim", for: template, isTaking: true, timeout: timeout) { () throws(SpaceError) in
            try lookToClaim(template, order, terms, decode: decode)
        }
    }

    @inline(__always)
    private func lookToClaim<Content>(
        _ template: Template,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        decode: (Match) throws(SpaceError) -> Content
    ) throws(SpaceError) -> Found<Claimed<Content>>? {
        try claimIfExists(template, order, terms, decode: decode).map {
            Found(result: $0, removed: $0.claim.id.rawValue)
        }
    }
}

extension Namespace {
    /// Prepares a claim of this process, and makes other processes listen for its end from now on.
    func claimingCore(_ deadline: Duration?) throws(SpaceError) -> (NamespaceCore, ClaimTerms) {
        let core = try usableCore("claim")
        try core.checkNotNegative(deadline, "a deadline", "claim")
        try core.checkUsable("claim")
        core.announceClaimant()
        // A claim looks before it writes, so the tuples that this process has yet to release must be back before that.
        core.carryOutDeferred()
        return (core, ClaimTerms(holder: .session(core.session.number), deadline: deadline))
    }

    /// Claims a tuple for another process; the tuple returns when that process ends.
    ///
    /// The result is `nil` if the time-out passes without a match. Any process that knows the claim's number can end
    /// the claim. A `timeout` of zero looks once; if it is `nil`, only the interruption ends the wait early.
    package func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        holder: ProcessIdentity,
        deadline: Duration?,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        let core = try usableCore("claim")
        try core.checkNotNegative(deadline, "a deadline", "claim")
        let terms = ClaimTerms(holder: .process(holder), deadline: deadline)
        let claimed = try core.claimBlocking(template, order, terms, timeout: timeout, interruption: interruption) {
            (_) throws(SpaceError) in
        }
        guard let claimed else { return nil }
        // After the claim, so that a waiter finds the process among the holders of claims.
        core.ringForClaimants()
        return claimed.claim
    }

    /// Whether a claim's number is smaller than those of all claims made since the namespace was created.
    package func isOfEarlierLife(claim number: UInt64) -> Bool { number < core.control.header.firstClaim }

    /// The claim with a number, held by this process or for another one; `nil` if there is none.
    package func claim(numbered number: UInt64) throws(SpaceError) -> HeldClaim? {
        let core = try usableCore("look for a claim")
        guard let (claim, holder) = try core.claim(numbered: number) else { return nil }
        if case .session(let session) = holder, session != core.session.number {
            throw SpaceError(
                .invalidArgument,
                "look for a claim",
                namespace: name,
                reason: "claim \(number) belongs to a process that has not given it away",
                advice: "let that process end it"
            )
        }
        return claim
    }
}
