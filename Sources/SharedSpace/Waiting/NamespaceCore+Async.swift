import SpaceSystem
import Synchronization
import TupleCoding

extension NamespaceCore {
    /// Looks until `look` finds something, suspending the task in between.
    ///
    /// `deadline`: `nil`: no limit.
    /// Returns: `nil` when the time has passed.
    /// Throws: `cancelled` when the task is; nothing was taken then.
    func suspend<R>(
        _ operation: String,
        _ interest: Interest,
        text: () -> String,
        until deadline: MonotonicInstant?,
        _ look: () throws(SpaceError) -> Found<R>?
    ) async throws(SpaceError) -> R? {
        if Task.isCancelled { throw cancelled(operation) }
        if let found = try look() { return found.result }
        if deadline?.hasPassed ?? false { return nil }
        let room = DoorbellRoom.of(root)
        var wait = Wait(self, interest, doorbell: room.doorbell)
        wait.slot?.text = text()
        var took: UInt64?
        defer { wait.end(took: took) }
        var isTick = false
        while true {
            wait.prepare()
            if let found = try look() {
                took = found.removed
                if isTick { lateFinds.add(1, ordering: .relaxed) }
                return found.result
            }
            wait.foundNothing()
            if deadline?.hasPassed ?? false { return nil }
            wait.attendClaimants()
            await room.sleep(wait, in: self, until: deadline)
            isTick = !wait.hasRung
            if Task.isCancelled { throw cancelled(operation) }
            try checkUsable(operation)
        }
    }

    /// Wakes whoever of this process waits here, so that they learn that it has left.
    func wakeOwnWaiters() {
        let wakes = WakeList()
        for index in slots.range {
            let slot = slots.slot(index)
            if slot.current.state != .free, slot.session.load() == session.number { wakes.add(slot) }
        }
        wakes.takeAlong().carryOut(slots, root.doorbellFile)
    }
}
