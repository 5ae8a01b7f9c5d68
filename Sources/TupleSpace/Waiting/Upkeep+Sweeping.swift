import SpaceSystem

extension Upkeep {
    /// The shortest time between two turns, in nanoseconds: a little less than a tick, so that a tick that comes early counts.
    static let shortestTurn: Int64 = 200_000_000

    /// Whether it is this process's turn to do the shared upkeep of the namespace: one process does it per tick.
    ///
    /// If `force` is true, the process gets the turn even if another took one less than a tick ago.
    func takeTurn(force: Bool = false) -> Bool {
        let now = UInt64(bitPattern: MonotonicInstant.now.nanoseconds)
        let last = core.slots.lastSweep.load()
        return (force || now &- last > UInt64(Self.shortestTurn))
            && core.slots.lastSweep.compareExchange(expected: last, desired: now).exchanged
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
        core.slots.forgetOverflow(before: UInt64(bitPattern: MonotonicInstant.now.nanoseconds))
        guard core.slots.inUse.load() != 0 else { return }
        var isDead: [UInt64: Bool] = [:]
        func isAlive(_ owner: UInt64) -> Bool {
            core.session.hasHad(owner)
                || (isThorough ? core.liveness.isAliveHere(session: owner) : isLocked(session: owner))
        }
        for index in core.slots.range {
            let slot = core.slots.slot(index)
            let word = slot.current
            guard word.state != .free, ofIdle || word.state != .active else { continue }
            let ticket = slot.ticket.load()
            let owner = word.state == .filling ? word.payload : slot.session.load()
            let dead = isDead[owner] ?? !isAlive(owner)
            isDead[owner] = dead
            guard dead, core.slots.free(slot, in: word, ticket: ticket, session: core.session.number),
                word.state == .granted
            else { continue }
            core.engine.offer(word.payload, youngerThan: 0)
        }
    }

    private func isLocked(session number: UInt64) -> Bool { (try? core.control.isLocked(session: number)) ?? true }
}
