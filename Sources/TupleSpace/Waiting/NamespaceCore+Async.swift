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
        _ operation: String,
        _ interest: Interest,
        text: () -> String,
        until deadline: MonotonicInstant?,
        _ look: () throws(SpaceError) -> Found<R>?
    ) async throws(SpaceError) -> R? {
        if Task.isCancelled { throw cancelled(operation) }
        var hindrance: SpaceError?
        if let found = try lookIfPossible(&hindrance, look) { return found.result }
        if deadline?.hasPassed ?? false { return try nothing(hindrance) }
        let room = TaskWakeups.of(root)
        var wait = Wait(self, interest, doorbell: room.doorbell)
        wait.slot?.text = text()
        var took: UInt64?
        defer { wait.end(took: took) }
        var isTick = false
        while true {
            wait.prepare()
            if let found = try lookIfPossible(&hindrance, look) {
                took = found.removed
                if isTick { noteLateFind(of: found.removed) }
                return found.result
            }
            wait.foundNothing(isHindered: hindrance != nil)
            if deadline?.hasPassed ?? false { return try nothing(hindrance) }
            wait.attendClaimants()
            await room.sleep(
                on: wait.bell,
                heard: wait.bellAtLook,
                transaction: wait.transactionAtLook,
                in: self,
                until: deadline
            )
            isTick = !wait.hasRung && hindrance == nil
            if Task.isCancelled { throw cancelled(operation) }
            try checkUsable(operation)
        }
    }

    /// Wakes all waiters of this process in this namespace, so that they notice that the process has left it.
    func wakeOwnWaiters() {
        let wakes = WakeList()
        for index in slots.range {
            let slot = slots.slot(index)
            if slot.current.state != .free, slot.session.load() == session.number { wakes.add(slot) }
        }
        wakes.takeAlong().carryOut(slots, root.wakeupFile)
    }
}
