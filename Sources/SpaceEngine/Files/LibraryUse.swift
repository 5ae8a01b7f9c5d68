import SpaceSystem
import Synchronization

/// Whether this process may open namespaces.
///
/// It may not if it was forked from a process that had opened any, and has not called exec since. Such a child can't be
/// made safe. Its registries, hubs and queues show what its parent had open, but the threads that served them are
/// missing. One of those threads may have held any lock at the fork, and then the lock stays held forever. Besides, on
/// Linux, Swift's own locks identify the child's first thread by the parent's thread number. They trap or hang as soon
/// as another thread of the child waits for one, and the library starts threads. So opening is refused before it takes
/// any lock. The rule does not affect a process that forks before it opens its first namespace, nor its children.
package enum LibraryUse {
    /// The fork generation in which the first namespace was opened, or 0 if none was.
    private static let generation = Atomic<UInt32>(0)

    /// Whether this process was forked from one that had opened namespaces.
    ///
    /// It takes no lock.
    package static var isInherited: Bool {
        let first = generation.load(ordering: .relaxed)
        return first != 0 && first != ForkGuard.generation
    }

    /// Notes that this process uses the library from now on.
    ///
    /// - Throws: `forked`.
    package static func begin() throws(SpaceError) {
        let first = generation.compareExchange(expected: 0, desired: ForkGuard.generation, ordering: .relaxed)
        guard !first.exchanged, isInherited else { return }
        throw .forked(
            "this process was forked from one that had opened namespaces, and has its parent's locks without its threads"
        )
    }
}

extension SpaceError {
    /// The error for a process made by `fork` that uses what its parent opened.
    static func forked(_ reason: String) -> SpaceError {
        SpaceError(
            .forked,
            reason: reason,
            advice: "start the child by exec or posix_spawn (swift-subprocess, Foundation's Process), or fork before "
                + "this process opens its first namespace"
        )
    }
}
