package import LMDB
import SpaceSystem
import TupleCoding

/// One consistent view of a namespace, inside a read or a write transaction, on which all reading operations work.
///
/// It holds no counted reference, so copying it wherever something is looked up is cheap.
package struct Snapshot: TransactionTables {
    package let access: Access
    package let tables: Tables
    /// The namespace's clock, by which tuples expire and claims end.
    package let clock: NamespaceClock

    package init(access: Access, tables: Tables, clock: NamespaceClock) {
        self.access = access
        self.tables = tables
        self.clock = clock
    }

    @inline(__always)
    package func table<Key: TableKey, Row: TableRow>(_ database: Database) -> Table<Key, Row> {
        Table(access: access, database: database, meter: nil)
    }

    /// The number of the commit that a snapshot shows, or that a write transaction will make.
    package var commit: Int { access.id }

    package func counters() throws(SpaceError) -> Counters {
        guard let counters = try mainCounters.get(.counters) else { throw .damaged(Counters.missing) }
        return counters
    }

    /// The tuple with an id, or `nil` if there is none or it has expired.
    package func tupleRow(_ id: UInt64) throws(SpaceError) -> TupleRow? {
        guard let row = try tuples.get(id), isVisible(row) else { return nil }
        return row
    }

    /// Whether a tuple has not expired.
    ///
    /// The clock is read only for a tuple that can expire.
    @inline(__always)
    package func isVisible(_ row: TupleRow) -> Bool { row.expiry == 0 || row.expiry > clock.milliseconds }

    package func tuple(_ id: UInt64, _ row: TupleRow) throws(SpaceError) -> Tuple {
        do throws(TupleCodingError) { return try row.tuple() } catch { throw .damaged("tuple \(id): \(error)") }
    }
}
