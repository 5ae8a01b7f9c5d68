import LMDB

/// The disk space for moving the near end's records to LMDB, as the holder of the gate asks for it.
package final class NearRoom {
    /// For how many records disk space is asked while the data file is young.
    @exclusivity(unchecked) package var recordsAsked = NearRing.fewest

    /// Makes sure of the disk space for moving records to LMDB: for a full ring, or for fewer records.
    ///
    /// It holds until a commit of LMDB takes over all records. If there is no space even for the fewest, the tuple is
    /// written to LMDB, and that write says what is missing. In a young data file it asks for few, and for more each time that
    /// these were full.
    @inline(never)
    func make(for near: NearRing, on engine: Engine) throws(SpaceError) {
        guard near.isEmpty else { return }
        let reader = try engine.lendReader(holdsGate: true)
        defer { engine.takeBack(reader) }
        let snapshot = engine.snapshot(of: reader)
        let counters = try snapshot.counters()
        let due = try snapshot.earliestDue(counters)
        let shapes = try engine.shapeCache.table(of: snapshot).indexed.count
        let most = engine.diskReserve.isYoung ? recordsAsked : NearRing.capacity
        for count in NearRing.counts where count <= most {
            let bytes = min(count * NearRing.longestTuple, NearRing.contentSize)
            let all = Tables.bytes(ofTuples: count, content: bytes, shapes: shapes)
            let isPromised = engine.scope.meter.promise(
                tuples: count,
                bytes: all,
                shapes: shapes,
                slack: NearRing.slackPages(count),
                reader.transaction.access
            )
            guard isPromised else { continue }
            let end = engine.environment.info.lastPage + 1
            return near.allow(count, end: end, nextNumber: counters.nextNumber, due: due)
        }
    }

    func askForMore() { recordsAsked = NearRing.counts.last { $0 > recordsAsked } ?? recordsAsked }
}
