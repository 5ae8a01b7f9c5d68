import Glibc
import LMDB
import Testing

/// A folder of a test's own, in memory where that is possible; removed with its contents.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(base)/lmdb-tests-XXXXXX".utf8CString)
        path = try template.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress, let made = mkdtemp(start) else { throw LMDBError(code: errno) }
            return String(cString: made)
        }
    }

    deinit {
        for name in ["data.mdb", "lock.mdb"] { _ = unlink("\(path)/\(name)") }
        _ = rmdir(path)
    }

    var dataFile: String { "\(path)/data.mdb" }

    /// Opens an environment here, with numbers that suit most tests.
    func open(
        mapSize: Int = 16 << 20,
        maxReaders: Int = 16,
        maxDatabases: Int = 4,
        flags: Environment.Flags = [.noSync]
    ) throws(LMDBError) -> Environment {
        try Environment(
            path: path,
            mapSize: mapSize,
            maxReaders: maxReaders,
            maxDatabases: maxDatabases,
            flags: flags
        )
    }
}

/// Returns the error that `body` throws; nil if it doesn't. (A closure that `#expect(throws:)` takes can't use a
/// noncopyable variable.)
func failure<Result: ~Copyable>(of body: () throws(LMDBError) -> Result) -> LMDBError? {
    do throws(LMDBError) {
        _ = try body()
        return nil
    } catch {
        return error
    }
}

extension Environment {
    /// Opens a database for good, creating it if necessary.
    func makeDatabase(_ name: String? = "test") throws(LMDBError) -> Database {
        let transaction = try beginWrite()
        let database = try transaction.access.database(name, create: true)
        try transaction.commit()
        return database
    }

    /// Writes in a transaction and commits it.
    func write(_ body: (Access) throws(LMDBError) -> Void) throws(LMDBError) {
        let transaction = try beginWrite()
        try body(transaction.access)
        try transaction.commit()
    }

    /// Reads in a transaction of its own.
    func read<Result>(_ body: (Access) throws(LMDBError) -> Result) throws(LMDBError) -> Result {
        let transaction = try beginRead()
        return try body(transaction.access)
    }
}

extension Access {
    func put(_ database: Database, _ key: String, _ value: String, flags: PutFlags = []) throws(LMDBError) {
        try key.withBytes { key throws(LMDBError) in
            try value.withBytes { value throws(LMDBError) in try put(database, key, value, flags: flags) }
        }
    }

    func put(_ database: Database, _ key: UInt64, _ value: String = "", flags: PutFlags = []) throws(LMDBError) {
        try value.withBytes { value throws(LMDBError) in try put(database, key, value, flags: flags) }
    }

    func get(_ database: Database, _ key: String) throws(LMDBError) -> String? {
        try key.withBytes { key throws(LMDBError) in try get(database, key).map(text) }
    }

    func reserve(_ database: Database, _ key: String, size: Int) throws(LMDBError) -> UnsafeMutableRawBufferPointer {
        try key.withBytes { key throws(LMDBError) in try reserve(database, key, size: size) }
    }

    func delete(_ database: Database, _ key: String) throws(LMDBError) -> Bool {
        try key.withBytes { key throws(LMDBError) in try delete(database, key) }
    }
}

extension String {
    /// Calls `body` with the text's bytes.
    func withBytes<Result>(
        _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        try Array(utf8).withUnsafeBufferPointer { bytes throws(LMDBError) in try body(UnsafeRawBufferPointer(bytes)) }
    }
}

/// Bytes as text.
func text(_ bytes: UnsafeRawBufferPointer) -> String {
    String(decoding: bytes, as: UTF8.self)
}
