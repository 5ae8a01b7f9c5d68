package import SpaceSystem

extension Waits {
    /// Looks until `look` finds something; the task is suspended between two looks.
    ///
    /// As in `block`, a look that could not be carried out does not end the wait. The result is `nil` if the time passes
    /// first.
    ///
    /// Throws `cancelled` if the task is cancelled; then the wait has taken nothing.
    package func suspend<R>(
        _ interest: Interest,
        text: () -> String,
        until deadline: MonotonicInstant?,
        _ look: (inout Aim) throws(SpaceError) -> Found<R>?
    ) async throws(SpaceError) -> R? {
        try await suspend(interest, text: text, after: FirstLook(until: deadline), look)
    }

    /// Looks until `look` finds something, after the first look, if that was made already.
    func suspend<R>(
        _ interest: Interest,
        text: () -> String,
        after first: FirstLook,
        _ look: (inout Aim) throws(SpaceError) -> Found<R>?
    ) async throws(SpaceError) -> R? {
        var first = first
        if !first.isMade {
            if Task.isCancelled { throw .cancelled }
            if let found = try first.make(in: core, look) { return found.result }
        }
        if try first.isOver() { return nil }
        let taskWord = TaskWakeups.of(core.root).taskWord
        var wait = WaitLoop(core, after: first, interest, taskWord: taskWord, WaitMeasure(core, interest))
        wait.slot?.text = text()
        defer { wait.end() }
        while true {
            if let result = try wait.turn(look) { return result }
            if try wait.isOver() { return nil }
            wait.attendClaimants()
            let isAttended = EventLoop.attend(core)
            // Without a task word no process wakes the task, and a look that was hindered or left something is repeated.
            let mustTick = taskWord == nil || !wait.hasSlot || wait.mustLookAgain
            let tick = MonotonicInstant.now.advanced(by: wait.hindrance == nil ? Ticking.interval : Limits.tick)
            let end = mustTick ? min(tick, wait.deadline ?? tick) : wait.deadline
            if isAttended {
                await TaskWakeups.sleep(
                    on: wait.wakeWord,
                    heard: wait.wakeWordAtLook,
                    transaction: wait.transactionAtLook,
                    in: core,
                    until: end
                )
            } else {
                // The process can have no thread that wakes tasks, nor has the runtime one for its clock. So the task's
                // own thread sleeps.
                try wait.sleep(until: min(tick, end ?? tick))
                core.upkeep.tickAlone()
                await Task.yield()
            }
            if Task.isCancelled { throw .cancelled }
            wait.renew()
            try wait.wake()
        }
    }
}
