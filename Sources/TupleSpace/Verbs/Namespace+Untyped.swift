package import SpaceSystem
package import TupleCoding

// The verbs without the types of Swift, for the shell and for other languages: a template in, and matches or claims as plain
// values out.

extension Namespace {
    /// Reads or takes a tuple as soon as one matches, blocking the thread; false if the time passes first.
    ///
    /// It is not generic, and `content` returns nothing: a caller in another target would look up the types of a generic
    /// form in each call, which takes longer than the take.
    ///
    /// - Parameters:
    ///   - template: What to look for.
    ///   - isTaking: Whether the match is taken.
    ///   - order: Which tuple comes first, if several match.
    ///   - wait: How long to wait.
    ///   - interruption: Ends the wait early.
    ///   - content: Keeps what is wanted of a match. The last call is for the tuple that was found; there may be earlier
    ///     calls, for tuples that other processes took first. The match may be lent, so it must not escape.
    /// - Returns: Whether there was a match.
    /// - Throws: What `content` throws, `cancelled`, and what every take throws; then nothing was taken.
    package func findBlocking(
        _ template: Template,
        isTaking: Bool,
        _ order: MatchOrder,
        _ wait: Wait,
        interruption: Interruption?,
        _ content: (Match) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool {
        try attempt(Verb(isTaking: isTaking).rawValue) { (core) throws(SpaceError) in
            try core.looking.find(template.form, isTaking: isTaking, wait, interruption: interruption) {
                (aim: inout Aim) throws(SpaceError) in
                isTaking
                    ? try core.looking.lookToTake(template.form, order, &aim, content)
                    : try core.looking.lookToRead(template.form, order, content)
            } != nil
        }
    }

    /// Reads a tuple as soon as one matches, suspending the task; `nil` if the time passes first.
    ///
    /// `content` makes the result, as in the form that blocks the thread.
    ///
    /// - Throws: What `content` throws, `cancelled` if the task is cancelled, and what every read throws.
    package func readSuspending<Content>(
        _ template: Template,
        _ order: MatchOrder,
        _ wait: Wait,
        _ content: (Match) throws(SpaceError) -> Content
    ) async throws(SpaceError) -> Content? {
        try await attempt(suspending: Verb.read.rawValue) { (core) async throws(SpaceError) in
            try await core.looking.suspend(for: template.form, isTaking: false, after: FirstLook(wait)) {
                (_) throws(SpaceError) in
                try core.looking.lookToRead(template.form, order, content)
            }
        }
    }

    /// Claims a tuple as soon as one matches, suspending the task; `nil` if the time passes first.
    ///
    /// With `isTake` the claim is the first half of a take: watchers are told of a take when it is completed, and of
    /// nothing if it returns.
    ///
    /// - Throws: `cancelled` if the task is cancelled, and what every claim throws; then nothing was claimed.
    package func claimSuspending(
        _ template: Template,
        _ order: MatchOrder,
        deadline: Duration?,
        isTake: Bool,
        _ wait: Wait
    ) async throws(SpaceError) -> HeldClaim? {
        try await attempt(suspending: (isTake ? Verb.take : .claim).rawValue) { (core) async throws(SpaceError) in
            let terms = try core.claiming.prepareClaim(deadline, isTake: isTake)
            return try await core.looking.suspend(for: template.form, isTaking: true, after: FirstLook(wait)) {
                (aim: inout Aim) throws(SpaceError) in
                try core.claiming.lookToClaim(template.form, order, terms, &aim)
            }
        }
    }

    /// Takes all tuples that match, in one transaction; none is taken if `content` throws for one of them.
    package func takeMatches<Content>(
        _ template: Template,
        order: MatchOrder,
        max: Int,
        _ content: (Match) throws(SpaceError) -> Content
    ) throws(SpaceError) -> [Content] {
        try attempt(Verb.take.rawValue) { (core) throws(SpaceError) in
            try core.looking.removeAll(template.form, order, max: max, by: { Take($0) }, decode: content).map(\.content)
        }
    }

    /// Claims all tuples that match, in one transaction.
    package func claimAll(
        matching template: Template,
        order: MatchOrder,
        max: Int,
        deadline: Duration?
    ) throws(SpaceError) -> [HeldClaim] {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            try core.claiming.claimAll(template.form, order, try core.claiming.prepareClaim(deadline), max: max)
        }
    }

    // MARK: Claims with a wait that blocks

    /// Claims a tuple as soon as one matches, blocking the thread; `nil` if the time passes first.
    ///
    /// With `isTake` the claim is the first half of a take, which lasts as long as it takes to print the tuple; see
    /// ``claimBriefly(matching:order:max:isTake:)``. The interruption ends the wait early.
    package func claimBlocking(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil,
        isTake: Bool = false,
        _ wait: Wait,
        interruption: Interruption? = nil
    ) throws(SpaceError) -> HeldClaim? {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            let claiming = core.claiming
            let terms =
                isTake ? claiming.ownTerms(deadline: nil, isTake: true) : try claiming.prepareClaim(deadline)
            return try claiming.claim(template.form, order, terms, wait, interruption)
        }
    }

    /// The same, without the tuple: `content` keeps what is wanted of a match, as in a take, before the match is claimed.
    ///
    /// - Returns: What ends the claim, with an empty tuple.
    package func claimBlocking(
        _ template: Template,
        _ order: MatchOrder,
        deadline: Duration?,
        _ wait: Wait,
        interruption: Interruption?,
        _ content: (Match) throws(SpaceError) -> Void
    ) throws(SpaceError) -> HeldClaim? {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            let terms = try core.claiming.prepareClaim(deadline)
            return try core.claiming.claim(template.form, order, terms, wait, interruption) {
                (match) throws(SpaceError) in
                try content(match)
                return Tuple(fields: [])
            }
        }
    }

    /// Claims a tuple for another process; the tuple returns when that process ends.
    ///
    /// The result is `nil` if the time passes without a match. Any process that knows the claim's number can end
    /// the claim. The interruption ends the wait early.
    package func claim(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        holder: ProcessIdentity,
        deadline: Duration?,
        _ wait: Wait,
        interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            try deadline?.checkNotNegative("a deadline")
            if core.isSending {
                // If the outcome of this process's own claim is unknown, the process leaves nothing of the claim.
                let claim = try core.claiming.claim(
                    template.form,
                    order,
                    try core.claiming.prepareClaim(deadline),
                    wait,
                    interruption
                )
                if let claim { try core.claiming.handOver(claim, to: holder) }
                return claim
            }
            let terms = ClaimTerms(holder: .process(holder, member: core.session.member), deadline: deadline)
            guard let claim = try core.claiming.claim(template.form, order, terms, wait, interruption) else {
                return nil
            }
            // After the claim, so that a waiter finds the process among the holders of claims.
            core.claimants.ring()
            return claim
        }
    }

    // MARK: For the shell's take

    /// Claims matches at once, for as long as it takes to print them.
    ///
    /// With `isTake` the claims are the first halves of takes: watchers are told of a take when one is completed, and
    /// of nothing if it returns.
    ///
    /// One call claims as many matches as one transaction moves easily, and at most `max`; in a full namespace that may
    /// be one. Only an empty result means that no match is left.
    ///
    /// Other processes are not told to listen for the end of this process: telling them takes longer than such a claim
    /// lasts, and if this process is killed, a tick returns its claims.
    package func claimBriefly(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        max: Int = 1,
        isTake: Bool = false
    ) throws(SpaceError) -> [HeldClaim] {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            let terms = core.claiming.ownTerms(deadline: nil, isTake: isTake)
            var most = max
            while true {
                do throws(SpaceError) {
                    return try core.claiming.claimAll(
                        template.form,
                        order,
                        terms,
                        max: most,
                        maxBytes: Self.claimedBytes
                    )
                } catch  where most > 1 && error.isOfStepTooLarge {
                    // Halve the number, down to one tuple: the error for one tuple is the error to report.
                    most = min(most, 512) / 2
                }
            }
        }
    }

    /// The most bytes of tuples that one transaction claims: far less than is reserved for removals.
    private static let claimedBytes = 1 << 20
}
