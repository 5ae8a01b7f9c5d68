package import SpaceSystem
import Synchronization

/// The waits of this process in a namespace.
package struct Waits {
    let core: NamespaceCore

    /// How long a thread spins before it sleeps: longer than a futex takes to wake a thread on an idle processor.
    ///
    /// With a shorter spin, two processes that answer each other would both sleep for each answer: waking one
    /// of them takes longer than the other would spin.
    private static let longestSpin = Duration.microseconds(60)
    private static let mostLooksInVain = 8
    /// The time after which a waiting thread checks, at the latest, whether the namespace can still be used.
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
        _ look: (inout Aim) throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> R? {
        var first = FirstLook(until: deadline)
        if let found = try first.make(in: core, look) { return found.result }
        if try first.isOver() { return nil }
        try core.checkMayWait()
        let measure = WaitMeasure(core, interest())
        // If other waiters have slots, this one takes its turn after them.
        var hasSpun = !core.slots.isAnybodyWaiting && maySpin
        if hasSpun, let found = try spin(&first, look) {
            measure?.end(core, grantedAt: nil)
            return found.result
        }
        var wait = WaitLoop(core, after: first, interest(), taskWord: nil, measure)
        defer { wait.end() }
        var isDescribed = false
        // The event loop looks after a wait that lasts longer than a tick; until then, and if it can't, the thread does.
        // The clock decides, and not the way in which a sleep ended: a signal ends a sleep as a raised word does (futex(2),
        // EINTR).
        var nextTick: MonotonicInstant?
        var hasLasted = false
        while true {
            if let result = try wait.turn(look) { return result }
            while !wait.isRaised {
                let isInterrupted = interruption?.isTriggered ?? false
                try wait.checkNotInherited()
                if isInterrupted { throw .cancelled }
                if try wait.isOver() { return nil }
                if !hasSpun {
                    hasSpun = true
                    if maySpin,
                        let isAnswered = Spin.wait(
                            for: Self.longestSpin,
                            while: { core.engine.lastWriter.isApart },
                            until: { wait.isRaised }
                        )
                    {
                        core.spinPolicy.note(isAnswered: isAnswered)
                        if isAnswered { break }
                    }
                }
                // The slot gets its description only now: a waiter that is served while it spins needs none.
                if !isDescribed, let slot = wait.slot {
                    slot.text = text()
                    isDescribed = true
                }
                wait.attendClaimants()
                if hasLasted, wait.hasSlot, !wait.mustLookAgain, EventLoop.attend(core, mayRest: true) {
                    // If the control file was cut, no process can wake this waiter.
                    let end = min(wait.deadline ?? .distantFuture, .now.advanced(by: Self.longestSleep))
                    try wait.sleep(until: min(end, interruption?.sleepLimit ?? end))
                } else {
                    let turn = wait.hindrance == nil ? Ticking.interval : Limits.tick
                    let end = min(nextTick ?? .distantFuture, .now.advanced(by: turn))
                    nextTick = end
                    try wait.sleep(until: min(end, wait.deadline ?? end, interruption?.sleepLimit ?? end))
                    if end.hasPassed {
                        nextTick = nil
                        if !EventLoop.attend(core, mayRest: true) { core.upkeep.tickAlone() }
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
    private var maySpin: Bool { core.engine.lastWriter.isApart && core.spinPolicy.isDue() }

    /// Looks after each change of the namespace, for as long as a wait may spin, and without a slot.
    ///
    /// A tuple that is handed over during this time costs its writer no look at the slots.
    private func spin<R>(
        _ first: inout FirstLook,
        _ look: (inout Aim) throws(SpaceError) -> Found<R>?
    ) throws(SpaceError) -> Found<R>? {
        // The first of these looks sees what has changed since the caller's.
        var seen: Int?
        var looks = 0
        var found: Found<R>?
        let isAnswered = try Spin.wait(
            for: Self.longestSpin,
            while: { [deadline = first.deadline] in
                core.engine.lastWriter.isApart && !(deadline?.hasPassed ?? false)
            },
            until: { () throws(SpaceError) in
                let last = core.engine.lastChange
                guard last != seen else { return false }
                seen = last
                looks += 1
                found = try first.make(in: core, look)
                // Changes that are others' business end the spin.
                return found != nil || looks > Self.mostLooksInVain
            }
        )
        if isAnswered != nil { core.spinPolicy.note(isAnswered: found != nil) }
        return found
    }

    /// Counts a find after a nudge, for which the word was not raised, as a lost hint.
    ///
    /// If the tuple is granted to another waiter that has not taken it yet, no hint was lost: this waiter was only
    /// quicker.
    func noteLateFind(of id: UInt64?) {
        if let id, core.slots.hasGranted(id) { return }
        core.upkeepState.lateFinds.add(1, ordering: .relaxed)
    }
}

extension NamespaceCore {
    /// The waits of this process.
    package var waits: Waits { Waits(core: self) }
}
