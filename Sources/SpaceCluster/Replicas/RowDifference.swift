import Glibc
import SpaceEngine
import SpaceSystem

/// What must be changed in a replica so that its rows are those of a base.
///
/// Both are read in the order of their tables and keys, side by side. So neither is kept, and rows that are the same on
/// both sides cost no change.
struct RowDifference: ~Copyable {
    /// The changes, with the base's row of counters.
    private(set) var changes: [UInt8] = []

    private let snapshot: Snapshot
    private var table = 0
    private var rows: Rows<[UInt8], UnsafeRawBufferPointer>
    /// The replica's row that is compared next; `nil`: the table has no more.
    private var own: (key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer)?
    /// The key of the base's last row in the table.
    private var last: [UInt8] = []

    /// Begins before the first row.
    ///
    /// - Parameter snapshot: The replica; its reader is lent until ``end()``.
    /// - Throws: `damaged`.
    init(from snapshot: Snapshot) throws(SpaceError) {
        self.snapshot = snapshot
        rows = try snapshot.table(numbered: 1).scan()
    }

    /// Compares the base's next row.
    ///
    /// - Throws: `damaged` if the base's rows are not in order.
    mutating func compare(_ row: RowChange) throws(SpaceError) {
        guard !row.isOfCounters else { return row.append(to: &changes) }
        guard row.value != nil, row.table >= table else { throw Self.disorder }
        try advance(to: row.table)
        try last.withBytes { (last) throws(SpaceError) in
            guard Self.order(last, row.key) < 0 else { throw Self.disorder }
        }
        last.replaceSubrange(0..., with: row.key)
        while let (key, value) = own {
            let order = Self.order(key, row.key)
            guard order <= 0 else { break }
            own = try rows.nextBytes()
            if order < 0 {
                delete(key)
            } else {
                if let wanted = row.value, Self.order(value, wanted) != 0 { row.append(to: &changes) }
                return
            }
        }
        row.append(to: &changes)
    }

    /// Ends behind the base's last row.
    mutating func end() throws(SpaceError) { try advance(to: Tables.count) }

    /// Goes to a table; what the replica has before it, and the base has not, is to be deleted.
    private mutating func advance(to next: Int) throws(SpaceError) {
        while table < next {
            while let (key, _) = own {
                delete(key)
                own = try rows.nextBytes()
            }
            table += 1
            last.removeAll(keepingCapacity: true)
            guard table < Tables.count else { return }
            rows = try snapshot.table(numbered: table).scan()
            own = try rows.nextBytes()
        }
    }

    private mutating func delete(_ key: UnsafeRawBufferPointer) {
        RowChange(table: table, key: key, value: nil).append(to: &changes)
    }

    /// Less than 0 if `a` comes before `b`, and 0 if they are the same: the order of LMDB (mdb.c, mdb_cmp_memn).
    private static func order(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
        if let first = a.baseAddress, let second = b.baseAddress {
            let order = memcmp(first, second, min(a.count, b.count))
            if order != 0 { return Int(order) }
        }
        return a.count - b.count
    }

    private static var disorder: SpaceError { .damaged("the base's rows are not in order") }
}
