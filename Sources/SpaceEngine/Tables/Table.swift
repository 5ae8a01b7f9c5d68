package import LMDB
import SpaceSystem

/// A table as a transaction sees it: the one way to read and store rows.
///
/// `Snapshot` and `WriteScope` have the tables as properties; a floor that has rows of its own adds them in an
/// extension of ``TransactionTables``. Storing and deleting need a write transaction.
///
/// A row that does not decode is damage. ``get(_:)`` and ``Rows/next()`` throw it; ``getValid(_:)`` and
/// ``Rows/nextValid()`` treat the row as if it were missing.
///
/// The rows borrow the page's bytes. They are valid until the next change of a write transaction, or until the end of a
/// snapshot.
///
/// The compiler specializes these methods only within this target. So what every operation does (tuples, claims, the
/// index, a cell's value) calls them from here.
package struct Table<Key: TableKey, Row: TableRow> {
    let access: Access
    let database: Database
    /// The meter that is charged with what is stored here; `nil` for a table that is only read.
    let meter: Unmanaged<RoomMeter>?

    /// The row of a key, or `nil` if there is none; throws `damaged` for a row that does not decode.
    @inline(__always)
    package func get(_ key: Key) throws(SpaceError) -> Row? {
        try key.withBytes { (key) throws(SpaceError) -> Row? in
            guard let value = try value(key) else { return nil }
            guard let row = Row(key: key, value: value) else { throw .damaged(Row.damage(at: key)) }
            return row
        }
    }

    /// The row of a key, or `nil` if there is none or it does not decode.
    @inline(__always)
    package func getValid(_ key: Key) throws(SpaceError) -> Row? {
        try key.withBytes { (key) throws(SpaceError) -> Row? in
            try value(key).flatMap { Row(key: key, value: $0) }
        }
    }

    /// Whether there is a row with this key, whether or not it decodes.
    @inline(__always)
    package func contains(_ key: Key) throws(SpaceError) -> Bool {
        try key.withBytes { (key) throws(SpaceError) in try value(key) != nil }
    }

    @inline(__always)
    private func value(_ key: UnsafeRawBufferPointer) throws(SpaceError) -> UnsafeRawBufferPointer? {
        try lmdb { () throws(LMDBError) in try access.get(database, key) }
    }

    /// Stores a row, and replaces an existing row with its key.
    @inline(__always)
    package func put(_ key: Key, _ row: Row) throws(SpaceError) { try put(key, row, []) }

    /// Stores a row whose key is greater than all others, so that its page is filled without being split.
    @inline(__always)
    package func append(_ key: Key, _ row: Row) throws(SpaceError) { try put(key, row, .append) }

    @inline(__always)
    private func put(_ key: Key, _ row: Row, _ flags: PutFlags) throws(SpaceError) {
        try row.write { (size) throws(SpaceError) in
            try key.withBytes { (key) throws(SpaceError) in
                try meter.charge(database, key, key.count + size, flags)
                return try lmdb { () throws(LMDBError) in try access.reserve(database, key, size: size, flags: flags) }
            }
        }
    }

    /// Removes a row; `false` if there was none.
    @inline(__always)
    @discardableResult
    package func delete(_ key: Key) throws(SpaceError) -> Bool {
        try key.withBytes { (key) throws(SpaceError) in
            try meter.charge(database, key, 0, [])
            return try lmdb { () throws(LMDBError) in try access.delete(database, key) }
        }
    }

    /// Removes the row that is the first of the table, whose value has `size` bytes.
    package func deleteFirst(_ key: Key, size: Int) throws(SpaceError) {
        // A value in pages of its own goes without being touched.
        try key.withBytes { (key) throws(SpaceError) in
            try meter.charge(database, key, min(size, 1024), .append)
            _ = try lmdb { () throws(LMDBError) in try access.delete(database, key) }
        }
    }

    /// Removes all rows.
    package func empty() throws(SpaceError) {
        // mdb.c, mdb_freelist_save: the list of the pages that a transaction freed is one value, eight bytes per page.
        let pages = try lmdb { () throws(LMDBError) in try access.statistics(database).pages }
        try meter.charge(database, nil, 2 * 8 * min(max(pages, 0), Limits.mapBytes / 4096), [])
        if let meter, meter.takeUnretainedValue().notesChanges {
            var rows = try scan()
            while let (key, _) = try rows.nextBytes() { meter.takeUnretainedValue().note(database, key) }
        }
        try lmdb { () throws(LMDBError) in try access.empty(database) }
    }

    /// The number of rows of a table that is a tree of its own.
    package var count: Int {
        get throws(SpaceError) {
            try lmdb { () throws(LMDBError) in try access.statistics(database).entries }
        }
    }

    // MARK: Scanning

    /// All rows: ``Rows/next()`` begins with the first, ``Rows/previous()`` with the last.
    @inline(__always)
    package func scan() throws(SpaceError) -> Rows<Key, Row> {
        Rows(try lmdb { () throws(LMDBError) in try access.cursor(database) }, database, meter)
    }

    /// The rows from a key on.
    @inline(__always)
    package func scan(from key: Key) throws(SpaceError) -> Rows<Key, Row> {
        var rows = try scan()
        try rows.seek(key)
        return rows
    }

    /// The rows below a key: ``Rows/previous()`` begins with the last of them.
    @inline(__always)
    package func scan(below key: Key) throws(SpaceError) -> Rows<Key, Row> {
        var rows = try scan()
        try rows.seek(key)
        rows.pass()
        return rows
    }

    /// The rows whose keys begin with some bytes, which are not empty.
    package func scan(prefix: [UInt8]) throws(SpaceError) -> Rows<Key, Row> {
        var rows = try scan()
        try rows.seek(prefix: prefix)
        return rows
    }
}

extension Unmanaged<RoomMeter>? {
    /// Charges a row that is about to be changed; its key is asked for only if the change is noted.
    ///
    /// A snapshot's table has no meter, and storing through it traps: only a mistake of the library's own can do that.
    @inline(__always)
    func charge(
        _ database: Database,
        _ key: @autoclosure () throws(SpaceError) -> UnsafeRawBufferPointer?,
        _ size: Int,
        _ flags: PutFlags
    ) throws(SpaceError) {
        guard let self else { preconditionFailure("a snapshot's tables are only read") }
        let isEnsured = self._withUnsafeGuaranteedRef { meter in
            flags == .append ? meter.chargeEnd(database, size) : meter.charge(database, size)
        }
        if !isEnsured { try self.takeUnretainedValue().makeRoom(database, try key(), isEnd: flags == .append) }
    }
}

extension Table where Row == UnsafeRawBufferPointer {
    /// Stores a row of bytes, and replaces an existing row with its key.
    package func put(_ key: Key, _ bytes: [UInt8]) throws(SpaceError) {
        try bytes.withBytes { (bytes) throws(SpaceError) in try put(key, bytes) }
    }
}

/// The tables of a transaction.
package protocol TransactionTables {
    var tables: Tables { get }

    /// A table of the transaction, with the given types of keys and rows.
    func table<Key: TableKey, Row: TableRow>(_ database: Database) -> Table<Key, Row>
}

extension TransactionTables {
    package var tuples: Table<UInt64, TupleRow> {
        @inline(__always) get { table(tables.tuples) }
    }
    package var index: Table<IndexKey, NoValue> {
        @inline(__always) get { table(tables.index) }
    }
    package var cells: Table<String, CellRow> {
        @inline(__always) get { table(tables.cells) }
    }
    /// The cells by the bytes of their keys, which may be no UTF-8 if they are damaged.
    package var cellsByBytes: Table<[UInt8], CellRow> {
        @inline(__always) get { table(tables.cells) }
    }
    package var expiries: Table<ExpiryKey, NoValue> {
        @inline(__always) get { table(tables.expiries) }
    }
    package var journal: Table<UInt64, JournalRow> {
        @inline(__always) get { table(tables.journal) }
    }
    /// The journal's rows, not looked into.
    package var journalBytes: Table<UInt64, UnsafeRawBufferPointer> {
        @inline(__always) get { table(tables.journal) }
    }
    package var claims: Table<UInt64, ClaimRow> {
        @inline(__always) get { table(tables.claims) }
    }
    package var indexedShapes: Table<UInt16, IndexedShape> {
        @inline(__always) get { table(tables.shapes) }
    }
    /// The rows of collections and recipes, each of whose keys begins with an object's number.
    package var elementsByBytes: Table<[UInt8], UnsafeRawBufferPointer> { table(tables.elements) }
    /// All rows of the main database, not looked into.
    package var main: Table<[UInt8], UnsafeRawBufferPointer> { table(tables.main) }
    /// The tables that are sections of the main database, not looked into.
    package var sections: [Table<[UInt8], UnsafeRawBufferPointer>] { tables.sections.map { table($0) } }
    package var mainCounters: Table<MainKey, Counters> {
        @inline(__always) get { table(tables.main) }
    }
    package var mainLife: Table<MainKey, LifeRow> {
        @inline(__always) get { table(tables.main) }
    }
}
