import SpaceSystem
import Synchronization
import SystemPackage

// The upkeep of the table of slots: slots of dead processes are freed, and the table grows when it is full.

extension NamespaceCore {
    /// Publishes a slot for a wait; `nil` if the table is full and can't grow.
    func publishWait(_ interest: Interest, doorbell: UInt32?, isMeasured: Bool = false) -> WaitSlots.Tenancy? {
        func publish() -> WaitSlots.Tenancy? {
            slots.publish(
                interest,
                session: session.number,
                doorbell: doorbell.map { $0 + 1 } ?? 0,
                sinceMilliseconds: UInt64(Clock.realtimeMilliseconds()),
                isMeasured: isMeasured
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

    /// Adds a segment to a table that was full when it had `known` segments.
    ///
    /// It needs no lock: if two processes do it at once, both reserve the same blocks, and only one of them counts the
    /// segment.
    ///
    /// - Returns: Whether the table now has more than `known` segments.
    private func growSlots(beyond known: Int) -> Bool {
        guard slots.segments == known else { return true }
        guard known < WaitTable.mostSegments else { return false }
        do throws(Errno) {
            try control.addSegment(beyond: known)
            return true
        } catch {
            // For example, the disk is full: the shared word serves instead.
            return false
        }
    }

    /// Whether it is this process's turn to do the shared upkeep of the namespace: one process does it per tick.
    ///
    /// If `force` is true, the process gets the turn even if another took one less than a tick ago.
    func takeTurn(force: Bool = false) -> Bool {
        let now = UInt64(bitPattern: MonotonicInstant.now.nanoseconds)
        let last = slots.lastSweep.load()
        return (force || now &- last > 200_000_000)
            && slots.lastSweep.compareExchange(expected: last, desired: now).exchanged
    }

    /// Frees the slots of dead sessions, and hands on the tuples that were granted to them.
    ///
    /// All slots belong to processes of this machine, so a slot stays when the machine becomes another member.
    ///
    /// If `isThorough` is true, a session also counts as dead if its process has died and a forked child has inherited
    /// its lock. That check takes many times as long as a check of the lock alone.
    ///
    /// If `ofIdle` is false, slots are passed over to which nothing was granted: their locks cost a system call for each
    /// session, and a slot of the dead delays no tuple until the tuple is granted to it.
    func sweepSlots(isThorough: Bool, ofIdle: Bool = true) {
        slots.forgetOverflow(before: UInt64(bitPattern: MonotonicInstant.now.nanoseconds))
        guard slots.inUse.load() != 0 else { return }
        var isDead: [UInt64: Bool] = [:]
        func isAlive(_ owner: UInt64) -> Bool {
            session.hasHad(owner) || (isThorough ? isAliveHere(session: owner) : isLocked(session: owner))
        }
        for index in slots.range {
            let slot = slots.slot(index)
            let word = slot.current
            guard word.state != .free, ofIdle || word.state != .active else { continue }
            let ticket = slot.ticket.load()
            let owner = word.state == .filling ? word.payload : slot.session.load()
            let dead = isDead[owner] ?? !isAlive(owner)
            isDead[owner] = dead
            guard dead, slots.free(slot, in: word, ticket: ticket, session: session.number), word.state == .granted
            else { continue }
            engine.offer(word.payload, youngerThan: 0)
        }
    }

    private func isLocked(session number: UInt64) -> Bool { (try? control.isLocked(session: number)) ?? true }
}
