package import SpaceSystem
import TupleCoding

extension NamespaceCore {
    /// Looks until `look` finds something; the task is suspended between two looks.
    ///
    /// As in `block`, a look that could not be carried out does not end the wait. If `deadline` is `nil`, the wait has
    /// no time limit. The result is `nil` if the deadline passes.
    ///
    /// Throws `cancelled` if the task is cancelled; then the wait has taken nothing.
    package func suspend<R>(
        _ interest: Interest,
        text: () -> String,
        until deadline: MonotonicInstant?,
        _ look: () throws(SpaceError) -> Found<R>?
    ) async throws(SpaceError) -> R? {
        try await suspend(interest, text: text, after: FirstLook(until: deadline), look)
    }

    /// Looks until `look` finds something, after the first look, if that was made already.
    func suspend<R>(
        _ interest: Interest,
        text: () -> String,
        after first: FirstLook,
        _ look: () throws(SpaceError) -> Found<R>?
    ) async throws(SpaceError) -> R? {
        var first = first
        if !first.isMade, let found = try first.make(in: self, look) { return found.result }
        let deadline = first.deadline
        if deadline?.hasPassed ?? false { return try nothing(first.hindrance) }
        let doorbell = TaskWakeups.of(root).doorbell
        let measure = WaitMeasure(self, interest)
        var wait = Wait(self, interest, doorbell: doorbell, isMeasured: measure != nil)
        wait.slot?.text = text()
        tellOfWait(for: interest)
        defer { wait.end() }
        while true {
            if let found = try wait.turn(look) {
                measure?.end(self, grantedAt: wait.grantedAt)
                return found.result
            }
            if deadline?.hasPassed ?? false { return try nothing(wait.hindrance) }
            wait.attendClaimants()
            let isAttended = EventLoop.attend(self)
            // Without a doorbell no process wakes the task, and a look that was hindered is repeated.
            let mustTick = doorbell == nil || !wait.hasSlot || wait.hindrance != nil
            let tick = MonotonicInstant.now.advanced(by: wait.hindrance == nil ? Ticking.interval : Limits.tick)
            let end = mustTick ? min(tick, deadline ?? tick) : deadline
            if isAttended {
                await TaskWakeups.sleep(
                    on: wait.bell,
                    heard: wait.bellAtLook,
                    transaction: wait.transactionAtLook,
                    in: self,
                    until: end
                )
            } else {
                // The process can have no thread that wakes tasks, nor has the runtime one for its clock. So the task's
                // own thread sleeps.
                sleep(wait, until: min(tick, end ?? tick))
                tickAlone()
                await Task.yield()
            }
            if Task.isCancelled { throw .cancelled }
            wait.renew()
            wait.wake()
            try checkUsable()
        }
    }
}
