import CLMDB

/// A handle of a database (a table) within an environment: cheap to copy, valid for all threads and transactions.
///
/// Got from ``Access/database(_:create:)``. A handle lasts as long as the environment once the transaction that opened
/// it has *committed* (a ``ReadTransaction`` too); an abort or a reset closes it, and its number may then come to mean
/// another database. Transactions begun or renewed before it was opened refuse it with `.invalidArgument`.
package struct Database: Hashable, Sendable {
    /// LMDB's number, `MDB_dbi`.
    let handle: UInt32
    /// The byte that all its keys begin with, if it is a section of a database; 0: it is a whole one.
    let mark: UInt8

    @inline(__always)
    init(handle: UInt32, mark: UInt8 = 0) {
        self.handle = handle
        self.mark = mark
    }

    /// A part of this database that is used like a database of its own: the records whose keys begin with a byte, which is
    /// put before keys and taken off again here.
    ///
    /// A named database costs each transaction that changes it a page, a look-up of its record in the main database and a
    /// new record there; sections of one database share all that. In exchange a section has no statistics of its own, can't
    /// be emptied at once, and its keys are a byte shorter. Only the section that is last in the database can be appended
    /// to (``PutFlags/append``).
    ///
    /// `mark`: Not 0, nor the first byte of a key that is no section's.
    package func section(_ mark: UInt8) -> Database {
        precondition(self.mark == 0 && mark != 0, "a section is of a whole database, and has a mark")
        return Database(handle: handle, mark: mark)
    }

    /// Calls `body` with a key as it is stored; nothing is allocated.
    @inline(__always)
    func withStored<Result: ~Copyable>(
        _ key: UnsafeRawBufferPointer,
        _ body: (inout MDB_val) throws(LMDBError) -> Result
    ) throws(LMDBError) -> Result {
        guard mark != 0 else {
            var stored = MDB_val(key)
            return try body(&stored)
        }
        guard 1..<Self.longestStored ~= key.count else { throw .badValueSize }
        return try withUnsafeTemporaryAllocation(byteCount: Self.longestStored, alignment: 8) {
            (bytes) throws(LMDBError) in
            bytes[0] = mark
            UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyMemory(from: key)
            var stored = MDB_val(mv_size: key.count + 1, mv_data: bytes.baseAddress)
            return try body(&stored)
        }
    }

    /// The key that a stored one stands for; `nil` if it is another section's.
    @inline(__always)
    func key(stored: MDB_val) -> UnsafeRawBufferPointer? {
        let bytes = stored.bytes
        guard mark != 0 else { return bytes }
        guard bytes.first == mark else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[1...])
    }

    /// mdb.c, MDB_MAXKEYSIZE, unless liblmdb was built otherwise; then it refuses what is too long for it.
    private static let longestStored = 511
}
