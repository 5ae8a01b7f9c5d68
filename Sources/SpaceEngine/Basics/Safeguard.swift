import LMDB
import Synchronization

/// A measure that keeps a promise under kills, stops and shortages, and that a test can leave out.
///
/// If a test leaves a safeguard out and the promise then breaks, the safeguard is shown to be what keeps it. Only
/// `leaveOut` leaves one out; the torture test calls it in processes of its own. If no safeguard was left out, asking
/// costs one relaxed load.
package enum Safeguard: String, CaseIterable, Sendable {
    /// Waiting: a grant that its waiter does not use goes to the next waiter that may match.
    case handedOn
    /// Taking: a tuple found in a snapshot is looked up again in the transaction that removes it.
    case secondLook
    /// Claiming: tuples that a dead process has claimed return.
    case deadClaims
    /// Writing: before a transaction touches a page, blocks are reserved for every page that it can touch.
    case room
    /// Writing: reader slots of processes that were killed in their snapshots are cleared before the file grows because
    /// of them.
    case deadReaders
    /// Locking: a process that waits for a lock gives up when its time-out has passed.
    case timeLimit
    /// Locking: if a holder was stopped before it noted its PID, the mutex itself tells which thread holds it.
    case lockWord
    /// Reaping: the sessions are looked at once more under the door, where no process can enrol.
    case lookUnderDoor
    /// Reading and writing: a damaged page raises an error, and does not end the process.
    case damagedPages
    /// Locking: a lock held by a thread that no longer exists is taken over.
    case orphans
    /// Opening: a process closes an environment before it opens another on the same files.
    case openOnce
    /// Opening: only the folder's own files are opened, and no symbolic link is followed.
    case ownFiles

    private static let leftOut = Atomic<UInt32>(0)

    /// Leaves a safeguard out for the rest of this process's life, and for the children that it forks.
    package static func leaveOut(_ safeguard: Safeguard) {
        leftOut.bitwiseOr(safeguard.bit, ordering: .relaxed)
        if safeguard == .damagedPages { Environment.leaveGuardsOut() }
    }

    @inline(__always)
    package var stands: Bool { Self.leftOut.load(ordering: .relaxed) & bit == 0 }

    private var bit: UInt32 {
        switch self {
        case .handedOn: 1
        case .secondLook: 2
        case .deadClaims: 4
        case .room: 8
        case .deadReaders: 16
        case .timeLimit: 32
        case .lockWord: 64
        case .lookUnderDoor: 128
        case .damagedPages: 256
        case .orphans: 1 << 16
        case .openOnce: 1 << 17
        case .ownFiles: 512
        }
    }
}
