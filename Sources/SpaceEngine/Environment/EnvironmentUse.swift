import Glibc
package import LMDB
import SpaceSystem
import Synchronization
import SystemPackage

/// That a namespace of this process uses an environment, which stays open until this ends.
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

    /// The environment's tables, once a first user has opened them.
    package var tables: Tables? { place.tables }

    package func set(_ tables: Tables) { place.set(tables) }

    /// Ends it; no reader of this use may be left.
    ///
    /// A second time nothing happens.
    package func end() {
        // What a child made by fork inherited is its parent's; the place's lock may be held by a thread that the child hasn't got.
        guard ForkGuard.generation == forkGeneration else { return }
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        place.end()
    }
}
