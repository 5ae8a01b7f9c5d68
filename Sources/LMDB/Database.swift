import CLMDB

/// A handle of a database (a table) within an environment: cheap to copy, valid for all threads and transactions.
///
/// ``Access/database(_:create:)`` returns it. Once the transaction that opened it has *committed* (a
/// ``ReadTransaction`` too), the handle lasts as long as the environment. If that transaction is aborted or reset
/// instead, the handle is closed, and LMDB may give its number to another database. A transaction that was begun or
/// renewed before the handle was opened refuses it with `.invalidArgument`.
package struct Database: Hashable, Sendable {
    /// LMDB's number, `MDB_dbi`; a section has that of its database.
    package let handle: UInt32
    /// The first byte of all keys of a section; 0 for a whole database.
    let mark: UInt8

    @inline(__always)
    init(handle: UInt32, mark: UInt8 = 0) {
        self.handle = handle
        self.mark = mark
    }

    /// A section: the records of this database whose keys begin with a certain byte, used like a database of their own.
    ///
    /// This layer puts the byte before each key, and removes it from each key that it returns.
    ///
    /// A named database costs each transaction that changes it a page, a look-up of its record in the main database,
    /// and a new record there. The sections of one database share these costs. In exchange, a section has no statistics
    /// of its own, it can't be emptied at once, and its keys are a byte shorter. Only the last section of the database
    /// supports ``PutFlags/append``.
    ///
    /// `mark`: The byte. It is not 0, and no key outside the section begins with it.
    package func section(_ mark: UInt8) -> Database {
        precondition(self.mark == 0 && mark != 0, "a section is of a whole database, and has a mark")
        return Database(handle: handle, mark: mark)
    }

    /// Calls `body` with a key in its stored form; nothing is allocated.
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

    /// The key without the section's mark; `nil` if the stored key belongs to another section.
    @inline(__always)
    func key(stored: MDB_val) -> UnsafeRawBufferPointer? {
        let bytes = stored.bytes
        guard mark != 0 else { return bytes }
        guard bytes.first == mark else { return nil }
        return UnsafeRawBufferPointer(rebasing: bytes[1...])
    }

    /// The longest stored key (mdb.c: MDB_MAXKEYSIZE); a liblmdb built with a smaller limit refuses longer keys itself.
    private static let longestStored = 511
}
