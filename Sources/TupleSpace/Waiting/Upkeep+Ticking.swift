import SpaceSystem
import Synchronization

extension Upkeep {
    /// How long the count of the seat's ticks must have stood still before the ticker counts as stopped.
    private static let silence = Duration.milliseconds(700)
    /// How long the count of the deputy's looks must have stood still before it counts as stopped.
    private static let deputySilence = Duration.milliseconds(2500)
    /// The longest interval between the looks of a process that neither ticks nor is the deputy.
    private static let longestRest = Duration.seconds(30)
    /// After what time a process that can't hear the ticker's end tries again to listen for it.
    private static let retry = Duration.seconds(1)
    /// The number of ticks after which a sweep also looks for sessions whose lock a forked child inherited: eight
    /// seconds.
    private static let ticksToThoroughSweep: UInt64 = 32
    /// The number of ticks after which a sweep also looks at the slots to which nothing was granted: a second.
    private static let ticksToSweepOfIdle: UInt64 = 4
    /// The number of ticks after which a thorough sweep does so too: 32 seconds.
    private static let ticksToThoroughSweepOfIdle: UInt64 = 128

    func tick(
        isUsed: Bool,
        follow: (ProcessIdentity) -> ProcessExits.Finding
    ) -> TickerRole {
        attendOwnPart()
        core.forgetDeadOwners()
        guard core.isUsable else {
            // The folder was removed, which wakes no process.
            if isUsed { nudgeAll() }
            return isUsed ? .ticking : .idle
        }
        core.carryOutDeferred()
        let role = takeRole(isUsed: isUsed, follow)
        switch role {
        case .ticking: tickForAll()
        // Overdue claims return although the ticker may be stopped.
        case .following: removeWhatExpired()
        case .idle: break
        }
        return role
    }

    /// Notices that the namespace's folder was removed, and restores this process's session file.
    func attendOwnPart() {
        let now = MonotonicInstant.now.nanoseconds
        let last = core.upkeepState.lastLook.load(ordering: .relaxed)
        guard now &- last > Self.shortestTurn,
            core.upkeepState.lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        core.engine.noticeRemoval()
        if core.isUsable { restoreSession() }
    }

    /// Looks after the namespace for a thread that the event loop can't look after.
    func tickAlone() {
        attendOwnPart()
        guard core.isUsable else { return }
        core.carryOutDeferred()
        if takeTurn() { repair(isThorough: false, ofIdle: true) }
    }

    // MARK: Who ticks

    private func takeRole(
        isUsed: Bool,
        _ follow: (ProcessIdentity) -> ProcessExits.Finding
    ) -> TickerRole {
        let seat = core.control.ticker
        let seen = seat.sighting
        let isTicker = seen.session == core.session.number
        guard isUsed || (isTicker || isDeputy) && isUsedByOthers else {
            leaveSeat()
            return .idle
        }
        if isTicker {
            leaveDeputy()
            relieveStoppedDeputy()
            return .ticking
        }
        let isSilent = core.upkeepState.ticker.withLock { $0.ticker.note(seen) > Self.silence }
        if seen.session == 0 || isSilent || hasEnded(\.ticker, seen.session, follow) {
            guard seat.take(from: seen, for: core.session.number) else {
                return .following(isHeard: false, isRelieved: false)
            }
            // What the ticker before has missed is not known.
            core.upkeepState.ticker.withLock { $0.transaction = -1 }
            leaveDeputy()
            return .ticking
        }
        let isRelieved = !isDeputyNow(follow)
        let (isHeard, isDeputyHeard) = core.upkeepState.ticker.withLock { ($0.ticker.isHeard, $0.deputy.isHeard) }
        return .following(isHeard: isHeard, isRelieved: isRelieved && isDeputyHeard)
    }

    private var isDeputy: Bool { core.control.deputy.sighting.session == core.session.number }

    /// Counts a look if this process is the deputy; otherwise takes the deputy's seat if it is free, or listens for the
    /// deputy's end.
    ///
    /// - Returns: Whether this process is the deputy, or has to look again who is.
    private func isDeputyNow(_ follow: (ProcessIdentity) -> ProcessExits.Finding) -> Bool {
        let seat = core.control.deputy
        let seen = seat.sighting
        if seen.session != core.session.number {
            guard seen.session == 0 || hasEnded(\.deputy, seen.session, follow) else { return false }
            guard seat.take(from: seen, for: core.session.number) else { return true }
        }
        seat.countTick()
        return true
    }

    /// Empties the deputy's seat if the deputy has not looked for a while, so that another process takes it.
    private func relieveStoppedDeputy() {
        let seen = core.control.deputy.sighting
        guard seen.session != 0, core.upkeepState.ticker.withLock({ $0.deputy.note(seen) > Self.deputySilence }) else {
            return
        }
        if core.control.deputy.take(from: seen, for: 0) { nudgeAll() }
    }

    /// Follows the process that has a seat, if it is not followed yet; returns whether it has ended.
    private func hasEnded(
        _ seat: any WritableKeyPath<KnownTicker, KnownSeat> & Sendable,
        _ number: UInt64,
        _ follow: (ProcessIdentity) -> ProcessExits.Finding
    ) -> Bool {
        guard core.control.mayLive(session: number) else { return true }
        let isKnown = core.upkeepState.ticker.withLock {
            let known = $0[keyPath: seat]
            // The obstacle, such as a missing descriptor, may have passed.
            return known.followed == number
                && (known.isHeard || MonotonicInstant.now.duration(since: known.lastTry) < Self.retry)
        }
        if isKnown { return false }
        var finding = ProcessExits.Finding.unheard
        if let process = core.liveness.process(ofSession: number) { finding = follow(process) }
        core.upkeepState.ticker.withLock {
            $0[keyPath: seat].followed = number
            $0[keyPath: seat].isHeard = finding == .followed
            $0[keyPath: seat].lastTry = .now
        }
        return finding == .ended
    }

    /// Looks again who ticks, and who is the deputy: a process that this one follows has ended.
    func forgetTicker() { core.upkeepState.ticker.withLock { ($0.ticker.followed, $0.deputy.followed) = (0, 0) } }

    /// After what time a process looks whether the ticker is stopped, although the deputy looks once a second.
    ///
    /// All processes together look some eight times a second. Each interval of many is random: processes that began
    /// together would look at the same moments otherwise, and none for a long time in between.
    var restInterval: Duration {
        let mean = Duration.milliseconds(125) * Int(core.slots.inUse.load())
        guard mean > .seconds(1) else { return .seconds(1) }
        return min(max(.seconds(1), mean * Double.random(in: 0...2)), Self.longestRest)
    }

    /// Whether other processes wait or watch here.
    private var isUsedByOthers: Bool {
        if core.slots.hasWaiter { return true }
        let isWatched = try? core.read { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().watchers > 0 else { return false }
            return try snapshot.watchers().contains { $0.row.session != 0 }
        }
        return isWatched ?? true
    }

    /// Gives up the deputy's seat, if this process has it, because it is the ticker now.
    private func leaveDeputy() {
        if core.control.deputy.leave(core.session.number) { nudgeAll() }
    }

    /// Whether another process has taken the ticker's or the deputy's seat since this one looked, or none has it.
    var hasNewTicker: Bool {
        let (holder, second) = (core.control.ticker.sighting.session, core.control.deputy.sighting.session)
        return core.upkeepState.ticker.withLock { known in
            holder == 0 || holder != core.session.number && holder != known.ticker.followed
                || second == 0 || second != core.session.number && second != known.deputy.followed
        }
    }

    // MARK: The ticker's work

    private func tickForAll() {
        let count = core.control.ticker.countTick()
        _ = takeTurn(force: true)
        let transaction = core.engine.lastChange
        let isThorough = count % Self.ticksToThoroughSweep == 0
        let ticksToIdle = isThorough ? Self.ticksToThoroughSweepOfIdle : Self.ticksToSweepOfIdle
        repair(isThorough: isThorough, ofIdle: count % ticksToIdle == 0)
        let hasMoved = core.upkeepState.ticker.withLock { known in
            defer { known.transaction = transaction }
            return known.transaction != transaction
        }
        if hasMoved { nudgeAll() }
    }

    /// Repairs what dead processes left undone, and removes what expired.
    private func repair(isThorough: Bool, ofIdle: Bool) {
        GateRecovery(core.engine).lookForAbandonedGate()
        sweepSlots(isThorough: isThorough, ofIdle: ofIdle)
        core.dropRegistrations(of: .theDead, timeout: Engine.upkeepPatience)
        // The processes that wait here also listen for the end of claimants, and should have returned these claims at
        // once.
        if core.endedHolders.returnClaimsOfTheDead(timeout: Engine.upkeepPatience) {
            core.upkeepState.lateFinds.add(1, ordering: .relaxed)
        }
        removeWhatExpired()
        for part in core.parts.all { part.tickForAll(core) }
    }

    private func removeWhatExpired() {
        let isDue = try? core.read { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().expiring > 0 else { return false }
            return try !snapshot.due(limit: 1).isEmpty
        }
        guard isDue ?? false else { return }
        // The transaction itself first removes what is due, as far as there is disk space for that. If that is much, it is
        // more than one transaction.
        let end = MonotonicInstant.now.advanced(by: Limits.tick / 2)
        var hasRemoved = true
        while hasRemoved, !end.hasPassed {
            let removed = try? core.write(.removing, timeout: Engine.upkeepPatience) { (scope) throws(SpaceError) in
                scope.hasRemovedDue
            }
            hasRemoved = removed ?? false
        }
    }
}
