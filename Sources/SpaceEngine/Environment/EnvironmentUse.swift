package import LMDB
import SpaceSystem
import Synchronization

/// A namespace's use of an environment in this process; the environment stays open until its last use ends.
package final class EnvironmentUse: Sendable {
    package let environment: Environment
    package let lockFile: OpenEnvironment.FileID
    private let place: OpenEnvironment
    private let forkGeneration = ForkGuard.generation
    private let hasEnded = Atomic<Bool>(false)

    package init(_ environment: Environment, at place: OpenEnvironment) {
        self.environment = environment
        lockFile = place.lockFile
        self.place = place
    }

    deinit { end() }

    package var descriptor: CInt { environment.descriptor }

    /// Frees the slots of readers that were killed in their snapshots.
    package func forgetDeadReaders() throws(SpaceError) {
        try lmdb { () throws(LMDBError) in try environment.forgetDeadReaders() }
    }

    /// The environment's tables, once its first user has opened them.
    package var tables: Tables? { place.tables }

    package func set(_ tables: Tables) { place.set(tables) }

    /// Ends the use; no reader of this use may be left.
    ///
    /// A second call does nothing.
    package func end() {
        // What a child made by fork inherits belongs to its parent. The place's lock may be held by a thread that the
        // child doesn't have.
        guard ForkGuard.generation == forkGeneration else { return }
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        place.end()
    }
}
