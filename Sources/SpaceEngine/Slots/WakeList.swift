import SpaceSystem
import TupleCoding

/// Whom a commit, or a grant handed on, has to wake.
///
/// Filled under the gate, carried out after its release: no system call that a stopped process could draw out happens
/// while others wait.
package final class WakeList {
    /// The same, for the time after the release, when the list is the next holder's.
    package struct Taken {
        /// Mostly it is one; -1: none.
        fileprivate var sleeper = -1
        fileprivate var otherSleepers: [Int] = []
        fileprivate var doorbells: [UInt32] = []
        fileprivate var wakesOverflow = false

        /// Wakes them.
        ///
        /// A wake-up that fails is a lost hint, which costs its waiter one tick.
        package func carryOut(_ slots: WaitSlots, _ wakeupFile: TaskWakeupFile?) {
            if sleeper >= 0 { _ = slots.slot(sleeper).bellFutex.wake() }
            for index in otherSleepers { _ = slots.slot(index).bellFutex.wake() }
            if wakesOverflow { _ = slots.overflowFutex.wake() }
            for doorbell in doorbells { wakeupFile?.ring(doorbell) }
        }
    }

    @exclusivity(unchecked) package private(set) var isEmpty = true
    private var list = Taken()

    package init() {}

    /// Empties the list.
    package func takeAlong() -> Taken {
        let taken = list
        list = Taken()
        isEmpty = true
        return taken
    }

    /// Raises the slot's bell at once, which a spinning waiter sees, and notes who has to be woken by the kernel.
    package func add(_ slot: WaitSlots.Slot) {
        _ = slot.bell.add(1)
        if slot.isSleeping.loadSequential() != 0 {
            if list.sleeper < 0 { list.sleeper = slot.index } else { list.otherSleepers.append(slot.index) }
            isEmpty = false
        }
        let doorbell = slot.doorbell.load()
        if doorbell != 0, !list.doorbells.contains(doorbell - 1) {
            list.doorbells.append(doorbell - 1)
            isEmpty = false
        }
    }

    package func addOverflow(of slots: WaitSlots) {
        guard slots.hasOverflowWaiters else { return }
        _ = slots.overflow.add(1)
        list.wakesOverflow = true
        isEmpty = false
    }
}
