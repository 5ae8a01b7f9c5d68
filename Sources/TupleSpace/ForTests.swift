import SpaceSystem
import Synchronization
import TupleCoding

// What only tests use.

extension Namespace {
    /// How often a wait of this process was served only by its tick, because its wake-up was lost.
    package var lateFinds: Int { core.upkeepState.lateFinds.load(ordering: .relaxed) }

    /// The number of LMDB's reader slots that this process holds in the namespace.
    package var readerSlots: Int { core.engine.readers.slots(of: core.engine) }

    /// Has all processes use only some of the near end's records.
    package func useNearEnd(of count: Int) {
        core.control.near.unused.store(UInt32(max(0, NearRing.capacity - count)))
        core.engine.nearRoom.recordsAsked = NearRing.capacity
    }
}
