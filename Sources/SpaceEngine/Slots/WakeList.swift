import SpaceSystem

/// The waiters that a commit, or a grant handed on, has to wake.
///
/// The list is filled under the gate and carried out after its release. So while other processes wait for the gate, its
/// holder makes no system call during which it could be stopped.
package final class WakeList {
    /// The contents of the list, carried out after the release, when the list itself belongs to the gate's next holder.
    package struct Taken {
        /// The one sleeper that there usually is, or -1 for none.
        fileprivate var sleeper = -1
        fileprivate var otherSleepers: [Int] = []
        fileprivate var taskWords: [UInt32] = []
        fileprivate var wakesOverflow = false
        /// Where writers sleep that wait for a place in the near end.
        fileprivate var place: Futex?

        /// Wakes the waiters of the list.
        ///
        /// A wake-up that fails costs its waiter one tick. The file is opened only if a task must be woken, because
        /// finding it takes system calls.
        package func carryOut(_ slots: WaitSlots, _ wakeupFile: @autoclosure () -> TaskWakeupFile?) {
            if sleeper >= 0 { _ = slots.slot(sleeper).wakeFutex.wake() }
            for index in otherSleepers { _ = slots.slot(index).wakeFutex.wake() }
            if wakesOverflow { _ = slots.overflowFutex.wake() }
            if let place { _ = place.wake() }
            guard !taskWords.isEmpty, let file = wakeupFile() else { return }
            for taskWord in taskWords { file.ring(taskWord) }
        }
    }

    @exclusivity(unchecked) package private(set) var isEmpty = true
    private var list = Taken()

    package init() {}

    /// Returns the list, and empties it.
    package func takeAlong() -> Taken {
        let taken = list
        list = Taken()
        isEmpty = true
        return taken
    }

    /// Raises the slot's wake word at once, which a spinning waiter sees, and notes the waiter if the kernel has to wake it.
    package func add(_ slot: WaitSlots.Slot, by ring: WakeWord.Ring = .news) {
        _ = slot.wakeWord.add(ring.rawValue)
        if slot.isSleeping.loadSequential() != 0 {
            if list.sleeper < 0 { list.sleeper = slot.index } else { list.otherSleepers.append(slot.index) }
            isEmpty = false
        }
        let taskWord = slot.taskWord.load()
        if taskWord != 0, !list.taskWords.contains(taskWord - 1) {
            list.taskWords.append(taskWord - 1)
            isEmpty = false
        }
    }

    /// Notes that the writers that sleep on this word have to be woken; it was raised.
    func addPlace(_ place: Futex) {
        list.place = place
        isEmpty = false
    }

    package func addOverflow(of slots: WaitSlots, by ring: WakeWord.Ring = .news) {
        guard slots.hasOverflowWaiters else { return }
        _ = slots.overflow.add(ring.rawValue)
        list.wakesOverflow = true
        isEmpty = false
    }
}
