// Ending claims.

extension Claiming {
    // MARK: By the holder

    package func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        guard let first = claims.first else { return }
        let others = claims.count == 1 ? [] : claims.dropFirst().map(\.key)
        try core.execute(Complete(first.key, others, session: core.session.number))
    }

    /// Whether the claim still stands: it was not ended, its tuple has not returned, and its deadline has not passed.
    func isHeld(_ claim: HeldClaim) throws(SpaceError) -> Bool {
        try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            guard let row = try snapshot.claim(on: claim.id.rawValue), row.number == claim.number else { return false }
            return row.deadline == 0 || row.deadline > snapshot.clock.milliseconds
        }
    }

    /// Extends a claim of this session, or of another one that is named.
    func extend(_ claim: HeldClaim, by duration: Duration, of session: UInt64? = nil) throws(SpaceError) {
        try duration.checkNotNegative("an extension")
        try core.execute(Extend(claim: claim.key, session: session ?? core.session.number, duration: duration))
    }

    /// The claim with a number, whichever process holds it; `nil` if it has ended.
    package func claim(numbered number: UInt64) throws(SpaceError) -> (claim: HeldClaim, holder: ClaimHolder)? {
        try claims(numbered: [number])[number]
    }

    /// The claims with some numbers, whichever processes hold them, by number; those that have ended are missing.
    ///
    /// A number is given out only once. One walk over all claims finds them all.
    func claims(
        numbered numbers: Set<UInt64>
    ) throws(SpaceError) -> [UInt64: (claim: HeldClaim, holder: ClaimHolder)] {
        guard !numbers.isEmpty else { return [:] }
        return try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            var found: [UInt64: (claim: HeldClaim, holder: ClaimHolder)] = [:]
            guard try snapshot.counters().claimed > 0 else { return found }
            try snapshot.forEachClaim { (id, row) throws(SpaceError) in
                guard numbers.contains(row.number), row.holder != .nobody, let tuple = try snapshot.claimedTuple(id)
                else { return true }
                let claim = HeldClaim(id, row.number, try snapshot.tuple(id, tuple), deliveries: tuple.deliveries)
                found[row.number] = (claim, row.holder)
                return found.count < numbers.count
            }
            return found
        }
    }

    // MARK: Dropped claims

    /// Returns a claim that was dropped, now or as soon as it can be.
    ///
    /// `wasDelivered` says whether the claim counts as a delivery.
    package func releaseOrRemember(_ claim: HeldClaim, wasDelivered: Bool = true) {
        core.letGo { (core, patience) throws(SpaceError) in
            let release = ReleaseClaims(
                claims: [claim.key],
                session: core.session.number,
                wasDelivered: wasDelivered
            )
            _ = try core.executeInTables(release, timeout: patience)
        }
    }
}
