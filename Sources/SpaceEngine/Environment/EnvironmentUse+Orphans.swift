import SpaceSystem

extension EnvironmentUse {
    /// Tells LMDB that a thread which held one of its locks no longer exists.
    ///
    /// The process that takes over the gate calls this under the gate, before its first call that waits for one of
    /// LMDB's locks, because that call would wait without bound. If a writer dies and the kernel can't mark its locks
    /// (`ProcessLock+Orphaned.swift`), it leaves LMDB's lock behind with the gate. LMDB repairs what the lock protects
    /// when it learns of the death (mdb.c, mdb_mutex_failed).
    ///
    /// LMDB doesn't tell where its locks are. They are in the lock file at the places below (mdb.c: MDB_txninfo). If
    /// LMDB's header and two robust mutexes are not found there, nothing is done.
    package func abandonOrphans() {
        guard Safeguard.orphans.stands, let head = ProcFS.mapping(device: lockFile.device, inode: lockFile.inode),
            // MDB_MAGIC
            head.load(as: UInt32.self) == 0xBEEF_C0DE
        else { return }
        // mti_rmutex, mti_wmutex
        let mutexes = [8, 64].map { SharedMutex(at: head + $0) }
        guard mutexes.allSatisfy(\.isRobustShared) else { return }
        for mutex in mutexes {
            let owner = mutex.owner
            if owner != 0, ProcFS.isGone(thread: owner) { _ = mutex.abandon(by: owner) }
        }
    }
}
