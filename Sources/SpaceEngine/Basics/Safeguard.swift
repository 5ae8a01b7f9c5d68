import LMDB
import Synchronization

/// What keeps a promise under kills, stops and shortage, and can be left out by a test, to see that it is what keeps it.
///
/// Left out only through `leaveOut`, which the torture calls in processes of its own; until then, a question costs one
/// relaxed load.
package enum Safeguard: String, CaseIterable, Sendable {
    /// Waiting: a grant that came to nothing goes to the next who waits for the like.
    case handedOn
    /// Taking: what was found in a snapshot is looked up again in the transaction that removes it.
    case secondLook
    /// Claiming: what a dead process has claimed returns.
    case deadClaims
    /// Writing: blocks are there for every page that a transaction may touch, before it touches one.
    case room
    /// Writing: readers that were killed in their snapshots are forgotten before the file grows on their account.
    case deadReaders
    /// Locking: who waits for a lock gives up when its time has passed.
    case timeLimit
    /// Locking: the mutex itself says who holds it, where its holder was stopped before he noted his PID.
    case lockWord
    /// Reaping: sessions are looked at once more under the door, where nobody can enrol.
    case lookUnderDoor
    /// Reading and writing: a damaged page is an error, and does not end the process.
    case damagedPages
    /// Locking: a lock that is held by a thread which does not exist is taken over.
    case orphans
    /// Opening: a process closes an environment before it opens another on the same files.
    case openOnce
    /// Opening: nothing but the folder's own files is opened, and no link is followed.
    case ownFiles

    private static let leftOut = Atomic<UInt32>(0)

    /// For the rest of this process's life, and for the children that it forks.
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
