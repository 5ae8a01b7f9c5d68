package import SpaceSystem
import Synchronization
import TupleCoding

extension NamespaceCore {
    /// How long a thread spins before it sleeps: longer than a futex takes to wake a thread on an idle processor.
    ///
    /// With a shorter spin, two processes that answer each other would both sleep for each answer: waking one
    /// of them takes longer than the other would spin.
    private static let longestSpin = Duration.microseconds(60)
    private static let mostLooksInVain = 8
    /// After how long a thread that waits looks at the latest whether the namespace can still be used.
    private static let longestSleep = Duration.seconds(30)

    /// Looks until `look` finds something; the calling thread sleeps between two looks.
    ///
    /// A look that fails because the gate or a reader is not available does not end the wait: the next turn looks
    /// again. The result is `nil` if the time passes first; if the last look failed then, its error is thrown.
    package func block<R>(
        _ interest: @autoclosure () -> Interest,
        text: @autoclosure () -> String,
        until deadline: MonotonicInstant?,
        interruption: Interruption? = nil,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> R? {
        var first = FirstLook(until: deadline)
        if let found = try first.make(in: self, look) { return found.result }
        if try first.isOver() { return nil }
        try checkMayWait()
        let measure = WaitMeasure(self, interest())
        // If other waiters have slots, this one takes its turn behind them.
        var hasSpun = !slots.isAnybodyWaiting && maySpin
        if hasSpun, let found = try spin(&first, look) {
            measure?.end(self, grantedAt: nil)
            return found.result
        }
        var wait = WaitLoop(self, after: first, interest(), doorbell: nil, measure)
        defer { wait.end() }
        var isDescribed = false
        // The event loop looks after a wait that lasts longer than a tick; until then, and if it can't, the thread does.
        // The clock decides, and not the way in which a sleep ended: a signal ends a sleep as a bell does (futex(2),
        // EINTR).
        var nextTick: MonotonicInstant?
        var hasLasted = false
        while true {
            if let result = try wait.turn(look) { return result }
            while !wait.isRaised {
                if interruption?.isTriggered ?? false { throw .cancelled }
                if try wait.isOver() { return nil }
                if !hasSpun {
                    hasSpun = true
                    if maySpin,
                        let isAnswered = Spin.wait(
                            for: Self.longestSpin,
                            while: { engine.lastWriter.isApart },
                            until: { wait.isRaised }
                        )
                    {
                        spinPolicy.note(isAnswered: isAnswered)
                        if isAnswered { break }
                    }
                }
                // The slot gets its description only now: a waiter that is served while it spins needs none.
                if !isDescribed, let slot = wait.slot {
                    slot.text = text()
                    isDescribed = true
                    tellOfWait(for: interest())
                }
                wait.attendClaimants()
                if hasLasted, wait.hasSlot, wait.hindrance == nil, EventLoop.attend(self, mayRest: true) {
                    // If the control file was cut, no process can wake this waiter.
                    wait.sleep(until: min(wait.deadline ?? .distantFuture, .now.advanced(by: Self.longestSleep)))
                } else {
                    let turn = wait.hindrance == nil ? Ticking.interval : Limits.tick
                    let end = min(nextTick ?? .distantFuture, .now.advanced(by: turn))
                    nextTick = end
                    wait.sleep(until: min(end, wait.deadline ?? end))
                    if end.hasPassed {
                        nextTick = nil
                        if !EventLoop.attend(self, mayRest: true) { tickAlone() }
                        hasLasted = true
                        wait.renew()
                        if wait.mayHaveMissed {
                            wait.lookUnrung()
                            break
                        }
                    }
                }
                try wait.wake()
            }
            hasSpun = false
        }
    }

    /// Whether a wait may spin now: the writer that it waits for last ran on another processor, and spinning has paid
    /// lately.
    private var maySpin: Bool { engine.lastWriter.isApart && spinPolicy.isDue() }

    /// Looks after each change of the namespace, for as long as a wait may spin, and without a slot.
    ///
    /// A tuple that is handed over meanwhile costs its writer no look at the slots.
    private func spin<R>(
        _ first: inout FirstLook,
        _ look: () throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        // The first of these looks sees what has changed since the caller's.
        var seen: Int?
        var looks = 0
        var found: Found<R>?
        let isAnswered = try Spin.wait(
            for: Self.longestSpin,
            while: { [deadline = first.deadline] in
                engine.lastWriter.isApart && !(deadline?.hasPassed ?? false)
            },
            until: { () throws(SpaceError) in
                let last = engine.lastChange
                guard last != seen else { return false }
                seen = last
                looks += 1
                found = try first.make(in: self, look)
                // Changes that are others' business end the spin.
                return found != nil || looks > Self.mostLooksInVain
            }
        )
        if isAnswered != nil { spinPolicy.note(isAnswered: found != nil) }
        return found
    }

    /// Counts a find after a nudge, for which no bell was rung, as a lost hint.
    ///
    /// If the tuple is granted to another waiter that has not taken it yet, no hint was lost: this waiter was only
    /// quicker.
    func noteLateFind(of id: UInt64?) {
        if let id, slots.hasGranted(id) { return }
        lateFinds.add(1, ordering: .relaxed)
    }
}
