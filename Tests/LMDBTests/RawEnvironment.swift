import CLMDB
import Glibc
import LMDB

/// LMDB without this layer, to show LMDB's behaviour in the cases in which this layer steps in.
enum RawEnvironment {
    /// Opens an environment as LMDB is usually opened; never returns if LMDB ends the process.
    static func open(_ path: String) throws -> OpaquePointer {
        var environment: OpaquePointer?
        try require(mdb_env_create(&environment))
        guard let environment else { throw LMDBError.outOfMemory }
        try require(mdb_env_set_mapsize(environment, 16 << 20))
        try require(mdb_env_set_maxdbs(environment, 4))
        try require(mdb_env_open(environment, path, UInt32(MDB_NOSYNC | MDB_NOTLS), 0o600))
        return environment
    }

    /// Goes past the end of "test", deletes there, and counts what is left.
    static func entriesLeftByDeletingPastEnd(in folder: TemporaryFolder) throws -> Int {
        let environment = try open(folder.path)
        defer { mdb_env_close(environment) }
        var transaction: OpaquePointer?
        try require(mdb_txn_begin(environment, nil, 0, &transaction))
        defer { mdb_txn_abort(transaction) }
        var database: MDB_dbi = 0
        try require(mdb_dbi_open(transaction, "test", 0, &database))
        var cursor: OpaquePointer?
        try require(mdb_cursor_open(transaction, database, &cursor))
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val()
        var value = MDB_val()
        while mdb_cursor_get(cursor, &key, &value, MDB_NEXT) == MDB_SUCCESS {}
        try require(mdb_cursor_del(cursor, 0))
        var statistics = MDB_stat()
        try require(mdb_stat(transaction, database, &statistics))
        return Int(statistics.ms_entries)
    }

    /// Reads the first record of "test".
    static func readFirstRecord(_ path: String) throws {
        let environment = try open(path)
        var transaction: OpaquePointer?
        try require(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        var database: MDB_dbi = 0
        try require(mdb_dbi_open(transaction, "test", 0, &database))
    }

    private static func require(_ code: CInt) throws(LMDBError) {
        if code != MDB_SUCCESS { throw LMDBError(code: code) }
    }
}
