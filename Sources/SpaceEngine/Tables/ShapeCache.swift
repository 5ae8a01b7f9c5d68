import Synchronization

/// The table of shapes that this process read last, valid while its generation is the current one.
package final class ShapeCache: Sendable {
    private struct Known {
        var table = ShapeTable.empty
        /// A commit that has this table, or 0 if none is known.
        var commit = 0
    }

    private let known = Mutex(Known())

    /// The table of a snapshot; nothing is read if the snapshot is of the commit that was last looked at.
    package func table(of snapshot: Snapshot) throws(SpaceError) -> ShapeTable {
        let known = known.withLock { $0 }
        if known.commit == snapshot.commit { return known.table }
        let generation = try snapshot.counters().shapesGeneration
        let table = try table(of: snapshot, generation: generation)
        confirm(generation: generation, at: snapshot.commit)
        return table
    }

    package func table(of snapshot: Snapshot, generation: UInt64) throws(SpaceError) -> ShapeTable {
        let table = known.withLock { $0.table }
        if table.generation == generation { return table }
        let read = try ShapeTable(reading: snapshot, generation: generation)
        // Only a table of a commit is kept here. If a write transaction is aborted, its new generation stays unused,
        // and a later transaction may use that number for another table.
        known.withLock { $0 = Known(table: read) }
        return read
    }

    /// Notes that a commit has the table of this generation.
    func confirm(generation: UInt64, at commit: Int) {
        known.withLock { if $0.table.generation == generation { $0.commit = commit } }
    }
}
