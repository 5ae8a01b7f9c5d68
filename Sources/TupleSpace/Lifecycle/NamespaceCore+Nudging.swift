import SpaceSystem

extension NamespaceCore {
    /// Gives up the ticker's or the deputy's seat: no process waits or watches, or this one leaves.
    ///
    /// The others are nudged, in case one began to wait and still follows this process.
    func leaveSeat() {
        let hasTicked = control.ticker.leave(session.number)
        if control.deputy.leave(session.number) || hasTicked { nudgeAll() }
    }

    /// Has all waiters and watchers look, without counting as news.
    func nudgeAll() {
        if slots.isAnybodyWaiting {
            let wakes = WakeList()
            slots.wakeEverybody(into: wakes, by: .nudge)
            wakes.takeAlong().carryOut(slots, root.wakeupFile)
        }
        engine.signalChange()
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
