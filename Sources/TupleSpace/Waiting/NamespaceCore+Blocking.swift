package import SpaceSystem
import Synchronization
import TupleCoding

extension NamespaceCore {
    /// Rounds of spinning before a thread sleeps: about 50 µs, as long as a futex takes to wake it on an idle
    /// processor.
    ///
    /// With a shorter spin, two processes that answer each other would both sleep for each answer: waking one
    /// of them takes longer than the other would spin.
    private static let spinRounds = 2000

    /// Looks until `look` finds something; the calling thread sleeps between two looks.
    ///
    /// A look that fails because the gate or a reader is not available does not end the wait: the next turn looks
    /// again. If `deadline` is `nil`, the wait has no time limit. The result is `nil` if the deadline passes.
    ///
    /// If the deadline passes and the last look failed, the error of that look is thrown.
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
        try checkMayWait(operation)
        var wait = Wait(self, interest(), doorbell: nil)
        var took: UInt64?
        defer { wait.end(took: took) }
        var hasSpun = false
        var isTick = false
        // The clock decides, and not the way in which a sleep ended: a signal ends a sleep as a bell does (futex(2),
        // EINTR).
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
                    // The slot gets its description only now: a waiter that is served while it spins needs none.
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

    /// Looks; if a look is not possible at this moment, the result is `nil` and `hindrance` says why.
    func lookIfPossible<R>(
        _ hindrance: inout SpaceError?,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        do throws(SpaceError) {
            let found = try look()
            hindrance = nil
            return found
        } catch {
            // A stopped holder is reported at once: it may stay stopped.
            guard error.code == .holderBusy || error.code == .readersExhausted else { throw error }
            hindrance = error
            return nil
        }
    }

    /// Counts a find at a tick, for which no bell was heard, as a lost hint.
    ///
    /// If the tuple is granted to another waiter that has not taken it yet, no hint was lost: this waiter was only
    /// quicker.
    func noteLateFind(of id: UInt64?) {
        if let id, slots.hasGranted(id) { return }
        lateFinds.add(1, ordering: .relaxed)
    }

    /// The result of a wait whose deadline has passed: `nil`, or the error of the last look if that look failed.
    package func nothing<R>(_ hindrance: SpaceError?) throws(SpaceError) -> R? {
        if let hindrance { throw hindrance }
        return nil
    }

    package func cancelled(_ operation: String) -> SpaceError {
        SpaceError(.cancelled, operation, namespace: name.text, reason: "the wait was cancelled; nothing was taken")
    }

    /// Sleeps until the bell has moved, until the given moment, or until a signal arrives.
    private func sleep(_ wait: Wait, until end: MonotonicInstant) {
        if let slot = wait.slot { slot.isSleeping.storeSequential(1) }
        defer { wait.slot?.isSleeping.store(0) }
        // The only possible errors are a bad address and a bad time; even then the loop looks again a tick later.
        _ = try? Futex(at: wait.bell.address).wait(while: wait.bellAtLook, until: end)
    }
}

/// The upkeep that a process does once a tick (250 ms) for a namespace in which it waits.
///
/// The tick is the latest moment at which other processes find what a killed process left undone. Each process does its
/// own part. The shared part is done by one process, the first to take the turn: two hundred idle waiters must not do
/// it two hundred times. If a process is killed or stopped during its turn, the others lose one tick.
extension NamespaceCore {
    /// The number of turns after which the sweep also looks for sessions whose lock a forked child inherited: eight
    /// seconds.
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
        // If a process waits here, it also listens for the end of claimants, and should have returned these claims at
        // once.
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
        // The transaction itself first removes what is due, and demands the disk space for that.
        try? write(operation, .removing(0), timeout: Self.upkeepPatience) { (_) throws(SpaceError) in }
    }
}
