package import SpaceSystem
import Synchronization
import TupleCoding

/// The upkeep of a namespace in which this process waits or watches.
///
/// A tick (250 ms) is the latest moment at which other processes find what a killed process left undone. One process
/// ticks for all (`TickerSeat`): it repairs what it can, and nudges all waiters and watchers if there was a commit
/// since its last tick, so that each looks for what it may have missed. Every process does its own part: once a second,
/// and when it is nudged.
extension NamespaceCore {
    /// How long the seat's ticks must not have been counted on before the ticker counts as stopped.
    private static let silence = Duration.milliseconds(700)
    /// After what time a process that can't hear the ticker's end tries again to listen for it.
    private static let retry = Duration.seconds(1)
    /// The number of ticks after which a sweep also looks for sessions whose lock a forked child inherited: eight
    /// seconds.
    private static let ticksToThoroughSweep: UInt64 = 32

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
        if takeTurn() { repair(isThorough: false) }
    }

    // MARK: Who ticks

    /// What this process knows of the ticker.
    struct KnownTicker {
        var sighting: TickerSeat.Sighting?
        /// When the seat was first seen like this.
        var since = MonotonicInstant.now
        /// The session that this process follows, and whether it will hear its end.
        var followed: UInt64 = 0
        var isHeard = false
        /// When this process last tried to listen for its end.
        var lastTry = MonotonicInstant.now
        /// The last transaction at this process's last tick as the ticker.
        var transaction = -1

        /// Notes how the seat is now; returns how long it has been so.
        mutating func note(_ now: TickerSeat.Sighting) -> Duration {
            if sighting != now { (sighting, since) = (now, .now) }
            return MonotonicInstant.now.duration(since: since)
        }
    }

    private func takeRole(
        isUsed: Bool,
        _ follow: (ProcessIdentity) -> ProcessExits<ObjectIdentifier>.Finding
    ) -> TickerRole {
        let seat = control.ticker
        let seen = seat.sighting
        if seen.session == session.number {
            if isUsed || isUsedByOthers { return .ticking }
            leaveSeat()
            return .idle
        }
        guard isUsed else { return .idle }
        let isSilent = ticker.withLock { $0.note(seen) > Self.silence }
        if seen.session == 0 || isSilent || hasEnded(ticker: seen.session, follow) {
            guard seat.take(from: seen, for: session.number) else { return .following(isHeard: false) }
            // What the ticker before has missed is not known.
            ticker.withLock { $0.transaction = -1 }
            return .ticking
        }
        return .following(isHeard: ticker.withLock { $0.isHeard })
    }

    /// Follows the ticker, if it is not followed yet; returns whether it has ended.
    private func hasEnded(
        ticker number: UInt64,
        _ follow: (ProcessIdentity) -> ProcessExits<ObjectIdentifier>.Finding
    ) -> Bool {
        guard control.mayLive(session: number) else { return true }
        let isKnown = ticker.withLock {
            // What hindered this process, a descriptor that was missing for example, may have passed.
            $0.followed == number && ($0.isHeard || MonotonicInstant.now.duration(since: $0.lastTry) < Self.retry)
        }
        if isKnown { return false }
        var finding = ProcessExits<ObjectIdentifier>.Finding.unheard
        if let process = process(ofSession: number) { finding = follow(process) }
        ticker.withLock { ($0.followed, $0.isHeard, $0.lastTry) = (number, finding == .followed, .now) }
        return finding == .ended
    }

    /// Looks again who ticks: a process that this one follows has ended.
    package func forgetTicker() { ticker.withLock { $0.followed = 0 } }

    /// Whether other processes wait or watch here.
    private var isUsedByOthers: Bool {
        if slots.hasWaiter { return true }
        let isWatched = try? read { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().watchers > 0 else { return false }
            return try snapshot.watchers().contains { $0.row.session != 0 }
        }
        return isWatched ?? true
    }

    /// Gives up the seat: no process waits or watches, or this one leaves.
    ///
    /// The others are nudged, in case one began to wait and still follows this process.
    func leaveSeat() {
        if control.ticker.leave(session.number) { nudgeAll() }
    }

    /// Whether another process has taken the seat since this one looked, or none has it.
    package var hasNewTicker: Bool {
        let holder = control.ticker.sighting.session
        return holder == 0 || holder != session.number && holder != ticker.withLock { $0.followed }
    }

    // MARK: The ticker's work

    private func tickForAll() {
        let count = control.ticker.countTick()
        _ = takeTurn(force: true)
        let transaction = engine.lastChange
        repair(isThorough: count % Self.ticksToThoroughSweep == 0)
        let hasMoved = ticker.withLock { known in
            defer { known.transaction = transaction }
            return known.transaction != transaction
        }
        if hasMoved { nudgeAll() }
    }

    /// Repairs what dead processes left undone, and removes what expired.
    private func repair(isThorough: Bool) {
        engine.lookForAbandonedGate()
        sweepSlots(isThorough: isThorough)
        dropWatchersOfTheDead(timeout: Self.upkeepPatience)
        // The processes that wait here also listen for the end of claimants, and should have returned these claims at
        // once.
        if returnClaimsOfTheDead(timeout: Self.upkeepPatience) { lateFinds.add(1, ordering: .relaxed) }
        removeWhatExpired()
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

    /// Has all waiters and watchers look, without counting as news.
    private func nudgeAll() {
        if slots.isAnybodyWaiting {
            let wakes = WakeList()
            slots.wakeEverybody(into: wakes, by: .nudge)
            wakes.takeAlong().carryOut(slots, root.wakeupFile)
        }
        engine.signalChange()
    }
}
