package import SpaceSystem
import Synchronization
import SystemPackage
import TupleCoding

extension NamespaceCore {
    /// Rounds of spinning before a thread sleeps: about 50 µs, as long as a futex takes to wake it on an idle processor.
    ///
    /// Less would not do: of two that answer each other, each would be woken later than the other stops spinning.
    private static let spinRounds = 2000

    /// Looks until `look` finds something, sleeping in between; blocks the calling thread.
    ///
    /// A look that could not be had, for want of the gate or of a reader, does not end the wait: the next turn looks again.
    ///
    /// `deadline`: `nil`: no limit.
    /// Returns: `nil` when the time has passed.
    /// Throws: When the time has passed, what the last look failed of.
    package func block<R>(
        _ operation: String,
        _ interest: @autoclosure () -> Interest,
        text: @autoclosure () -> String,
        until deadline: MonotonicInstant?,
        interruption: Interruption? = nil,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> R? {
        var hindrance: SpaceError?
        if let found = try lookIfPossible(&hindrance, look) { return found.result }
        if deadline?.hasPassed ?? false { return try nothing(hindrance) }
        try engine.checkMayWait(operation)
        var wait = Wait(self, interest(), doorbell: nil)
        var took: UInt64?
        defer { wait.end(took: took) }
        var hasSpun = false
        var isTick = false
        // By the clock, and not by how a sleep ended: a signal ends one like a bell (futex(2), EINTR).
        var nextTick: MonotonicInstant?
        while true {
            wait.prepare()
            if let found = try lookIfPossible(&hindrance, look) {
                took = found.removed
                if isTick { noteLateFind(of: found.removed) }
                return found.result
            }
            wait.foundNothing(isHindered: hindrance != nil)
            isTick = false
            while !wait.hasRung {
                if interruption?.isTriggered ?? false { throw cancelled(operation) }
                if deadline?.hasPassed ?? false { return try nothing(hindrance) }
                if !hasSpun {
                    hasSpun = true
                    if Spin.isWorthwhile, spinPolicy.isDue() {
                        let isAnswered = Spin.wait(rounds: Self.spinRounds, until: { wait.hasRung })
                        spinPolicy.note(isAnswered: isAnswered)
                        if isAnswered { break }
                    }
                    // Only now: who is served while spinning has no need to be described.
                    wait.slot?.text = text()
                }
                wait.attendClaimants()
                let turn = wait.isHindered ? Limits.tick : Ticking.interval
                let end = min(nextTick ?? .distantFuture, .now.advanced(by: turn))
                nextTick = end
                sleep(wait, until: min(end, deadline ?? end))
                if end.hasPassed {
                    nextTick = nil
                    tick()
                    wait.renew()
                    if wait.mayHaveMissed {
                        isTick = !wait.hasRung && hindrance == nil
                        break
                    }
                }
                try checkUsable(operation)
            }
            hasSpun = false
        }
    }

    /// Looks; where it can't look at this moment it finds nothing, and `hindrance` says why.
    func lookIfPossible<R>(
        _ hindrance: inout SpaceError?,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        do throws(SpaceError) {
            let found = try look()
            hindrance = nil
            return found
        } catch {
            // A stopped holder is told at once: it may stay stopped.
            guard error.code == .holderBusy || error.code == .readersExhausted else { throw error }
            hindrance = error
            return nil
        }
    }

    /// Counts a find at a tick, unheard, as a lost hint.
    ///
    /// A tuple that was granted to another waiter, which has not taken it yet, was merely taken before that one.
    func noteLateFind(of id: UInt64?) {
        if let id, slots.hasGranted(id) { return }
        lateFinds.add(1, ordering: .relaxed)
    }

    /// What a wait comes to when its time has passed: nothing came, unless the last look could not be had.
    package func nothing<R>(_ hindrance: SpaceError?) throws(SpaceError) -> R? {
        if let hindrance { throw hindrance }
        return nil
    }

    package func cancelled(_ operation: String) -> SpaceError {
        SpaceError(.cancelled, operation, namespace: name.text, reason: "the wait was cancelled; nothing was taken")
    }

    /// Sleeps until the bell has moved, until a moment, or until a signal comes.
    private func sleep(_ wait: Wait, until end: MonotonicInstant) {
        if let slot = wait.slot { slot.isSleeping.storeSequential(1) }
        defer { wait.slot?.isSleeping.store(0) }
        // An error here could only be a bad address or a bad time; a tick later the loop looks again all the same.
        _ = try? Futex(at: wait.bell.address).wait(while: wait.bellAtLook, until: end)
    }
}

/// What is done once a tick (250 ms) for a namespace in which a process waits: what a killed process may have left undone is
/// found here at the latest.
///
/// Each process looks after what is its own. What concerns all is done by one of them, the first to take the turn: two hundred
/// idle waiters must not do it two hundred times. A process killed or stopped in its turn costs the others one tick.
extension NamespaceCore {
    /// After how many turns the sweep looks for sessions whose lock a forked child inherited: eight seconds.
    private static let turnsToThoroughSweep: UInt64 = 32

    package func tick() {
        let now = UInt64(bitPattern: MonotonicInstant.now.nanoseconds)
        let last = lastTick.load(ordering: .relaxed)
        guard now &- last > 200_000_000,
            lastTick.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        engine.noticeRemoval()
        guard (try? checkUsable("tick")) != nil else { return }
        restoreSession()
        carryOutDeferred()
        guard takeTurn() else { return }
        engine.lookForAbandonedGate()
        sweepSlots(isThorough: now / 250_000_000 % Self.turnsToThoroughSweep == 0)
        dropWatchersOfTheDead(timeout: Self.upkeepPatience)
        // Where somebody waits, somebody listens, and had it done at once.
        if returnClaimsOfTheDead(timeout: Self.upkeepPatience) { lateFinds.add(1, ordering: .relaxed) }
        removeWhatExpired()
    }

    private func removeWhatExpired() {
        let operation = "remove what expired"
        let isDue = try? read(operation) { (snapshot) throws(SpaceError) in
            guard try snapshot.counters().expiring > 0 else { return false }
            return try !snapshot.due(limit: 1).isEmpty
        }
        guard isDue ?? false else { return }
        // The transaction itself removes what is due, before anything else, and demands the room for it.
        try? write(operation, .removing(0), timeout: Self.upkeepPatience) { (_) throws(SpaceError) in }
    }
}
