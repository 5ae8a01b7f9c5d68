import SpaceSystem
import TupleCoding

extension Namespace {
    /// Has all processes use only some of the near end's records, for tests.
    package func useNearEnd(of count: Int) {
        core.control.near.unused.store(UInt32(max(0, NearRing.capacity - count)))
        core.engine.nearRoom.recordsAsked = NearRing.capacity
    }
}
