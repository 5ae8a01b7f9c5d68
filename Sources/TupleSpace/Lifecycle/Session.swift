import SpaceSystem
import Synchronization
package import SystemPackage

/// This process's use of a namespace: a number, a lock, and a file.
///
/// The kernel releases the lock when the process exits, however it exits. The file says which process it is. Claims
/// and waiters belong to the session. The lock is on the control file (`ControlFile.sessionByte`), so a clean-up that
/// removes the file in `sessions/` ends nothing, and the session writes a new one.
package final class Session: Sendable {
    package let number: UInt64
    private let control: ControlFile
    private let state: Mutex<State>

    private struct State {
        var record: SessionFile
        var hasEnded = false
        /// Whether the file was missing at the last tick.
        var isMissed = false
    }

    /// Makes a session whose lock `control` holds already.
    init(number: UInt64, control: ControlFile, record: SessionFile) {
        self.number = number
        self.control = control
        state = Mutex(State(record: record))
    }

    package var name: String { String(number) }
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

    /// Ends the session: removes its file, then releases its lock.
    package func end(in sessions: borrowing SessionFolder) throws(Errno) {
        try state.withLock { (state) throws(Errno) in
            state.hasEnded = true
            defer { control.unlock(session: number) }
            try sessions.remove(name)
        }
    }
}
