import SpaceSystem
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
    /// `deadline`: `nil`: no limit.
    /// Returns: `nil` when the time has passed.
    func block<R>(
        _ operation: String,
        _ interest: @autoclosure () -> Interest,
        text: @autoclosure () -> String,
        until deadline: MonotonicInstant?,
        interruption: Interruption? = nil,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> R? {
        if let found = try look() { return found.result }
        if deadline?.hasPassed ?? false { return nil }
        try checkMayWait(operation)
        var wait = Wait(self, interest(), doorbell: nil)
        var took: UInt64?
        defer { wait.end(took: took) }
        var hasSpun = false
        var isTick = false
        while true {
            wait.prepare()
            if let found = try look() {
                took = found.removed
                if isTick { lateFinds.add(1, ordering: .relaxed) }
                return found.result
            }
            wait.foundNothing()
            isTick = false
            while !wait.hasRung {
                if interruption?.isTriggered ?? false { throw cancelled(operation) }
                if deadline?.hasPassed ?? false { return nil }
                if !hasSpun {
                    hasSpun = true
                    if Spin.isWorthwhile, spinHabit.isDue() {
                        let isAnswered = Spin.wait(rounds: Self.spinRounds, until: { wait.hasRung })
                        spinHabit.note(isAnswered: isAnswered)
                        if isAnswered { break }
                    }
                    // Only now: who is served while spinning has no need to be described.
                    wait.slot?.text = text()
                }
                wait.attendClaimants()
                if !sleep(wait, until: deadline) {
                    tick()
                    wait.renew()
                    if wait.mayHaveMissed {
                        isTick = !wait.hasRung
                        break
                    }
                }
                try checkUsable(operation)
            }
            hasSpun = false
        }
    }

    func cancelled(_ operation: String) -> SpaceError {
        SpaceError(.cancelled, operation, namespace: name.text, reason: "the wait was cancelled; nothing was taken")
    }

    /// Sleeps until the bell has moved, the deadline, or a tick.
    private func sleep(_ wait: Wait, until deadline: MonotonicInstant?) -> Bool {
        let limit = min(Ticking.interval, deadline?.remaining ?? Ticking.interval)
        if let slot = wait.slot { slot.isSleeping.storeSequential(1) }
        defer { wait.slot?.isSleeping.store(0) }
        // An error here could only be a bad address or a bad time; a tick later the loop looks again all the same.
        let woken = try? Futex(at: wait.bell.address).wait(while: wait.bellAtLook, for: limit)
        return woken ?? false
    }
}

/// What a process does once a tick (250 ms) for a namespace in which something of it waits: whatever a killed process may
/// have left undone is found here at the latest.
extension NamespaceCore {
    func tick() {
        let now = UInt64(bitPattern: MonotonicInstant.now.nanoseconds)
        let last = lastTick.load(ordering: .relaxed)
        guard now &- last > 200_000_000,
            lastTick.compareExchange(expected: last, desired: now, ordering: .relaxed).exchanged
        else { return }
        noticeRemoval()
        guard (try? checkUsable("tick")) != nil else { return }
        lookForAbandonedGate()
        if sweepSlots(force: false) { dropWatchersOfTheDead(timeout: Self.upkeepPatience) }
        // Where somebody waits, somebody listens, and had it done at once.
        if returnClaimsOfTheDead(timeout: Self.upkeepPatience) { lateFinds.add(1, ordering: .relaxed) }
        carryOutArrears()
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

    /// Frees the slots of sessions that no longer live, and hands on what had been granted to them.
    ///
    /// One process a tick does it.
    ///
    /// Returns: Whether it was this one.
    @discardableResult
    func sweepSlots(force: Bool) -> Bool {
        let now = UInt64(bitPattern: MonotonicInstant.now.nanoseconds)
        let last = slots.lastSweep.load()
        guard force || now &- last > 200_000_000,
            slots.lastSweep.compareExchange(expected: last, desired: now).exchanged
        else { return false }
        slots.forgetOverflow(before: now)
        guard slots.inUse.load() != 0 else { return true }
        var isDead: [UInt64: Bool] = [session.number: false]
        for index in slots.range {
            let slot = slots.slot(index)
            let word = slot.current
            guard word.state != .free else { continue }
            let owner = word.state == .filling ? word.payload : slot.session.load()
            let dead = isDead[owner] ?? !isAlive(session: owner)
            isDead[owner] = dead
            guard dead, slots.free(slot, in: word, session: session.number), word.state == .granted else { continue }
            offer(word.payload, youngerThan: 0)
        }
        return true
    }
}
