import SpaceSystem

/// Claiming what a look finds, and ending claims.
package struct Claiming {
    let core: NamespaceCore

    /// Looks for a match to claim, and makes its tuple; one that is damaged, or does not decode, stays in place.
    @inline(__always)
    func lookToClaim(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        _ aim: inout Aim,
        _ tuple: (Match) throws(SpaceError) -> Tuple = { (match) throws(SpaceError) in try match.tuple() }
    ) throws(SpaceError) -> Found<HeldClaim>? {
        try core.looking.firstOfChoices(template, order, aim) { (template) throws(SpaceError) in
            try core.looking.remove(template, order, &aim, by: ClaimFound.self, terms, decode: tuple).map { taken in
                Found(result: HeldClaim(taken.id, taken.result, taken.content), removed: taken.id.rawValue)
            }
        }
    }

    /// Claims a match, on the calling thread.
    func claim(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        _ wait: Wait,
        _ interruption: Interruption?,
        _ tuple: (Match) throws(SpaceError) -> Tuple = { (match) throws(SpaceError) in try match.tuple() }
    ) throws(SpaceError) -> HeldClaim? {
        try core.looking.find(template, isTaking: true, wait, interruption: interruption) {
            (aim: inout Aim) throws(SpaceError) in
            try lookToClaim(template, order, terms, &aim, tuple)
        }
    }

    /// Claims all matches, or as many as `max` and `maxBytes` allow, in one transaction.
    func claimAll(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ terms: ClaimTerms,
        max: Int,
        maxBytes: Int = .max
    ) throws(SpaceError) -> [HeldClaim] {
        try core.looking.removeAll(template, order, max: max, maxBytes: maxBytes, by: { ClaimFound($0, terms) }) {
            (match) throws(SpaceError) in
            try match.tuple()
        }.map { HeldClaim($0.id, $0.result, $0.content) }
    }

    /// Claims the tuple with an id; `nil` if there is no visible tuple with it.
    func claim(id: TupleID, _ terms: ClaimTerms) throws(SpaceError) -> HeldClaim? {
        func look() throws(SpaceError) -> Match? {
            try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
                try snapshot.tupleRow(id.rawValue).map { Match(id.rawValue, $0) }
            }
        }
        var match = try look()
        if match == nil, try core.endedHolders.returnEndedClaims() { match = try look() }
        guard let match else { return nil }
        let tuple = try match.tuple()
        guard case .removed(let made) = try core.execute(ClaimFound(Candidate(id), terms)) else { return nil }
        return HeldClaim(id, made, tuple)
    }

    /// Prepares a claim of this process, and makes other processes listen for its end from now on.
    ///
    /// With `isTake` it is the first half of a take.
    func prepareClaim(_ deadline: Duration?, isTake: Bool = false) throws(SpaceError) -> ClaimTerms {
        try deadline?.checkNotNegative("a deadline")
        try core.checkUsable()
        core.claimants.announce()
        // A claim looks before it writes, so the tuples that this process has yet to release must be back before that.
        core.carryOutDeferred()
        return ownTerms(deadline: deadline, isTake: isTake)
    }

    /// Hands a claim of this process on to another process.
    ///
    /// The claim's number is known for certain, so this can be repeated, or the claim released, without harm.
    func handOver(_ claim: HeldClaim, to process: ProcessIdentity) throws(SpaceError) {
        let retry = Retry(for: core.timeout, every: Limits.tick)
        while true {
            do throws(SpaceError) {
                try core.write(.removing) { (scope) throws(SpaceError) in
                    let holder = core.participation.renewed(.process(process, member: core.session.member))
                    try scope.handOver(
                        claim.id.rawValue,
                        session: core.session.number,
                        number: claim.number,
                        to: holder
                    )
                }
                // This comes after the claim, so that a waiter finds the process among the holders of claims.
                return core.claimants.ring()
            } catch {
                guard error.mayPassIfRepeated, retry.again() else {
                    releaseOrRemember(claim)
                    throw error.code == .outcomeUnknown ? .handedOverPerhaps(claim, error) : error
                }
            }
        }
    }

    /// The terms of a claim of this process.
    func ownTerms(deadline: Duration?, isTake: Bool = false) -> ClaimTerms {
        ClaimTerms(holder: .session(core.session.number), deadline: deadline, isTake: isTake)
    }
}

extension SpaceError {
    /// The error for a claim that may be another process's now: this process may end before it can release it.
    fileprivate static func handedOverPerhaps(_ claim: HeldClaim, _ error: SpaceError) -> SpaceError {
        SpaceError(
            error.code,
            reason: error.reason,
            advice: "look with space claims NS whether there is a claim \(claim.number), and if so: "
                + "space release NS \(claim.number)"
        )
    }
}

extension NamespaceCore {
    /// Claiming, and ending claims.
    @inline(__always)
    package var claiming: Claiming { Claiming(core: self) }
}
