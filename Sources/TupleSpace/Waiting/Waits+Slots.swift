import SpaceSystem
import SystemPackage

extension Waits {
    /// Publishes a slot for a wait; `nil` if the table is full and can't grow.
    func publishWait(_ interest: Interest, taskWord: UInt32?, isMeasured: Bool = false) -> WaitSlots.Tenancy? {
        func publish() -> WaitSlots.Tenancy? {
            core.slots.publish(
                interest,
                session: core.session.number,
                taskWord: taskWord.map { $0 + 1 } ?? 0,
                sinceMilliseconds: UInt64(Clock.realtimeMilliseconds()),
                isMeasured: isMeasured
            )
        }
        var known = core.slots.segments
        if let tenancy = publish() { return tenancy }
        if core.upkeep.takeTurn(force: true) {
            core.upkeep.sweepSlots(isThorough: true)
            if let tenancy = publish() { return tenancy }
        }
        while growSlots(beyond: known) {
            known = core.slots.segments
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
        guard core.slots.segments == known else { return true }
        guard known < WaitTable.mostSegments else { return false }
        do throws(Errno) {
            try core.control.addSegment(beyond: known)
            return true
        } catch {
            // For example, the disk is full: the shared word serves instead.
            return false
        }
    }
}
