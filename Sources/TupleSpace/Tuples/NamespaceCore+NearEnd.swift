import SpaceSystem
import TupleCoding

extension NamespaceCore {
    /// Writes a tuple that does not expire in the near end; `nil` if it has to be written to LMDB.
    func writeNear(_ tuple: EncodedTuple) throws(SpaceError) -> TupleID? {
        if deferred.isDue { carryOutDeferred() }
        return try engine.writeNear(tuple).map { TupleID(rawValue: $0) }
    }

    /// Takes a tuple that a look has found in the near end, and returns whether it was still there.
    func takeNear(_ id: TupleID) throws(SpaceError) -> Bool {
        if deferred.isDue { carryOutDeferred() }
        return try engine.takeNear(id.rawValue)
    }
}

extension Namespace {
    /// Has all processes use only some of the near end's records, for tests.
    package func useNearEnd(of count: Int) {
        core.control.near.unused.store(UInt32(max(0, NearRing.capacity - count)))
        core.engine.recordsAsked = NearRing.capacity
    }
}
