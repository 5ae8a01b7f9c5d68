import SpaceSystem
package import TupleCoding

// The verbs for callers that keep tuples as bytes and know claims by their numbers: other languages.

extension Namespace {
    /// Reads or takes a tuple as soon as one matches, blocking the thread; `nil` if the time passes first.
    ///
    /// - Parameters:
    ///   - template: What to look for.
    ///   - isTaking: Whether the match is taken.
    ///   - order: Which tuple comes first, if several match.
    ///   - wait: How long to wait.
    ///   - interruption: Ends the wait early.
    ///   - content: Makes the result. The last call is for the tuple that was found; there may be earlier calls, for tuples
    ///     that other processes took first. The match may be lent, so it must not escape.
    /// - Returns: What the last call of `content` made.
    /// - Throws: What `content` throws, `cancelled`, and what every take throws; then nothing was taken.
    package func findBlocking<Content>(
        _ template: Template,
        isTaking: Bool,
        _ order: MatchOrder,
        _ wait: Wait,
        interruption: Interruption?,
        _ content: (Match) throws(SpaceError) -> Content
    ) throws(SpaceError) -> Content? {
        try attempt((isTaking ? Verb.take : .read).rawValue) { (core) throws(SpaceError) in
            try core.looking.find(template.form, isTaking: isTaking, wait, interruption: interruption) {
                () throws(SpaceError) in
                isTaking
                    ? try core.looking.lookToTake(template.form, order, content)
                    : try core.looking.lookToRead(template.form, order, content)
            }
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
                () throws(SpaceError) in
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
                () throws(SpaceError) in
                try core.claiming.lookToClaim(template.form, order, terms)
            }
        }
    }

    /// Takes all tuples that match, in one transaction.
    package func takeMatches(
        _ template: Template,
        order: MatchOrder,
        max: Int
    ) throws(SpaceError) -> [Match] {
        try attempt(Verb.take.rawValue) { (core) throws(SpaceError) in
            try core.looking.removeAll(template.form, order, max: max, by: { Take($0) }) { (match) throws(SpaceError) in
                match
            }.map(\.content)
        }
    }

    /// Claims all tuples that match, in one transaction.
    package func claimMatches(
        _ template: Template,
        order: MatchOrder,
        max: Int,
        deadline: Duration?
    ) throws(SpaceError) -> [HeldClaim] {
        try attempt(Verb.claim.rawValue) { (core) throws(SpaceError) in
            let terms = try core.claiming.prepareClaim(deadline)
            return try core.looking.removeAll(template.form, order, max: max, by: { ClaimFound($0, terms) }) {
                (match) throws(SpaceError) in
                try match.tuple()
            }.map { HeldClaim($0.id, $0.result, $0.content) }
        }
    }

    /// Ends or extends a claim that is known by its number.
    ///
    /// - Parameters:
    ///   - number: The claim's number.
    ///   - id: The id of its tuple; `nil`: it is looked up.
    ///   - end: What becomes of the claim.
    /// - Returns: Whether the claim still stood; only a release is not refused then.
    /// - Throws: `claimLost` if the tuple has returned.
    package func end(claimNumbered number: UInt64, on id: TupleID?, _ end: ClaimEnd) throws(SpaceError) -> Bool {
        let claim =
            if let id {
                HeldClaim(number: number, on: id)
            } else {
                try claim(numbered: number, to: end.operation)
            }
        switch end {
        case .complete(keeping: false): try perform(Complete(claim.key, session: core.session.number))
        case .complete(keeping: true): try keep(claim)
        case .release(let delay): return try release(claim, delay: delay)
        case .bury: try bury(claim)
        case .extend(let duration): try extend(claim, by: duration)
        }
        return true
    }
}

extension HeldClaim {
    /// A claim of which only what ends it is known.
    package init(number: UInt64, on id: TupleID) {
        self.init(id: id, number: number, tuple: Tuple(fields: []), deliveries: 0)
    }
}

/// What becomes of a claim.
package enum ClaimEnd {
    /// The tuple is gone for good, or back in its place as if it had never been claimed.
    case complete(keeping: Bool)
    /// The tuple is back in its place after a delay.
    case release(delay: Duration)
    /// The tuple is not handed out any more.
    case bury
    /// The claim lasts this long from now on, if that is longer than it would have.
    case extend(by: Duration)

    fileprivate var operation: String {
        switch self {
        case .complete: Complete.name
        case .release: ReleaseClaims.name
        case .bury: Bury.name
        case .extend: Extend.name
        }
    }
}
