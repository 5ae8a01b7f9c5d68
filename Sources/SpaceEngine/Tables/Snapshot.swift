package import LMDB

/// One consistent view of a namespace, inside a read or a write transaction, on which all reading operations work.
///
/// It holds no counted reference, so copying it wherever something is looked up is cheap.
package struct Snapshot: TransactionTables {
    package let access: Access
    package let tables: Tables
    /// The namespace's clock, by which tuples expire and claims end.
    package let clock: NamespaceClock
    /// The tuples that are not in LMDB yet; `nil` if the tables have all of them.
    let near: UnsafePointer<NearView>?

    init(access: Access, tables: Tables, clock: NamespaceClock, near: UnsafePointer<NearView>? = nil) {
        self.access = access
        self.tables = tables
        self.clock = clock
        self.near = near
    }

    @inline(__always)
    package func table<Key: TableKey, Row: TableRow>(_ database: Database) -> Table<Key, Row> {
        Table(access: access, database: database, meter: nil)
    }

    /// The number of the commit that a snapshot shows, or that a write transaction will make.
    package var commit: Int { access.id }

    package func counters() throws(SpaceError) -> Counters {
        guard var counters = try mainCounters.get(.counters) else { throw .damaged(Counters.missing) }
        if let near {
            counters.nextTuple = max(counters.nextTuple, near.pointee.next)
            counters.nextNumber = max(counters.nextNumber, near.pointee.nextNumber)
            counters.sequence = max(counters.sequence, near.pointee.sequence)
            counters.claimed += near.pointee.claimed
        }
        return counters
    }

    /// What the tables' own counters say of the near end; zeros if they are lost.
    ///
    /// The first is the next id: all tuples of lower ids are in the tables, or gone.
    package func nearBounds() throws(SpaceError) -> NearView.Bounds {
        let counters = try mainCounters.getValid(.counters)
        return (counters?.nextTuple ?? 0, counters?.appliedMarks ?? 0)
    }

    /// Whether a tuple is not in LMDB yet.
    package func isNear(_ id: UInt64) -> Bool { near?.pointee.ids.contains(id) ?? false }

    /// How many tuples there are, those included that have expired and were not removed yet.
    package var tupleCount: Int {
        get throws(SpaceError) {
            max(0, try tuples.count - hiddenCount) + (near?.pointee.count ?? 0)
        }
    }

    /// How many tuples that have their rows in the tables are claimed, or were taken.
    var hiddenCount: Int {
        get throws(SpaceError) {
            let counters = try mainCounters.getValid(.counters)
            let claims = Int(clamping: (counters?.claimed ?? 0) &+ (counters?.withoutHolder ?? 0))
            return claims + (near?.pointee.markCount ?? 0)
        }
    }

    /// Calls `visit` for each tuple that is not in LMDB yet, in the order of their ids.
    package func forEachNear(_ visit: (UInt64, TupleRow) throws(SpaceError) -> Void) throws(SpaceError) {
        guard let near = near?.pointee else { return }
        for id in near.ids { if let row = near.row(id) { try visit(id, row) } }
    }

    /// The tuple with an id, or `nil` if there is none, or it is claimed or has expired.
    package func tupleRow(_ id: UInt64) throws(SpaceError) -> TupleRow? {
        if let near, near.pointee.ids.contains(id) { return near.pointee.row(id) }
        if let near, near.pointee.isMarked(id) { return nil }
        guard let row = try tuples.get(id), isVisible(row) else { return nil }
        return row
    }

    /// Whether a tuple is not claimed and has not expired.
    ///
    /// The clock is read only for a tuple that can expire.
    @inline(__always)
    package func isVisible(_ row: TupleRow) -> Bool {
        !row.isClaimed && (row.expiry == 0 || row.expiry > clock.milliseconds)
    }

    package func tuple(_ id: UInt64, _ row: TupleRow) throws(SpaceError) -> Tuple {
        do throws(TupleCodingError) { return try row.tuple() } catch { throw .damaged("tuple \(id): \(error)") }
    }
}
