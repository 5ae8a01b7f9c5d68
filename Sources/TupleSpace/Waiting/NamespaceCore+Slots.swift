import SpaceSystem
import Synchronization
import SystemPackage

// The upkeep of the table of slots: who is dead leaves it, and it grows with a crowd.

extension NamespaceCore {
    /// A slot for a wait; `nil` when the table is full and can't grow.
    func publishWait(_ interest: Interest, doorbell: UInt32?) -> WaitSlots.Tenancy? {
        func publish() -> WaitSlots.Tenancy? {
            slots.publish(
                interest,
                session: session.number,
                doorbell: doorbell.map { $0 + 1 } ?? 0,
                sinceMilliseconds: UInt64(Clock.realtimeMilliseconds())
            )
        }
        var known = slots.segments
        if let tenancy = publish() { return tenancy }
        if takeTurn(force: true) {
            sweepSlots(isThorough: true)
            if let tenancy = publish() { return tenancy }
        }
        while growSlots(beyond: known) {
            known = slots.segments
            if let tenancy = publish() { return tenancy }
        }
        return nil
    }

    /// Adds a segment to a table that was full when it had `known` ones.
    ///
    /// Needs no lock: two processes that do it at once reserve the same blocks, and one of them counts the segment.
    ///
    /// - Returns: Whether there are more than `known` now.
    private func growSlots(beyond known: Int) -> Bool {
        guard slots.segments == known else { return true }
        guard known < WaitTable.mostSegments else { return false }
        do throws(Errno) {
            try control.addSegment(beyond: known)
            return true
        } catch {
            // No room, say: the shared word serves.
            return false
        }
    }

    /// Whether it is this process's turn to look after the namespace for all that wait there: one process a tick does it.
    ///
    /// `force`: Whether a turn less than a tick ago does not count.
    func takeTurn(force: Bool = false) -> Bool {
        let now = UInt64(bitPattern: MonotonicInstant.now.nanoseconds)
        let last = slots.lastSweep.load()
        return (force || now &- last > 200_000_000)
            && slots.lastSweep.compareExchange(expected: last, desired: now).exchanged
    }

    /// Frees the slots of sessions that no longer live, and hands on what had been granted to them.
    ///
    /// `isThorough`: Whether a session counts as dead, too, whose process has died and left its lock to a forked child. To learn
    /// that takes many times as long as to ask for the lock.
    func sweepSlots(isThorough: Bool) {
        slots.forgetOverflow(before: UInt64(bitPattern: MonotonicInstant.now.nanoseconds))
        guard slots.inUse.load() != 0 else { return }
        var isDead: [UInt64: Bool] = [session.number: false]
        for index in slots.range {
            let slot = slots.slot(index)
            let word = slot.current
            guard word.state != .free else { continue }
            let ticket = slot.ticket.load()
            let owner = word.state == .filling ? word.payload : slot.session.load()
            let dead = isDead[owner] ?? !(isThorough ? isAlive(session: owner) : isLocked(session: owner))
            isDead[owner] = dead
            guard dead, slots.free(slot, in: word, ticket: ticket, session: session.number), word.state == .granted
            else { continue }
            engine.offer(word.payload, youngerThan: 0)
        }
    }

    private func isLocked(session number: UInt64) -> Bool { (try? control.isLocked(session: number)) ?? true }
}
