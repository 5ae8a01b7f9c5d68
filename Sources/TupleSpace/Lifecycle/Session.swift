import SpaceSystem
import Synchronization
package import SystemPackage

/// This process's use of a namespace: a number, a lock, and a file.
///
/// The kernel releases the lock when the process exits, however it exits. The file says which process it is. Claims
/// and waiters belong to the session. The lock is on the control file (`ControlFile.sessionByte`), so a clean-up that
/// removes the file in `sessions/` ends nothing, and the session writes a new one.
///
/// In a namespace that several machines share, the number carries the machine's member. When the member has ended, the
/// session goes on under a number of the machine's new member, and all that belonged to the old number has ended. The
/// session keeps the locks of its earlier numbers: waiters' slots on this machine have them.
package final class Session: Sendable {
    private let current: Atomic<UInt64>
    private let control: ControlFile
    private let state: Mutex<State>

    private struct State {
        var record: SessionFile
        var hasEnded = false
        /// The numbers that the session has had before.
        var earlier: [UInt64] = []
        /// Whether the file was missing at the last tick.
        var isMissed = false
    }

    /// Makes a session whose lock `control` holds already.
    init(number: UInt64, control: ControlFile, record: SessionFile) {
        current = Atomic(number)
        self.control = control
        state = Mutex(State(record: record))
    }

    package var number: UInt64 { current.load(ordering: .acquiring) }
    package var name: String { String(number) }
    /// The member on whose part the session writes.
    package var member: UInt32 { SessionNumber.member(of: number) }
    /// Whether a number is or was this session's.
    func hasHad(_ number: UInt64) -> Bool {
        number == self.number || state.withLock { $0.earlier.contains(number) }
    }
    /// Whether the session's number is or was one of a member's.
    func hasBeen(member: UInt32) -> Bool {
        member == self.member || state.withLock { $0.earlier.contains { SessionNumber.member(of: $0) == member } }
    }
    package var isOwning: Bool { state.withLock { $0.record.isOwning } }

    /// Sets whether the session keeps the namespace alive.
    ///
    /// Called under the door.
    func setOwning(_ isOwning: Bool, in sessions: borrowing SessionFolder, mode: UInt32) throws(Errno) {
        try change(in: sessions, mode) { $0.isOwning = isOwning }
    }

    /// Marks the session as one that claims: from now on, processes that wait for a tuple listen for its end.
    func setClaimant(in sessions: borrowing SessionFolder, mode: UInt32) throws(Errno) {
        try change(in: sessions, mode) { $0.isClaimant = true }
    }

    private func change(in sessions: borrowing SessionFolder, _ mode: UInt32, _ body: (inout SessionFile) -> Void)
        throws(Errno)
    {
        try state.withLock { (state) throws(Errno) in
            var changed = state.record
            body(&changed)
            guard changed != state.record, !state.hasEnded else { return }
            try sessions.write(changed, mode: mode)
            state.record = changed
        }
    }

    /// Writes the file again if it is missing.
    func restore(in sessions: borrowing SessionFolder, mode: UInt32) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            guard !state.hasEnded, !sessions.contains(name) else { return }
            try sessions.write(state.record, mode: mode)
        }
    }

    /// Notes whether the file is missing.
    ///
    /// - Returns: Whether it was also missing the last time. Once is not enough: a process that removes the whole
    ///   folder removes this file first, and a new file would leave it with a folder that is not empty.
    package func note(isMissing: Bool) -> Bool {
        state.withLock { state in
            defer { state.isMissed = isMissing }
            return isMissing && state.isMissed && !state.hasEnded
        }
    }

    /// Goes on under a number of the machine's present member.
    ///
    /// Called under the door. Nothing changes if the session has such a number, or has ended.
    func renew(in sessions: borrowing SessionFolder, mode: UInt32) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            guard control.member.load() != member, !state.hasEnded else { return }
            let record = state.record
            let new = try Self.newRecord(control, in: sessions, mode: mode) { (number) in
                var changed = record
                changed.kind = .session(number)
                return changed
            }
            state.earlier.append(number)
            state.record = new.record
            current.store(new.number, ordering: .releasing)
        }
    }

    /// Gets a number, its lock and its file, for which `record` makes the record.
    ///
    /// With `mayLackFile`, the session can do without a file if the disk has no inode left.
    static func newRecord(
        _ control: ControlFile,
        in sessions: borrowing SessionFolder,
        mode: UInt32,
        mayLackFile: Bool = false,
        _ record: (UInt64) throws(Errno) -> SessionFile
    ) throws(Errno) -> (number: UInt64, record: SessionFile) {
        while true {
            let count = control.nextSession.add(1)
            guard (1..<SessionNumber.countLimit).contains(count) else {
                // The counter is damaged: no count gets this far, and 0 stands for no session. Numbers in use are
                // skipped below.
                control.nextSession.store(1)
                continue
            }
            let member = control.member.load()
            // A damaged word: with such a member no number can be locked.
            guard member <= SessionNumber.lastMember else { throw .illegalByteSequence }
            let number = SessionNumber.number(member: member, count: count)
            let record = try record(number)
            // The lock is taken first: a file whose lock is not held belongs to a dead session.
            guard try control.lock(session: number) else { continue }
            do throws(Errno) {
                try sessions.create(record, mode: mode)
                return (number, record)
            } catch .fileExists {
                // The number is from before the control file was initialised again.
                control.unlock(session: number)
                continue
            } catch  where error.isOfFullDisk && mayLackFile {
                // The disk has no inode left. A session that does not own needs no file: its lock shows that it
                // lives.
                return (number, record)
            }
        }
    }

    /// Ends the session: removes its files, then releases its locks.
    package func end(in sessions: borrowing SessionFolder) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            state.hasEnded = true
            defer { for number in state.earlier + [number] { control.unlock(session: number) } }
            for number in state.earlier { try? sessions.remove(String(number)) }
            try sessions.remove(name)
        }
    }
}
