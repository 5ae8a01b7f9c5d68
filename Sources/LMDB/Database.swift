/// A handle of a database (a table) within an environment: cheap to copy, valid for all threads and transactions.
///
/// Got from ``Access/database(_:create:)``. A handle lasts as long as the environment once the transaction that opened
/// it has *committed* (a ``ReadTransaction`` too); an abort or a reset closes it, and its number may then come to mean
/// another database. Transactions begun or renewed before it was opened refuse it with `.invalidArgument`.
package struct Database: Hashable, Sendable {
    /// LMDB's number, `MDB_dbi`.
    let handle: UInt32

    @inline(__always)
    init(handle: UInt32) {
        self.handle = handle
    }
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
