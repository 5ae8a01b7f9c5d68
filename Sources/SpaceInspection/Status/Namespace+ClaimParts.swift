import SpaceSystem

extension Namespace {
    /// Passes on the claims, or what is buried, in parts, in the order in which the tuples were written.
    ///
    /// First the claims of dead processes return. Nothing is locked, and no snapshot is held, while `body` runs; memory is
    /// bounded by a part. Each part is of one moment: a claim that was there all the time comes once, and one that began or
    /// ended during the walk may be missing.
    package func forEachClaimPart(
        buried: Bool,
        _ body: ([NamespaceStatus.Claim]) throws -> Void
    ) throws {
        var next: UInt64? = 0
        let pids = try attempt(Self.lookingAtClaims) { (core) throws(SpaceError) in
            core.endedHolders.returnClaimsOfTheDead(timeout: Engine.upkeepPatience)
            let folder = try core.engine.presentFolder()
            return try folder.sightings().livingPIDs
        }
        while let first = next {
            let part = try attempt(Self.lookingAtClaims) { (core) throws(SpaceError) in
                try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
                    let holders = Holders(try snapshot.counters().followsLog ? [:] : pids, core.control, snapshot)
                    return try Self.claimPart(of: snapshot, from: first, buried: buried, holders)
                }
            }
            next = part.next
            if !part.claims.isEmpty { try body(part.claims) }
        }
    }

    private static let lookingAtClaims = "look at the claims"

    /// The claims of some rows from an id on, or what is buried among them, and the id from which to go on; `nil`: that was all.
    private static func claimPart(
        of snapshot: Snapshot,
        from first: UInt64,
        buried: Bool,
        _ holders: Holders
    ) throws(SpaceError) -> (claims: [NamespaceStatus.Claim], next: UInt64?) {
        var found: [NamespaceStatus.Claim] = []
        var (left, bytes) = (Limits.part.rows, Limits.part.bytes)
        var next: UInt64?
        func look(_ id: UInt64, _ row: ClaimRow) throws(SpaceError) -> Bool {
            guard left > 0, bytes > 0 else {
                next = id
                return false
            }
            left -= 1
            guard row.isBuried == buried, let claim = try NamespaceStatus.Claim(id, row, snapshot, holders) else {
                return true
            }
            bytes -= try snapshot.claimedTuple(id)?.size ?? 0
            found.append(claim)
            return true
        }
        try snapshot.forEachClaim(from: first, look)
        return (found, next)
    }
}

extension [SessionFolder.Sighting] {
    /// The processes of the living sessions, by session.
    var livingPIDs: [UInt64: Int32] {
        var pids: [UInt64: Int32] = [:]
        for sighting in self where sighting.isAlive {
            if case .session(let number)? = sighting.record?.kind { pids[number] = sighting.record?.process.pid }
        }
        return pids
    }
}
