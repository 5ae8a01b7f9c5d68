import CGuardedLMDB

/// A live transaction's data: an unowned view through which all reads and writes go.
///
/// ``WriteTransaction/access`` and ``ReadTransaction/access`` return it. It keeps no reference to its transaction, so
/// it must not be used once that has ended: after a write transaction such a use gives an error or reaches the next
/// write transaction, after a read transaction it reads freed memory. (A lifetime that the compiler checks needs
/// `~Escapable`, which is experimental.) It is not Sendable: use it on the thread that uses its transaction.
///
/// The bytes that `get` and cursors return lie in the map. They are valid until the next change in a write transaction,
/// or until the end or reset of a read transaction. They are not aligned: read numbers with `loadUnaligned`.
///
/// A key has 1 to ``Environment/maxKeySize`` bytes (one less in a section). Keys are ordered by their bytes, a prefix
/// before the longer key. A value has at most 4 GiB - 1. If a write fails with an error other than `.keyExist` or
/// `.badValueSize`, the transaction must be aborted: LMDB answers every later call with `.badTransaction`.
package struct Access {
    /// LMDB's `MDB_txn *`.
    let handle: OpaquePointer

    /// The guard of the environment.
    let guarding: OpaquePointer

    /// Whether the transaction is a write transaction.
    package let isWriting: Bool

    @inline(__always)
    init(_ handle: OpaquePointer, _ guarding: OpaquePointer, isWriting: Bool) {
        self.handle = handle
        self.guarding = guarding
        self.isWriting = isWriting
    }

    /// The transaction's id: for a write transaction the id that its commit will have, for a read transaction its
    /// snapshot's.
    ///
    /// The corresponding C function is `mdb_txn_id`.
    package var id: Int {
        Int(truncatingIfNeeded: mdb_txn_id(handle))
    }

    /// Whether this process has met a damaged page of the environment; no transaction begins or commits there any more.
    ///
    /// Check this after you have used the bytes that ``get(_:_:)`` or a cursor returned: a page that the file no longer
    /// has reads as zeros.
    package var isDamaged: Bool { guarded_is_damaged(guarding) }

    // MARK: Databases

    /// Opens a database, or returns the handle of an open one.
    ///
    /// See ``Database`` for how long the handle lasts. No two transactions of a process may do this at the same time
    /// (lmdb.h: "must not be called from multiple concurrent transactions in the same process").
    ///
    /// The corresponding C function is `mdb_dbi_open`.
    ///
    /// - Parameters:
    ///   - name: The name, not empty and without a NUL; `nil` for the main database, whose keys are the names of the
    ///     others.
    ///   - create: Whether to create the database if it does not exist.
    /// - Returns: The handle.
    /// - Throws: `.notFound`; `.databasesFull`; `.incompatible` if a plain record has that name; `.badValueSize` if the
    ///   name is empty or too long; `.accessDenied` if a read transaction would have to create the database.
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
        try check(guarded_empty(guarding, handle, database.handle))
    }

    /// The size and shape of a database, as this transaction sees it.
    ///
    /// The corresponding C function is `mdb_stat`.
    ///
    /// - Throws: `.invalidArgument` for a section: LMDB has no statistics of sections.
    package func statistics(_ database: Database) throws(LMDBError) -> Statistics {
        guard database.mark == 0 else { throw .invalidArgument }
        var statistics = MDB_stat()
        try check(guarded_stat(guarding, handle, database.handle, &statistics))
        return Statistics(statistics)
    }

    /// The size and shape of the table of free pages, as of this transaction's beginning.
    ///
    /// `entries` counts lists of pages, not pages. In mdb.c that table has handle 0 (`FREE_DBI`), which `mdb_stat`
    /// accepts.
    package func freeListStatistics() throws(LMDBError) -> Statistics {
        try statistics(Database(handle: 0))
    }

    /// Checks that the roots of all databases state possible trees, and that the trees together fit into the file.
    ///
    /// If the last page were too low, the next writer would overwrite pages in use.
    ///
    /// - Throws: `.damagedPage` if the check fails; no transaction begins in the environment any more then.
    package func checkShapes(_ databases: [Database]) throws(LMDBError) {
        var pages = try freeListStatistics().pages
        for database in databases { pages += try statistics(database).pages }
        // `lastPage` does not count the pages that a write transaction has added. Two pages are meta pages.
        guard !isWriting, let environment, pages > environment.info.lastPage - 1 else { return }
        environment.markDamaged()
        throw .damagedPage
    }

    // MARK: Records

    /// The value of a key, or `nil` if the key does not exist.
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

    /// Stores a value under a key, and replaces an existing value.
    ///
    /// The corresponding C function is `mdb_put`.
    ///
    /// - Throws: `.keyExist`, depending on the flags; `.badValueSize`; `.mapFull`; `.transactionFull`; `.accessDenied`
    ///   in a read transaction.
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

    /// Makes room for a value; the caller writes the value there.
    ///
    /// The caller must fill all of the room before the next change and before the commit, because the room still holds
    /// old bytes of the page.
    ///
    /// The corresponding C function is `mdb_put` with `MDB_RESERVE`.
    ///
    /// - Throws: The errors of ``put(_:_:_:flags:)``; `.badValueSize` for a negative
    ///   size.
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

    /// Removes a key and its value; `false` if the key does not exist.
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

    /// Opens a cursor, which is not at a record yet.
    ///
    /// This allocates memory. Keep a read transaction's cursor and renew it instead of opening a new one.
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
