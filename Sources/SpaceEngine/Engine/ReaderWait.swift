import LMDB
import SpaceSystem
import Synchronization

/// Waiting for readers whose snapshots keep freed pages from being used again.
///
/// A snapshot pins every page that was freed since it was taken. In a small namespace, a writer that is quick frees as
/// many pages during one long look (of its own process or another) as the namespace may have, and finds no room
/// although the data are few. A look ends by itself, so such a write waits for it. It waits without the gate, so that
/// others can write during the wait: takes often need no more room.
struct ReaderWait: ~Copyable, Sendable {
    /// How long a write waits for snapshots in its way.
    static let patience = Duration.seconds(1)

    /// How often a write has waited.
    let count = Atomic<Int>(0)

    /// Waits until no process reads a snapshot as old as this one, or an older one.
    ///
    /// - Returns: `false` if one is still read at the deadline, or by a process that is stopped.
    func wait(for snapshot: Int, until deadline: MonotonicInstant, on engine: Engine) -> Bool {
        // In a transaction's body, of another namespace, the wait would keep all others from writing there.
        guard !BodyThread.isInAnyNamespace else { return false }
        count.add(1, ordering: .relaxed)
        while !deadline.hasPassed {
            let all = try? engine.withEnvironment { (environment) throws(LMDBError) in try environment.readers() }
            guard let reader = (all ?? []).first(where: { $0.transaction.map { $0 <= snapshot } ?? false }) else {
                return true
            }
            if ProcessIdentity.halt(of: reader.pid) != nil { return false }
            Retry.rest(.milliseconds(1))
        }
        return false
    }
}
