import SpaceSystem
import Synchronization

// What only tests use.

extension Namespace {
    /// How often a wait of this process was served only by its tick, because its wake-up was lost.
    package var lateFinds: Int { core.upkeepState.lateFinds.load(ordering: .relaxed) }

    /// The number of LMDB's reader slots that this process holds in the namespace.
    package var readerSlots: Int { core.engine.readers.slots(of: core.engine) }

    /// The number of this process's session in the namespace.
    package var session: UInt64 { core.session.number }

    /// How often a filter was evaluated for a change, over all observations of this process.
    package var filterEvaluations: Int { core.observations.filterEvaluations }

    /// How many tasks wait in ``settled()``.
    package var settlingCount: Int { core.observations.state.withLock { $0.settling.count } }

    /// Has all processes use only some of the near end's records.
    package func useNearEnd(of count: Int) {
        core.control.near.unused.store(UInt32(max(0, NearRing.capacity - count)))
        core.engine.nearRoom.recordsAsked = NearRing.capacity
    }
}

/// The number of namespaces in which this process listens for dead claimers.
package var namespacesListenedTo: Int { EventLoop.listenedTo }
