import CGuardedLMDB
import Glibc

/// The error of a call into LMDB: one of LMDB's own codes, or an errno.
///
/// LMDB returns both through one integer (lmdb.h: `mdb_strerror` is "a superset of strerror(3)"): its own codes are
/// negative, errnos positive. Compare with the constants below; every other code is kept unchanged.
package struct LMDBError: Error, Equatable, Hashable, Sendable {
    /// The code as LMDB returned it: negative for `MDB_…`, positive for an errno.
    package let code: CInt

    /// Wraps a code that LMDB or the C library returned.
    @inline(__always)
    package init(code: CInt) {
        self.code = code
    }
}

// MARK: - LMDB's own codes

extension LMDBError {
    /// The key exists already, or an appended key is not greater than the last key (`MDB_KEYEXIST`).
    package static let keyExist = LMDBError(code: MDB_KEYEXIST)
    /// The key, or the named database, does not exist (`MDB_NOTFOUND`).
    package static let notFound = LMDBError(code: MDB_NOTFOUND)
    /// A page that another page refers to is not in the file (`MDB_PAGE_NOTFOUND`): the file is damaged.
    package static let pageNotFound = LMDBError(code: MDB_PAGE_NOTFOUND)
    /// A page is of the wrong kind (`MDB_CORRUPTED`): the file is damaged.
    package static let corrupted = LMDBError(code: MDB_CORRUPTED)
    /// An earlier error made the environment unusable; it must be closed and opened again (`MDB_PANIC`).
    package static let panic = LMDBError(code: MDB_PANIC)
    /// An incompatible version of LMDB made the file or the reader table (`MDB_VERSION_MISMATCH`).
    package static let versionMismatch = LMDBError(code: MDB_VERSION_MISMATCH)
    /// The file is not a database of LMDB's (`MDB_INVALID`).
    package static let invalid = LMDBError(code: MDB_INVALID)
    /// The map is full (`MDB_MAP_FULL`); the transaction can only be aborted.
    package static let mapFull = LMDBError(code: MDB_MAP_FULL)
    /// More databases were opened than the environment allows (`MDB_DBS_FULL`).
    package static let databasesFull = LMDBError(code: MDB_DBS_FULL)
    /// The reader table is full (`MDB_READERS_FULL`); ``Environment/checkReaders()`` may free slots of dead processes.
    package static let readersFull = LMDBError(code: MDB_READERS_FULL)
    /// The transaction changed too many pages (`MDB_TXN_FULL`).
    package static let transactionFull = LMDBError(code: MDB_TXN_FULL)
    /// The tree is deeper than a cursor's stack (`MDB_CURSOR_FULL`): the file is damaged.
    package static let cursorFull = LMDBError(code: MDB_CURSOR_FULL)
    /// A page has less room than its own header states (`MDB_PAGE_FULL`): the file is damaged.
    package static let pageFull = LMDBError(code: MDB_PAGE_FULL)
    /// Another process wrote past the end of this environment's map (`MDB_MAP_RESIZED`).
    package static let mapResized = LMDBError(code: MDB_MAP_RESIZED)
    /// The operation does not suit the database, or the database's name is a plain record's key (`MDB_INCOMPATIBLE`).
    package static let incompatible = LMDBError(code: MDB_INCOMPATIBLE)
    /// The reader's slot belongs to another reader now, as after a fork (`MDB_BAD_RSLOT`).
    package static let badReaderSlot = LMDBError(code: MDB_BAD_RSLOT)
    /// The transaction has ended, is reset, or has failed and can only be aborted (`MDB_BAD_TXN`).
    package static let badTransaction = LMDBError(code: MDB_BAD_TXN)
    /// A key is empty or longer than ``Environment/maxKeySize``, or a value is too long (`MDB_BAD_VALSIZE`).
    package static let badValueSize = LMDBError(code: MDB_BAD_VALSIZE)
    /// The database handle was closed or reused while the transaction ran (`MDB_BAD_DBI`).
    package static let badDatabase = LMDBError(code: MDB_BAD_DBI)
}

// MARK: - This layer's own

extension LMDBError {
    /// LMDB met a damaged page.
    ///
    /// Without the guarded calls, LMDB would have ended the process. The environment can't be used any more.
    package static let damagedPage = LMDBError(code: CInt(GUARDED_DAMAGED))
    /// The lock file is not LMDB's, although processes have the environment open, and the data file is.
    package static let damagedLockFile = LMDBError(code: CInt(GUARDED_DAMAGED) - 1)
}

// MARK: - Errnos that LMDB passes on

extension LMDBError {
    /// The file system is full (`ENOSPC`).
    package static let outOfSpace = LMDBError(code: ENOSPC)
    /// Reading or writing failed (`EIO`); without a writable map, also a write that a full disk cut short.
    package static let inputOutput = LMDBError(code: EIO)
    /// Memory ran out (`ENOMEM`).
    package static let outOfMemory = LMDBError(code: ENOMEM)
    /// A write in a read-only transaction or environment, or a missing permission (`EACCES`).
    package static let accessDenied = LMDBError(code: EACCES)
    /// An argument is out of range, the transaction does not know the handle, or the environment is closed (`EINVAL`).
    package static let invalidArgument = LMDBError(code: EINVAL)
    /// Another process holds a lock (`EAGAIN`), as when two PID namespaces share a reader table.
    package static let tryAgain = LMDBError(code: EAGAIN)
    /// The file or folder does not exist (`ENOENT`).
    package static let noSuchFile = LMDBError(code: ENOENT)
    /// This thread already has the write transaction, and would wait for itself (`EDEADLK`).
    package static let wouldDeadlock = LMDBError(code: EDEADLK)
}

extension LMDBError: CustomStringConvertible {
    /// LMDB's text for the code, with the code: "MDB_MAP_FULL: Environment mapsize limit reached (-30792)".
    package var description: String {
        // lmdb.h: mdb_strerror never fails; for an unknown code it returns a text that says so.
        if self == .damagedPage { return "a page is damaged" }
        if self == .damagedLockFile { return "the lock file is damaged" }
        guard let text = mdb_strerror(code) else { return "LMDB error \(code)" }
        return "\(String(cString: text)) (\(code))"
    }
}

// MARK: - Checking

/// Throws unless `code` is `MDB_SUCCESS`.
@inline(__always)
func check(_ code: CInt) throws(LMDBError) {
    if _slowPath(code != MDB_SUCCESS) { throw LMDBError(code: code) }
}
