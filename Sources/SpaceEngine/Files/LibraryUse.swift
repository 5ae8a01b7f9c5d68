import SpaceSystem
import Synchronization

/// Whether this process may open namespaces: not if it was forked from one that had opened any, and has not called exec since.
///
/// Such a child can't be made safe. Its registries, hubs and queues say what its parent had open, the threads that
/// served them are missing, and any lock may have been held by one of those at the fork, for good. And on Linux Swift's own
/// locks know the thread that a child was forked with by its parent's number: they trap or hang as soon as another thread of
/// the child waits for one, and the library starts threads. So opening is refused, before it takes any lock. A process that
/// forks before it opens its first namespace is not concerned, nor are its children.
package enum LibraryUse {
    /// The fork generation in which the first namespace was opened; 0: none was.
    private static let generation = Atomic<UInt32>(0)

    /// What to do in a child; every error there says it.
    static let remedy =
        "start the child by exec or posix_spawn (swift-subprocess, Foundation's Process), or fork before this process opens "
        + "its first namespace"

    /// Notes that this process uses the library from now on.
    ///
    /// - Throws: `forked`.
    package static func begin(_ operation: String, namespace: String) throws(SpaceError) {
        let current = ForkGuard.generation
        guard generation.load(ordering: .relaxed) != current else { return }
        let first = generation.compareExchange(expected: 0, desired: current, ordering: .relaxed)
        guard !first.exchanged, first.original != current else { return }
        throw SpaceError(
            .forked,
            operation,
            namespace: namespace,
            reason:
                "this process was forked from one that had opened namespaces, and has its parent's locks without its threads",
            advice: remedy
        )
    }
}
