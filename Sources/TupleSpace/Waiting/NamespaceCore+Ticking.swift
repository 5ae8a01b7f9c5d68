package import SpaceSystem
import Synchronization
import TupleCoding

/// The upkeep of a namespace in which this process waits or watches.
///
/// A tick (250 ms) is the latest moment at which other processes find what a killed process left undone. One process
/// ticks for all (`TickerSeat`): it repairs what it can, and nudges all waiters and watchers if there was a commit
/// since its last tick, so that each looks for what it may have missed. One other process, the deputy, looks once a
/// second whether the ticker is stopped. Every process does its own part: once a second if it watches or has tasks that
/// wait, more seldom if it only has threads that wait (`restInterval`), and when it is nudged.
extension NamespaceCore {
    /// How long the seat's ticks must not have been counted on before the ticker counts as stopped.
    private static let silence = Duration.milliseconds(700)
    /// How long the deputy's looks must not have been counted on before it counts as stopped.
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

    package func tick(
        isUsed: Bool,
        follow: (ProcessIdentity) -> ProcessExits<ObjectIdentifier>.Finding
    ) -> TickerRole {
        attendOwnPart()
        forgetDeadOwners()
        guard isUsable else {
            // The folder was removed, which wakes no process.
            if isUsed { nudgeAll() }
            return isUsed ? .ticking : .idle
        }
        carryOutDeferred()
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
        let last = lastLook.load(ordering: .relaxed)
        guard now &- last > 200_000_000,
            lastLook.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        engine.noticeRemoval()
        if isUsable { restoreSession() }
    }

    /// Looks after the namespace for a thread that the event loop can't look after.
    func tickAlone() {
        attendOwnPart()
        guard isUsable else { return }
        carryOutDeferred()
        if takeTurn() { repair(isThorough: false, ofIdle: true) }
    }

    // MARK: Who ticks

    private func takeRole(
        isUsed: Bool,
        _ follow: (ProcessIdentity) -> ProcessExits<ObjectIdentifier>.Finding
    ) -> TickerRole {
        let seat = control.ticker
        let seen = seat.sighting
        let isTicker = seen.session == session.number
        guard isUsed || (isTicker || isDeputy) && isUsedByOthers else {
            leaveSeat()
            return .idle
        }
        if isTicker {
            leaveDeputy()
            relieveStoppedDeputy()
            return .ticking
        }
        let isSilent = ticker.withLock { $0.ticker.note(seen) > Self.silence }
        if seen.session == 0 || isSilent || hasEnded(\.ticker, seen.session, follow) {
            guard seat.take(from: seen, for: session.number) else {
                return .following(isHeard: false, isRelieved: false)
            }
            // What the ticker before has missed is not known.
            ticker.withLock { $0.transaction = -1 }
            leaveDeputy()
            return .ticking
        }
        let isRelieved = !isDeputyNow(follow)
        let (isHeard, isDeputyHeard) = ticker.withLock { ($0.ticker.isHeard, $0.deputy.isHeard) }
        return .following(isHeard: isHeard, isRelieved: isRelieved && isDeputyHeard)
    }

    private var isDeputy: Bool { control.deputy.sighting.session == session.number }

    /// Counts a look if this process is the deputy; otherwise takes the deputy's seat if it is free, or listens for the
    /// deputy's end.
    ///
    /// - Returns: Whether this process is the deputy, or has to look again who is.
    private func isDeputyNow(_ follow: (ProcessIdentity) -> ProcessExits<ObjectIdentifier>.Finding) -> Bool {
        let seat = control.deputy
        let seen = seat.sighting
        if seen.session != session.number {
            guard seen.session == 0 || hasEnded(\.deputy, seen.session, follow) else { return false }
            guard seat.take(from: seen, for: session.number) else { return true }
        }
        seat.countTick()
        return true
    }

    /// Empties the deputy's seat if the deputy has not looked for a while, so that another process takes it.
    private func relieveStoppedDeputy() {
        let seen = control.deputy.sighting
        guard seen.session != 0, ticker.withLock({ $0.deputy.note(seen) > Self.deputySilence }) else { return }
        if control.deputy.take(from: seen, for: 0) { nudgeAll() }
    }

    /// Follows the process that has a seat, if it is not followed yet; returns whether it has ended.
    private func hasEnded(
        _ seat: any WritableKeyPath<KnownTicker, KnownSeat> & Sendable,
        _ number: UInt64,
        _ follow: (ProcessIdentity) -> ProcessExits<ObjectIdentifier>.Finding
    ) -> Bool {
        guard control.mayLive(session: number) else { return true }
        let isKnown = ticker.withLock {
            let known = $0[keyPath: seat]
            // What hindered this process, a descriptor that was missing for example, may have passed.
            return known.followed == number
                && (known.isHeard || MonotonicInstant.now.duration(since: known.lastTry) < Self.retry)
        }
        if isKnown { return false }
        var finding = ProcessExits<ObjectIdentifier>.Finding.unheard
        if let process = process(ofSession: number) { finding = follow(process) }
        ticker.withLock {
            $0[keyPath: seat].followed = number
            $0[keyPath: seat].isHeard = finding == .followed
            $0[keyPath: seat].lastTry = .now
        }
        return finding == .ended
    }

    /// Looks again who ticks, and who is the deputy: a process that this one follows has ended.
    package func forgetTicker() { ticker.withLock { ($0.ticker.followed, $0.deputy.followed) = (0, 0) } }

    /// After what time a process looks whether the ticker is stopped, although the deputy looks once a second.
    ///
    /// All processes together look at most eight times a second.
    package var restInterval: Duration {
        min(max(.seconds(1), .milliseconds(125) * Int(slots.inUse.load())), Self.longestRest)
    }

    package var hasTaskWakeups: Bool { TaskWakeups.isUsed(in: root) }

    /// Whether other processes wait or watch here.
    private var isUsedByOthers: Bool {
        if slots.hasWaiter { return true }
        let isWatched = try? read { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().watchers > 0 else { return false }
            return try snapshot.watchers().contains { $0.row.session != 0 }
        }
        return isWatched ?? true
    }

    /// Gives up the deputy's seat, if this process has it, because it is the ticker now.
    private func leaveDeputy() {
        if control.deputy.leave(session.number) { nudgeAll() }
    }

    /// Whether another process has taken the ticker's or the deputy's seat since this one looked, or none has it.
    package var hasNewTicker: Bool {
        let (holder, second) = (control.ticker.sighting.session, control.deputy.sighting.session)
        return ticker.withLock { known in
            holder == 0 || holder != session.number && holder != known.ticker.followed
                || second == 0 || second != session.number && second != known.deputy.followed
        }
    }

    // MARK: The ticker's work

    private func tickForAll() {
        let count = control.ticker.countTick()
        _ = takeTurn(force: true)
        let transaction = engine.lastChange
        let isThorough = count % Self.ticksToThoroughSweep == 0
        let ticksToIdle = isThorough ? Self.ticksToThoroughSweepOfIdle : Self.ticksToSweepOfIdle
        repair(isThorough: isThorough, ofIdle: count % ticksToIdle == 0)
        let hasMoved = ticker.withLock { known in
            defer { known.transaction = transaction }
            return known.transaction != transaction
        }
        if hasMoved { nudgeAll() }
    }

    /// Repairs what dead processes left undone, and removes what expired.
    private func repair(isThorough: Bool, ofIdle: Bool) {
        engine.lookForAbandonedGate()
        sweepSlots(isThorough: isThorough, ofIdle: ofIdle)
        dropRegistrations(of: .theDead, timeout: Self.upkeepPatience)
        // The processes that wait here also listen for the end of claimants, and should have returned these claims at
        // once.
        if returnClaimsOfTheDead(timeout: Self.upkeepPatience) { lateFinds.add(1, ordering: .relaxed) }
        removeWhatExpired()
        for part in parts.all { part.tickForAll(self) }
    }

    private func removeWhatExpired() {
        let isDue = try? read { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().expiring > 0 else { return false }
            return try !snapshot.due(limit: 1).isEmpty
        }
        guard isDue ?? false else { return }
        // The transaction itself first removes what is due, as far as there is disk space for that.
        try? write(.removing, timeout: Self.upkeepPatience) { (_) throws(SpaceError) in }
    }
}
