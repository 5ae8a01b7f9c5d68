import SpaceSystem
import Synchronization

/// The holders that have ended, because their process died or left: their claims return, and their holds and rows end.
///
/// Overdue claims return too.
package struct EndedHolders {
    let core: NamespaceCore

    /// How many claims that can't be returned one look may meet.
    private static let mostLeft = 16

    /// Ends the holds and rows of holders that have ended, and returns their claims.
    ///
    /// A claim that can't be moved, because it is damaged or disk space is missing, is left to a later time and does
    /// not hold up the others.
    ///
    /// `timeout` is for the gate; `nil` means the time-out of the space.
    func endAll(timeout: Duration? = nil, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        var refusal: SpaceError?
        for part in core.parts.all {
            do throws(SpaceError) {
                try part.drop(of: core, timeout: timeout) { holder, _ in hasEnded(holder) }
            } catch  where error.isOfContent {
                refusal = refusal ?? error
            }
        }
        do throws(SpaceError) {
            try dropRows(timeout: timeout, where: hasEnded)
        } catch  where error.isOfContent {
            refusal = refusal ?? error
        }
        var left: Set<UInt64> = []
        var most = 64
        var ended = 0
        repeat {
            let slice = try core.claimSlice(max: most) { (id, row) in
                row.holder != .nobody && hasEnded(row.holder) && !left.contains(id)
            }
            do throws(SpaceError) {
                ended = try core.end(slice, timeout: timeout, as: .returning) { (_, row) in hasEnded(row.holder) }
                most = min(64, 2 * most)
            } catch  where error.isOfContent {
                refusal = refusal ?? error
                // Retry with fewer claims at a time, down to the one that causes the error.
                if slice.ids.count == 1 { left.insert(slice.ids[0]) }
                // If there is no room for so many, there is none for the others: the next tick tries again.
                if left.count == Self.mostLeft { throw error }
                most = max(1, slice.ids.count / 2)
                ended = slice.ids.count
            }
        } while ended > 0
        if let refusal { throw refusal }
    }

    /// Ends the claims and holds of a session that have these numbers, as if they had never been made.
    ///
    /// Numbers are given out once (`NamespaceLog.State.firstFreeNumbers`), so nothing else of the session has them.
    func end(_ numbers: Range<UInt64>, of session: UInt64, timeout: Duration?) throws(SpaceError) {
        func isMeant(_ holder: ClaimHolder, _ number: UInt64) -> Bool {
            holder == .session(session) && numbers.contains(number)
        }
        // In several machines' namespace, this machine knows what counts once it can write again.
        try core.write(.removing, timeout: timeout) { (scope) throws(SpaceError) in
            var ids: [UInt64] = []
            try scope.snapshot.forEachClaim { (id, row) throws(SpaceError) in
                if isMeant(row.holder, row.number) { ids.append(id) }
                return true
            }
            for id in ids { try scope.returnClaim(id, wasDelivered: false) { _ in true } }
        }
        for part in core.parts.all { try part.drop(of: core, timeout: timeout, where: isMeant) }
    }

    /// Ends the claims, holds and watchers of all sessions that the tables name, and those of processes for which
    /// `hasEnded` is true.
    ///
    /// It is for tables that come from elsewhere or from before a reboot: none of their sessions lives.
    func endSessionsOfBefore(_ hasEnded: (ProcessIdentity) -> Bool) throws(SpaceError) {
        // Those of a replica belong to members, whose ends are entries of the log.
        guard try !core.isStandby, !core.control.staying.isReplica else { return }
        try endAll { holder in
            if case .process(let process, _) = holder { hasEnded(process) } else { true }
        }
        core.dropRegistrations(of: .all)
    }

    /// Ends the claims, holds and watchers that came with the tables of another namespace.
    package func endSessionsOfElsewhere() throws(SpaceError) { try endSessionsOfBefore { _ in true } }

    /// Returns the claims of ended holders as a part of a transaction, as many as fit.
    package static func returnClaims(in scope: WriteScope, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        let slice = try ClaimSlice(in: scope.snapshot) { (_, row) in row.holder != .nobody && hasEnded(row.holder) }
        for id in slice.ids { try scope.returnClaim(id) { _ in true } }
    }

    /// The holders of claims and of holds; given a name, those that hold the name or wait for it.
    func claimHolders(at name: String? = nil) throws(SpaceError) -> Set<ClaimHolder> {
        try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            var holders: Set<ClaimHolder> = []
            // The holders in a standby are processes of the namespace that it follows.
            let counters = try snapshot.counters()
            guard !counters.followsLog else { return holders }
            for part in core.parts.all { try part.addHolders(at: name, in: snapshot, to: &holders) }
            guard name == nil else { return holders }
            if counters.expiring > 0 { holders.formUnion(try snapshot.holdersOfRows()) }
            guard counters.claimed > 0 else { return holders }
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
        guard let dead = try? deadHolders(at: name), !dead.isEmpty else { return false }
        try? endAll(timeout: timeout) { dead.contains($0) }
        return true
    }

    /// Returns the claims of dead holders, and ends their holds and rows.
    ///
    /// - Throws: Why something could not be ended; all else was.
    package func endTheDead(timeout: Duration) throws(SpaceError) {
        let dead = try deadHolders()
        if !dead.isEmpty { try endAll(timeout: timeout) { dead.contains($0) } }
    }

    private func deadHolders(at name: String? = nil) throws(SpaceError) -> Set<ClaimHolder> {
        guard Safeguard.deadClaims.stands else { return [] }
        return try claimHolders(at: name).filter { !core.liveness.isAlive($0) }
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
    package func returnIfAskingIsDue(at name: String? = nil) -> Bool {
        let start = MonotonicInstant.now.nanoseconds
        let due = core.upkeepState.nextAsking.load(ordering: .relaxed)
        guard start >= due,
            core.upkeepState.nextAsking.compareExchange(
                expected: due,
                desired: start + Self.askingInterval,
                ordering: .relaxed
            )
            .exchanged
        else { return false }
        let found = returnClaimsOfTheDead(at: name, timeout: Engine.upkeepPatience)
        let end = MonotonicInstant.now.nanoseconds
        let rest = min(max(Self.askingInterval, 20 * (end - start)), Limits.tick.saturatedNanoseconds)
        core.upkeepState.nextAsking.store(end + rest, ordering: .relaxed)
        return found
    }

    private static let askingInterval: Int64 = 5_000_000

    // MARK: Overdue claims

    /// Returns the claims that are overdue, and the tuples whose rest is over, so that a look finds them in their places.
    ///
    /// This is as far as there is room for them, and if the gate is free soon: the look goes on without the others, which a
    /// later commit returns.
    @inline(__always)
    func returnOverdue() {
        if DueCommits(core.engine).mayReturnClaims { returnOverdueClaims() }
    }

    @inline(never)
    private func returnOverdueClaims() {
        // On several machines the one with the pen returns them.
        if core.isSending { return }
        let dueCommits = DueCommits(core.engine)
        while let (commit, due) = try? core.read({ (snapshot) throws(SpaceError) in
            (snapshot.commit, try dueCommits.earliestClaim(in: snapshot))
        }) {
            dueCommits.note(claimDue: due, asOf: commit)
            guard due <= core.clock.milliseconds else { return }
            let hasReturned = try? core.write(.removing, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
                scope.hasRemovedDue
            }
            guard hasReturned ?? false else { return dueCommits.note(claimDue: .max, asOf: commit) }
        }
    }

    // MARK: After a look that found nothing

    /// Returns the claims of dead processes, and overdue claims that no write and no tick has returned yet.
    ///
    /// The result says whether there were any, so that another look may find more.
    func returnEndedClaims() throws(SpaceError) -> Bool {
        if core.engine.hasNothingToReturn { return false }
        let (isDue, hasClaims) = try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
            let counters = try snapshot.counters()
            core.engine.noteCounters(counters, of: snapshot)
            guard !counters.followsLog else { return (false, false) }
            guard counters.expiring > 0 else { return (false, counters.claimed > 0) }
            return (try snapshot.due(limit: 1).contains { $0.kind == .claim }, counters.claimed > 0)
        }
        // The transaction itself first returns what is due, if there is disk space for that.
        if isDue,
            try core.write(
                .removing,
                { (scope) throws(SpaceError) in
                    guard !scope.hasRemovedDue else { return true }
                    return try !scope.snapshot.due(limit: 1).contains { $0.kind == .claim }
                }
            )
        {
            return true
        }
        return hasClaims && returnIfAskingIsDue()
    }
}

extension NamespaceCore {
    /// The holders that have ended.
    package var endedHolders: EndedHolders { EndedHolders(core: self) }
}
