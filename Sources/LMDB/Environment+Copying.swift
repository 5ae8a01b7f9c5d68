import CGuardedLMDB
import CLMDB
import Glibc

extension Environment {
    /// Writes a consistent copy into a folder, while other readers and writers go on.
    ///
    /// The copy takes a reader slot and holds its snapshot until the end, so pages that writers free meanwhile are not
    /// reused. A copy without `compacting` also takes LMDB's writer mutex for a moment, and waits for it without bound.
    ///
    /// `mdb_env_copy2` creates the file with mode 0666. This method creates it with mode 0600, syncs it at the end, and
    /// removes it on failure. The corresponding C function is `mdb_env_copyfd2`.
    ///
    /// - Parameters:
    ///   - folder: A folder that exists and has no `data.mdb`.
    ///   - compacting: Whether to leave out free pages, which takes longer and starts a thread.
    /// - Throws: `LMDBError(code: EEXIST)` if the folder has a data file; `.wouldDeadlock` if this thread has a write
    ///   transaction; `.readersFull`; `.outOfSpace` and other errnos; `.incompatible` if compacting meets a damaged
    ///   tree.
    package func copy(to folder: String, compacting: Bool = false) throws(LMDBError) {
        guard let handle, !folder.isEmpty, !folder.utf8.contains(0) else { throw .invalidArgument }
        try requireNoWriteTransactionHere()
        let file = folder + "/data.mdb"
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw LMDBError(code: errno) }
        // A compacting copy is not guarded: it runs a thread, which a jump out of the call would leave behind.
        var result =
            compacting
            ? mdb_env_copyfd2(handle, descriptor, UInt32(MDB_CP_COMPACT)) : guarded_env_copyfd(guarding, descriptor)
        if result == MDB_SUCCESS, fsync(descriptor) != 0 { result = errno }
        if Glibc.close(descriptor) != 0, result == MDB_SUCCESS { result = errno }
        guard result == MDB_SUCCESS else {
            _ = unlink(file)
            throw LMDBError(code: result)
        }
    }
}
