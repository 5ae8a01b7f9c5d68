package import LMDB

/// A change of one row: the row's new value, whatever it was before.
///
/// A list of such changes, from the first to the last, carries a namespace's contents to another place, where it is
/// applied row by row: no code there needs to know what the rows mean.
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

    /// Whether the row is a tuple.
    var isOfTuples: Bool { table == Tables.numberOfTuples }

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

    /// The end of the change that reaches a position, or of the last change.
    static func end(ofChangesIn bytes: ArraySlice<UInt8>, atLeast position: Int) -> Int {
        bytes.withUnsafeBytes { bytes in
            var end = 0
            while end < min(position, bytes.count) {
                end += headerSize + Int(bytes.little(end + 2, UInt16.self)) + Int(bytes.little(end + 4, UInt32.self))
            }
            return end
        }
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
    /// The number of `tuples` in ``numbered``.
    static let numberOfTuples = 1

    /// All tables, in the order of their numbers in a ``RowChange``.
    package var numbered: [Database] {
        [main, tuples, index, cells, expiries, journal, elements, shapes, watchers, objects, holds, claims, members]
    }
}

extension TransactionTables {
    /// A table by its number, its rows not looked into.
    package func table(numbered number: Int) -> Table<[UInt8], UnsafeRawBufferPointer> {
        table(tables.numbered[number])
    }
}
