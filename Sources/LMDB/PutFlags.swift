/// Options of a put.
@usableFromInline
package struct PutFlags: OptionSet, Hashable, Sendable {
    /// LMDB's `MDB_…` bits.
    @usableFromInline package let rawValue: UInt32

    /// Makes a set of LMDB's bits; bits that are not among the constants here have no effect.
    @inlinable
    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    // These are literals instead of lmdb.h's macros, so that they are constants in the modules above too; a test
    // compares them.

    /// Appends a key that is greater than all others, which fills the last page instead of splitting it (`MDB_APPEND`).
    ///
    /// If the key is not greater than all others, the put throws `.keyExist`.
    @inlinable
    package static var append: PutFlags { PutFlags(rawValue: 0x20000) }

    /// Keeps an existing record, and throws `.keyExist` (`MDB_NOOVERWRITE`).
    @inlinable
    package static var noOverwrite: PutFlags { PutFlags(rawValue: 0x10) }

    /// The bits that may be passed to LMDB: for `MDB_MULTIPLE`, mdb.c writes past the value's `MDB_val` before it
    /// checks anything.
    @inline(__always)
    var permitted: UInt32 { rawValue & 0x20010 }
}
