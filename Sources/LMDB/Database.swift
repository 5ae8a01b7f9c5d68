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

/// The size and shape of a database's tree.
package struct Statistics: Equatable, Sendable {
    /// The size of a page in bytes.
    package let pageSize: Int
    /// The height of the tree; 0 if it is empty.
    package let depth: Int
    /// Pages that only lead to others.
    package let branchPages: Int
    /// Pages with records.
    package let leafPages: Int
    /// Pages with values too large for a leaf.
    package let overflowPages: Int
    /// Records.
    package let entries: Int

    /// All pages of the tree.
    package var pages: Int {
        // The numbers come from the file.
        branchPages &+ leafPages &+ overflowPages
    }
}

/// What a put does besides storing.
@usableFromInline
package struct PutFlags: OptionSet, Hashable, Sendable {
    /// LMDB's `MDB_…` bits.
    @usableFromInline package let rawValue: UInt32

    /// Makes a set of LMDB's bits; those that are not among the constants here have no effect.
    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    // Literals, not lmdb.h's macros, so that they are constants in the modules above as well; a test compares them.

    /// The key is greater than all others: the last page is filled without being split (`MDB_APPEND`).
    ///
    /// A key that is not greater gives `.keyExist`.
    @inlinable
    package static var append: PutFlags { PutFlags(rawValue: 0x20000) }

    /// Leaves a record alone that is there, and gives `.keyExist` (`MDB_NOOVERWRITE`).
    @inlinable
    package static var noOverwrite: PutFlags { PutFlags(rawValue: 0x10) }

    /// The bits that may go to LMDB: for `MDB_MULTIPLE`, mdb.c writes behind the value's `MDB_val` before it checks
    /// anything.
    @inline(__always)
    var permitted: UInt32 { rawValue & 0x20010 }
}
