import SpaceSystem

extension Upkeep {
    /// Gives up the ticker's or the deputy's seat: no process waits or watches, or this one leaves.
    ///
    /// The others are nudged, in case one began to wait and still follows this process.
    func leaveSeat() {
        let hasTicked = core.control.ticker.leave(core.session.number)
        if core.control.deputy.leave(core.session.number) || hasTicked { nudgeAll() }
    }

    /// Has all waiters and watchers look, without counting as news.
    func nudgeAll() {
        if core.slots.isAnybodyWaiting {
            let wakes = WakeList()
            core.slots.wakeEverybody(into: wakes, by: .nudge)
            wakes.takeAlong().carryOut(core.slots, core.root.wakeupFile)
        }
        core.engine.signalChange()
    }

    /// Wakes all waiters of this process in this namespace, so that they notice that the process has left it.
    func wakeOwnWaiters() {
        let wakes = WakeList()
        for index in core.slots.range {
            let slot = core.slots.slot(index)
            if slot.current.state != .free, slot.session.load() == core.session.number { wakes.add(slot) }
        }
        wakes.takeAlong().carryOut(core.slots, core.root.wakeupFile)
    }
}
