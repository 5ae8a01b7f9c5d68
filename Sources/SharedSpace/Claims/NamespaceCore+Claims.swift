import SpaceSystem
import Synchronization
import TupleCoding

// Ending claims, and returning those whose holders have ended.

extension NamespaceCore {
    // MARK: By who holds them

    func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        let bytes = claims.reduce(0) { $0 + $1.tuple.encoded.count }
        try write("complete a claim", .removing(claims.count, removed: bytes)) { (scope) throws(SpaceError) in
            for claim in claims {
                try scope.complete(claim.id.rawValue, session: session.number, number: claim.number)
            }
        }
    }

    /// Returns claims; those that have returned already are left alone.
    ///
    /// Returns: How many returned.
    @discardableResult
    func release(
        _ claims: [HeldClaim],
        wasDelivered: Bool = true,
        timeout: Duration? = nil
    ) throws(SpaceError) -> Int {
        let bytes = claims.reduce(0) { $0 + $1.tuple.encoded.count + 64 }
        return try write("release a claim", .removing(claims.count, bytes: bytes), timeout: timeout) {
            (scope) throws(SpaceError) in
            var returned = 0
            for claim in claims where try scope.release(claim, session: session.number, wasDelivered: wasDelivered) {
                returned += 1
            }
            return returned
        }
    }

    func extend(_ claim: HeldClaim, by duration: Duration) throws(SpaceError) {
        try write("extend a claim", .removing(1, bytes: claim.tuple.encoded.count + 64)) { (scope) throws(SpaceError) in
            try scope.extend(claim.id.rawValue, session: session.number, number: claim.number, by: duration)
        }
    }

    func bury(_ claim: HeldClaim) throws(SpaceError) {
        try write("set a tuple aside", .removing(1, bytes: claim.tuple.encoded.count + 64)) {
            (scope) throws(SpaceError) in
            try scope.bury(claim.id.rawValue, session: session.number, number: claim.number)
        }
    }

    /// The claim of a number, whoever holds it; `nil` when it has ended.
    ///
    /// Numbers are given out once, and looked for through all claims: there are few at a time.
    func claim(numbered number: UInt64) throws(SpaceError) -> (claim: HeldClaim, holder: ClaimHolder)? {
        try read("look for a claim") { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().claimed > 0 else { return nil }
            var found: (HeldClaim, ClaimHolder)?
            try snapshot.forEachClaim { (id, row) throws(SpaceError) in
                guard row.number == number, row.holder != .nobody, let tuple = TupleRow(row.tupleBytes) else {
                    return true
                }
                found = (
                    HeldClaim(
                        id: TupleID(rawValue: id),
                        number: number,
                        tuple: try snapshot.tuple(id, tuple),
                        deliveries: Int(tuple.deliveries)
                    ), row.holder
                )
                return false
            }
            return found
        }
    }

    // MARK: Dropped and not returned

    /// Returns a claim that was dropped, now or as soon as it can be.
    func releaseOrRemember(_ claim: HeldClaim) {
        letGo { (core, patience) throws(SpaceError) in try core.release([claim], timeout: patience) }
    }

    // MARK: Of holders that have ended

    /// Returns what holders have claimed that have ended, and lets go of what they held.
    ///
    /// `timeout`: For the gate; `nil`: the space's.
    func returnClaims(timeout: Duration? = nil, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        var moved = 0
        repeat {
            moved = try moveSlice("return claims", timeout: timeout) { (_, row) in
                row.holder != .nobody && hasEnded(row.holder)
            }
        } while moved > 0
        try dropHolds(timeout: timeout, where: hasEnded)
    }

    /// Returns the claims, or kicks the tuples set aside, that `isWanted` says yes to: so many that what they move fits the
    /// reserve.
    ///
    /// Returns: How many moved; 0 also when somebody else was at it, which is no reason to go round for ever.
    func moveSlice(
        _ operation: String,
        max: Int = 64,
        timeout: Duration?,
        where isWanted: (UInt64, ClaimRow) -> Bool
    ) throws(SpaceError) -> Int {
        let (ids, bytes) = try read(operation) { (snapshot) throws(SpaceError) -> ([UInt64], Int) in
            var ids: [UInt64] = []
            var bytes = 0
            let counters = try snapshot.counters()
            guard counters.claimed + counters.buried > 0 else { return ([], 0) }
            try snapshot.forEachClaim { (id, row) throws(SpaceError) in
                if isWanted(id, row) {
                    ids.append(id)
                    bytes += row.bytes.count
                }
                return ids.count < min(max, 64) && bytes < 1 << 20
            }
            return (ids, bytes)
        }
        guard !ids.isEmpty else { return 0 }
        return try write(operation, .removing(ids.count, bytes: bytes), timeout: timeout) {
            (scope) throws(SpaceError) in
            var moved = 0
            for id in ids {
                guard let row = try scope.claimRow(id), isWanted(id, row) else { continue }
                let hasMoved = row.holder == .nobody ? try scope.kick(id) : try scope.returnClaim(id) { _ in true }
                if hasMoved { moved += 1 }
            }
            return moved
        }
    }

    /// Who has claims out, or holds.
    func claimHolders() throws(SpaceError) -> Set<ClaimHolder> {
        try read("look at the claims") { (snapshot) throws(SpaceError) in
            var holders: Set<ClaimHolder> = []
            let counters = try snapshot.counters()
            if counters.holds > 0 { for (_, row) in try snapshot.allHolds() { holders.insert(row.holder) } }
            guard counters.claimed > 0 else { return holders }
            try snapshot.forEachClaim { (_, row) throws(SpaceError) in
                holders.insert(row.holder)
                return true
            }
            return holders
        }
    }

    /// Returns the claims of holders that no longer live.
    ///
    /// A failure leaves it to the next tick or opener.
    ///
    /// Returns: Whether there were any.
    @discardableResult
    func returnClaimsOfTheDead(timeout: Duration) -> Bool {
        guard Safeguard.deadClaims.stands, let holders = try? claimHolders(), !holders.isEmpty else { return false }
        let dead = holders.filter { !isAlive($0) }
        guard !dead.isEmpty else { return false }
        try? returnClaims(timeout: timeout) { dead.contains($0) }
        return true
    }

    private func isAlive(_ holder: ClaimHolder) -> Bool {
        switch holder {
        case .session(let number): number == session.number || isAlive(session: number)
        case .process(let process): process.life == .alive
        case .nobody: true
        }
    }

    // MARK: At their deadlines

    /// Returns claims whose deadline has passed, where nobody has written since, and nobody ticks.
    ///
    /// Returns: Whether there was anything due.
    func returnDueClaims(_ operation: String) throws(SpaceError) -> Bool {
        let isDue = try read(operation) { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().expiring > 0 else { return false }
            return try snapshot.due(limit: 1).contains { $0.kind == .claim }
        }
        guard isDue else { return false }
        // The transaction itself returns what is due, before anything else.
        try write(operation, .removing(64)) { (_) throws(SpaceError) in }
        return true
    }
}

extension WriteScope {
    func release(_ claim: HeldClaim, session: UInt64, wasDelivered: Bool = true) throws(SpaceError) -> Bool {
        try returnClaim(claim.id.rawValue, wasDelivered: wasDelivered) { row in
            guard row.number == claim.number else { return false }
            switch row.holder {
            case .session(session), .process: return true
            default: return false
            }
        }
    }
}
