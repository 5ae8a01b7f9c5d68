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
