package import LMDB
import SpaceSystem

/// A change of one row: what it is from now on, whatever it was before.
///
/// A list of such changes, from the first to the last, carries a namespace's contents to another place, where it is
/// applied row by row: nothing there looks into what the rows mean.
///
///     0  the kind: 1, the row has this value; 2, there is no such row
///     1  the table's number (`Tables.numbered`)
///     2  length of the key
///     4  length of the value
///     8  key, value
package struct RowChange {
    private static let headerSize = 8
    private static let put: UInt8 = 1
    private static let delete: UInt8 = 2
    /// mdb.c: MDB_MAXKEYSIZE.
    private static let longestKey = 511

    /// The table's number.
    package let table: Int
    package let key: UnsafeRawBufferPointer
    /// The row's value; `nil`: there is no such row.
    package let value: UnsafeRawBufferPointer?

    package init(table: Int, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer?) {
        self.table = table
        self.key = key
        self.value = value
    }

    /// Whether the row is the one with the namespace's counters.
    package var isOfCounters: Bool { table == 0 && MainKey(key: key) == .counters }

    /// Appends the change's bytes to others.
    package func append(to bytes: inout [UInt8]) {
        func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
        }
        append(value == nil ? Self.delete : Self.put)
        append(UInt8(table))
        append(UInt16(key.count))
        append(UInt32(value?.count ?? 0))
        bytes.append(contentsOf: key)
        if let value { bytes.append(contentsOf: value) }
    }

    /// Calls `visit` for each change in some bytes, in order; a change borrows from them.
    ///
    /// - Parameters:
    ///   - bytes: The changes.
    ///   - most: After how many bytes to stop, at the end of a change.
    ///   - visit: What to do with a change.
    /// - Returns: How many bytes the visited changes have.
    /// - Throws: `damaged` if the bytes are no such changes, and what `visit` throws.
    @discardableResult
    package static func forEach(
        in bytes: UnsafeRawBufferPointer,
        atMost most: Int = .max,
        _ visit: (RowChange) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Int {
        var rest = bytes
        func next(_ count: Int) -> UnsafeRawBufferPointer {
            let part = UnsafeRawBufferPointer(rebasing: rest[..<count])
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            return part
        }
        while !rest.isEmpty, bytes.count - rest.count < most {
            guard rest.count >= headerSize else { throw .damaged("a change of a row is cut off") }
            let header = next(headerSize)
            let (kind, table) = (header[0], Int(header[1]))
            let (keySize, valueSize) = (Int(header.little(2, UInt16.self)), Int(header.little(4, UInt32.self)))
            guard kind == put || kind == delete && valueSize == 0, table < Tables.count,
                (1...longestKey).contains(keySize), keySize + valueSize <= rest.count
            else { throw .damaged("a change of a row does not decode") }
            let (key, value) = (next(keySize), next(valueSize))
            let change = RowChange(table: table, key: key, value: kind == put ? value : nil)
            guard table != 0 || change.isOfCounters else {
                throw .damaged("a change is of a row of the main database that is no contents")
            }
            try visit(change)
        }
        return bytes.count - rest.count
    }
}

extension Tables {
    /// All tables, in the order of their numbers in a ``RowChange``.
    package var numbered: [Database] {
        [main, tuples, index, cells, expiries, journal, elements, shapes, watchers, objects, holds, claims]
    }
}

extension TransactionTables {
    /// A table by its number, its rows not looked into.
    package func table(numbered number: Int) -> Table<[UInt8], UnsafeRawBufferPointer> {
        table(tables.numbered[number])
    }
}

extension WriteScope {
    /// Makes a row what a change says.
    ///
    /// The row of counters is left out: the scope has counters of its own, which its commit stores.
    ///
    /// With `isInOrder`, each row comes behind all others that its table has. Then pages are filled, which otherwise are
    /// left half empty when rows come in order (mdb.c, mdb_page_split).
    package func apply(_ change: RowChange, isInOrder: Bool) throws(SpaceError) {
        guard !change.isOfCounters else { return }
        let (table, key) = (table(numbered: change.table), Array(change.key))
        if let value = change.value {
            // Only a tree of its own has an end to append to, and the main one's is a section's.
            let isTree = (1...Tables.named).contains(change.table)
            if isInOrder, isTree { try table.append(key, value) } else { try table.put(key, value) }
        } else {
            try table.delete(key)
        }
        noteUpkeep()
    }

    /// Goes on with the counters that belong to applied changes; numbers of claims go on from the higher of both.
    package func goOn(with counters: Counters) throws(SpaceError) {
        let nextClaim = max(counters.nextClaim, self.counters.nextClaim)
        self.counters = counters
        self.counters.nextClaim = nextClaim
        try noteShapesChanged()
    }
}
