import SpaceSystem
import Synchronization
import TupleCoding

// Ending claims, and returning the claims of holders that have ended.

extension NamespaceCore {
    // MARK: By the holder

    package func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        try write("complete a claim", .removing) { (scope) throws(SpaceError) in
            for claim in claims {
                try scope.complete(claim.id.rawValue, session: session.number, number: claim.number)
            }
        }
    }

    /// Returns claims, and leaves alone those that have returned already; the result is the number that it returned.
    @discardableResult
    package func release(
        _ claims: [HeldClaim],
        wasDelivered: Bool = true,
        timeout: Duration? = nil
    ) throws(SpaceError) -> Int {
        try write("release a claim", .removing, timeout: timeout) { (scope) throws(SpaceError) in
            var returned = 0
            for claim in claims where try scope.release(claim, session: session.number, wasDelivered: wasDelivered) {
                returned += 1
            }
            return returned
        }
    }

    package func extend(_ claim: HeldClaim, by duration: Duration) throws(SpaceError) {
        try checkNotNegative(duration, "an extension", "extend a claim")
        try write("extend a claim", .removing) { (scope) throws(SpaceError) in
            try scope.extend(claim.id.rawValue, session: session.number, number: claim.number, by: duration)
        }
    }

    package func bury(_ claim: HeldClaim) throws(SpaceError) {
        try write("set a tuple aside", .removing) { (scope) throws(SpaceError) in
            try scope.bury(claim.id.rawValue, session: session.number, number: claim.number)
        }
    }

    /// The claim with a number, whichever process holds it; `nil` if it has ended.
    ///
    /// A number is given out only once. The search walks all claims, of which there are few at a time.
    package func claim(numbered number: UInt64) throws(SpaceError) -> (claim: HeldClaim, holder: ClaimHolder)? {
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

    // MARK: Dropped claims

    /// Returns a claim that was dropped, now or as soon as it can be.
    func releaseOrRemember(_ claim: HeldClaim) {
        letGo { (core, patience) throws(SpaceError) in try core.release([claim], timeout: patience) }
    }

    // MARK: Claims of ended holders

    /// Ends the holds of holders that have ended, and returns their claims.
    ///
    /// A claim that can't be moved, because it is damaged or disk space is missing, is left to a later time and does
    /// not hold up the others.
    ///
    /// `timeout` is for the gate; `nil` means the time-out of the space.
    func returnClaims(timeout: Duration? = nil, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        var refusal: SpaceError?
        for part in parts.all {
            do throws(SpaceError) {
                try part.drop(of: self, timeout: timeout, where: hasEnded)
            } catch  where error.isOfContent {
                refusal = refusal ?? error
            }
        }
        let operation = "return claims"
        var left: Set<UInt64> = []
        var most = 64
        var moved = 0
        repeat {
            let slice = try claimSlice(operation, max: most) { (id, row) in
                row.holder != .nobody && hasEnded(row.holder) && !left.contains(id)
            }
            do throws(SpaceError) {
                moved = try move(slice, operation, timeout: timeout) { (_, row) in hasEnded(row.holder) }
            } catch  where error.isOfContent {
                refusal = refusal ?? error
                // Retry with fewer claims at a time, down to the one that causes the error.
                if slice.ids.count == 1 { left.insert(slice.ids[0]) }
                most = max(1, slice.ids.count / 2)
                moved = slice.ids.count
            }
        } while moved > 0
        if let refusal { throw refusal }
    }

    /// Returns the claims for which `isWanted` is true, and kicks such tuples that were set aside.
    ///
    /// One call moves only as many as fit the disk reserve. The result is the number that moved. It is also 0 if
    /// another process moved them first; so a caller that loops until it is 0 ends.
    func moveSlice(
        _ operation: String,
        max: Int = 64,
        timeout: Duration?,
        where isWanted: (UInt64, ClaimRow) -> Bool
    ) throws(SpaceError) -> Int {
        try move(try claimSlice(operation, max: max, where: isWanted), operation, timeout: timeout, if: isWanted)
    }

    /// The ids of tuples in `claims`, and the total size of their rows.
    private typealias ClaimSlice = (ids: [UInt64], bytes: Int)

    private func claimSlice(
        _ operation: String,
        max: Int,
        where isWanted: (UInt64, ClaimRow) -> Bool
    ) throws(SpaceError) -> ClaimSlice {
        try read(operation) { (snapshot) throws(SpaceError) -> ClaimSlice in
            var slice: ClaimSlice = ([], 0)
            let counters = try snapshot.counters()
            guard counters.claimed + counters.buried > 0 else { return slice }
            try snapshot.forEachClaim { (id, row) throws(SpaceError) in
                if isWanted(id, row) {
                    slice.ids.append(id)
                    slice.bytes += row.size
                }
                return slice.ids.count < min(max, 64) && slice.bytes < 1 << 20
            }
            return slice
        }
    }

    private func move(
        _ slice: ClaimSlice,
        _ operation: String,
        timeout: Duration?,
        if isWanted: (UInt64, ClaimRow) -> Bool
    ) throws(SpaceError) -> Int {
        guard !slice.ids.isEmpty else { return 0 }
        return try write(operation, .removing, timeout: timeout) { (scope) throws(SpaceError) in
            var moved = 0
            for id in slice.ids {
                guard let row = try scope.claimRow(id), isWanted(id, row) else { continue }
                let hasMoved = row.holder == .nobody ? try scope.kick(id) : try scope.returnClaim(id) { _ in true }
                if hasMoved { moved += 1 }
            }
            return moved
        }
    }

    /// The holders of claims and of holds; given a name, those that hold the name or wait for it.
    func claimHolders(at name: String? = nil) throws(SpaceError) -> Set<ClaimHolder> {
        try read("look at the claims") { (snapshot) throws(SpaceError) in
            var holders: Set<ClaimHolder> = []
            for part in parts.all { try part.addHolders(at: name, in: snapshot, to: &holders) }
            guard name == nil, try snapshot.counters().claimed > 0 else { return holders }
            try snapshot.forEachClaim { (_, row) throws(SpaceError) in
                holders.insert(row.holder)
                return true
            }
            return holders
        }
    }

    /// Returns the claims of dead holders, and ends their holds.
    ///
    /// If it fails, the next tick or the next process that opens the namespace does it. Given a `name`, it looks only
    /// at the holders in the queue of that name. The result says whether there were dead holders.
    @discardableResult
    package func returnClaimsOfTheDead(at name: String? = nil, timeout: Duration) -> Bool {
        guard Safeguard.deadClaims.stands, let holders = try? claimHolders(at: name), !holders.isEmpty else {
            return false
        }
        let dead = holders.filter { !isAlive($0) }
        guard !dead.isEmpty else { return false }
        try? returnClaims(timeout: timeout) { dead.contains($0) }
        return true
    }

    package func isAlive(_ holder: ClaimHolder) -> Bool {
        switch holder {
        case .session(let number): number == session.number || isAlive(session: number)
        case .process(let process): process.life == .alive
        case .nobody: true
        }
    }

    /// Returns the claims of dead processes and ends their holds, after a look that found less than it was asked for.
    ///
    /// The caller asks only if something is claimed or held.
    ///
    /// A process that polls must get back what a killed process had claimed, although it never waits and so never
    /// ticks. Each check asks the kernel about every holder. So a process checks at most every 5 ms, and spends at most
    /// a twentieth of its time on checks, but it checks after one tick's time in any case.
    ///
    /// Given a `name`, it looks only at the holders in the queue of that name. The result says whether there were dead
    /// holders.
    package func askForTheDead(at name: String? = nil) -> Bool {
        let start = MonotonicInstant.now.nanoseconds
        let due = nextAskForTheDead.load(ordering: .relaxed)
        guard start >= due,
            nextAskForTheDead.compareExchange(expected: due, desired: start + Self.askingInterval, ordering: .relaxed)
                .exchanged
        else { return false }
        let found = returnClaimsOfTheDead(at: name, timeout: Self.upkeepPatience)
        let end = MonotonicInstant.now.nanoseconds
        let rest = min(max(Self.askingInterval, 20 * (end - start)), Limits.tick.saturatedNanoseconds)
        nextAskForTheDead.store(end + rest, ordering: .relaxed)
        return found
    }

    private static let askingInterval: Int64 = 5_000_000

    // MARK: After a look that found nothing

    /// Returns the claims of dead processes, and overdue claims that no write and no tick has returned yet.
    ///
    /// The result says whether there were any, so that another look may find more.
    func returnEndedClaims(_ operation: String) throws(SpaceError) -> Bool {
        let (isDue, hasClaims) = try read(operation) { (snapshot) throws(SpaceError) in
            let counters = try snapshot.counters()
            guard counters.expiring > 0 else { return (false, counters.claimed > 0) }
            return (try snapshot.due(limit: 1).contains { $0.kind == .claim }, counters.claimed > 0)
        }
        // The transaction itself first returns what is due, if there is disk space for that.
        if isDue,
            try write(
                operation,
                .removing,
                { (scope) throws(SpaceError) in
                    guard !scope.hasRemovedDue else { return true }
                    return try !scope.snapshot.due(limit: 1).contains { $0.kind == .claim }
                }
            )
        {
            return true
        }
        return hasClaims && askForTheDead()
    }
}

extension WriteScope {
    package func release(_ claim: HeldClaim, session: UInt64, wasDelivered: Bool = true) throws(SpaceError) -> Bool {
        try returnClaim(claim.id.rawValue, wasDelivered: wasDelivered) { row in
            guard row.number == claim.number else { return false }
            switch row.holder {
            case .session(session), .process: return true
            default: return false
            }
        }
    }
}
