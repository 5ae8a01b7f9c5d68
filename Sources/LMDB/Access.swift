import CGuardedLMDB
import CLMDB

/// A live transaction's data: an unowned view through which everything is read and written.
///
/// Got from ``WriteTransaction/access`` or ``ReadTransaction/access``. It holds LMDB's pointer and nothing else, so it
/// must not be used once its transaction has ended: for a write transaction that gives an error or reaches the next
/// one, for a read transaction it reads freed memory. (A lifetime that the compiler checks needs `~Escapable`, which is
/// experimental.) Not Sendable: it is used where its transaction is.
///
/// What `get` and cursors return points into the map: valid until the next change in a write transaction, until the end
/// or reset of a read transaction. Alignment is that of a byte: read numbers with `loadUnaligned`.
///
/// Keys are 1 to ``Environment/maxKeySize`` bytes (one less in a section) and ordered as bytes, a prefix first; values at most 4 GiB - 1. A
/// write that fails otherwise than with `.keyExist` or `.badValueSize` spoils the transaction, which then has to be
/// aborted: LMDB answers everything else with `.badTransaction`.
package struct Access {
    /// LMDB's `MDB_txn *`.
    let handle: OpaquePointer

    /// The environment's.
    let guarding: OpaquePointer

    /// Whether this is a write transaction's.
    package let isWriting: Bool

    @inline(__always)
    init(_ handle: OpaquePointer, _ guarding: OpaquePointer, isWriting: Bool) {
        self.handle = handle
        self.guarding = guarding
        self.isWriting = isWriting
    }

    /// The id: of a write transaction, the one its commit will have; of a read transaction, that of its snapshot.
    ///
    /// The corresponding C function is `mdb_txn_id`.
    package var id: Int {
        Int(truncatingIfNeeded: mdb_txn_id(handle))
    }

    /// Whether this process met a damaged page of the environment; then no transaction begins there any more, and none
    /// is committed.
    ///
    /// Ask after using what ``get(_:_:)`` or a cursor returned: a page that the file no longer has reads as zeros.
    package var isDamaged: Bool { guarded_is_damaged(guarding) }

    // MARK: Databases

    /// Opens a database, or gives the handle of one that is open.
    ///
    /// See ``Database`` for how long the handle lasts. No two transactions of a process may do this at the same time
    /// (lmdb.h: "must not be called from multiple concurrent transactions in the same process").
    ///
    /// The corresponding C function is `mdb_dbi_open`.
    ///
    /// - Parameters:
    ///   - name: The name, not empty and without a NUL; nil for the main database, whose keys are the names of the
    ///     others.
    ///   - create: Whether to create the database if it is not there.
    /// - Returns: The handle.
    /// - Throws: `.notFound`; `.databasesFull`; `.incompatible` if a record has that name; `.badValueSize` for a name
    ///   that is empty or too long; `.accessDenied` if a read transaction would have to create it.
    package func database(_ name: String?, create: Bool) throws(LMDBError) -> Database {
        // A NUL would end the name early and open another database.
        if let name, name.utf8.contains(0) { throw .invalidArgument }
        var database: MDB_dbi = 0
        try check(guarded_dbi_open(guarding, handle, name, create ? UInt32(MDB_CREATE) : 0, &database))
        return Database(handle: database)
    }

    /// Removes all records of a database.
    ///
    /// The corresponding C function is `mdb_drop` with 0.
    ///
    /// - Throws: `.invalidArgument` for a section.
    package func empty(_ database: Database) throws(LMDBError) {
        guard database.mark == 0 else { throw .invalidArgument }
        try check(guarded_drop(guarding, handle, database.handle, 0))
    }

    /// Removes all records of a database and, if asked, the database itself.
    ///
    /// Deleting closes the handle for the whole process at once, even if the transaction is then aborted; no other
    /// thread may be using it.
    ///
    /// The corresponding C function is `mdb_drop`.
    ///
    /// - Throws: `.invalidArgument` for a section.
    package func drop(_ database: Database, delete: Bool) throws(LMDBError) {
        guard database.mark == 0 else { throw .invalidArgument }
        try check(guarded_drop(guarding, handle, database.handle, delete ? 1 : 0))
    }

    /// The size and shape of a database, as this transaction sees it.
    ///
    /// The corresponding C function is `mdb_stat`.
    ///
    /// - Throws: `.invalidArgument` for a section, for which LMDB has none.
    package func statistics(_ database: Database) throws(LMDBError) -> Statistics {
        guard database.mark == 0 else { throw .invalidArgument }
        var statistics = MDB_stat()
        try check(guarded_stat(guarding, handle, database.handle, &statistics))
        return Statistics(statistics)
    }

    /// The size and shape of the table of free pages, as of this transaction's beginning.
    ///
    /// `entries` counts lists of pages, not pages. In mdb.c that table is handle 0 (`FREE_DBI`), and `mdb_stat` takes
    /// it.
    package func freeListStatistics() throws(LMDBError) -> Statistics {
        try statistics(Database(handle: 0))
    }

    /// Checks that the trees of all databases can be as their roots say, and have room in the file together.
    ///
    /// A last page that is too low would have the next writer write over pages in use.
    ///
    /// - Throws: `.damagedPage` if they can't; then no transaction begins in the environment any more.
    package func checkShapes(_ databases: [Database]) throws(LMDBError) {
        var pages = try freeListStatistics().pages
        for database in databases { pages += try statistics(database).pages }
        // What a write transaction has added is not counted yet. Two pages are meta pages.
        guard !isWriting, let environment, pages > environment.info.lastPage - 1 else { return }
        environment.markDamaged()
        throw .damagedPage
    }

    // MARK: Records

    /// The value of a key; nil if it is not there.
    ///
    /// The corresponding C function is `mdb_get`.
    ///
    /// - Complexity: O(log n); nothing is allocated or copied.
    package func get(_ database: Database, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> UnsafeRawBufferPointer? {
        var value = MDB_val()
        let result = try database.withStored(key) { (key) throws(LMDBError) in
            guarded_get(guarding, handle, database.handle, &key, &value)
        }
        if result == MDB_SUCCESS { return value.bytes }
        if result == MDB_NOTFOUND { return nil }
        throw LMDBError(code: result)
    }

    /// Stores a value under a key, in place of one that is there.
    ///
    /// The corresponding C function is `mdb_put`.
    ///
    /// - Throws: `.keyExist` as the flags say; `.badValueSize`; `.mapFull`; `.transactionFull`; `.accessDenied` in a
    ///   read transaction.
    package func put(
        _ database: Database,
        _ key: UnsafeRawBufferPointer,
        _ value: UnsafeRawBufferPointer,
        flags: PutFlags = []
    ) throws(LMDBError) {
        var value = MDB_val(value)
        try database.withStored(key) { (key) throws(LMDBError) in
            try check(guarded_put(guarding, handle, database.handle, &key, &value, flags.permitted))
        }
    }

    /// Makes room for a value, and leaves it to the caller to write it there.
    ///
    /// All of the room has to be written, before the next change and the commit: it holds whatever was there before.
    ///
    /// The corresponding C function is `mdb_put` with `MDB_RESERVE`.
    ///
    /// - Throws: As ``put(_:_:_:flags:)-(_,UnsafeRawBufferPointer,_,_)``; `.badValueSize` for a negative size.
    package func reserve(
        _ database: Database,
        _ key: UnsafeRawBufferPointer,
        size: Int,
        flags: PutFlags = []
    ) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        guard size >= 0 else { throw .badValueSize }
        var value = MDB_val(mv_size: size, mv_data: nil)
        try database.withStored(key) { (key) throws(LMDBError) in
            try check(
                guarded_put(guarding, handle, database.handle, &key, &value, flags.permitted | UInt32(MDB_RESERVE))
            )
        }
        return UnsafeMutableRawBufferPointer(start: value.mv_data, count: size)
    }

    /// Removes a key and its value; false if it is not there.
    ///
    /// The corresponding C function is `mdb_del`.
    package func delete(_ database: Database, _ key: UnsafeRawBufferPointer) throws(LMDBError) -> Bool {
        let result = try database.withStored(key) { (key) throws(LMDBError) in
            guarded_del(guarding, handle, database.handle, &key)
        }
        if result == MDB_SUCCESS { return true }
        if result == MDB_NOTFOUND { return false }
        throw LMDBError(code: result)
    }

    // MARK: Cursors

    /// Opens a cursor, which is not yet at a record.
    ///
    /// Allocates; a read transaction's cursor can be kept and renewed.
    ///
    /// The corresponding C function is `mdb_cursor_open`.
    package func cursor(_ database: Database) throws(LMDBError) -> Cursor {
        var cursor: OpaquePointer?
        try check(guarded_cursor_open(guarding, handle, database.handle, &cursor))
        guard let cursor else { throw .outOfMemory }
        return Cursor(cursor, guarding, in: database, writingIn: isWriting ? environment : nil)
    }

    /// The transaction's environment, which lives as long as the transaction does.
    private var environment: Environment? {
        guard let environment = mdb_txn_env(handle), let context = mdb_env_get_userctx(environment) else { return nil }
        return Unmanaged<Environment>.fromOpaque(context).takeUnretainedValue()
    }
}
