import SpaceSystem

extension EnvironmentUse {
    /// Tells LMDB that a thread which held one of its locks no longer exists.
    ///
    /// The process that takes over the gate calls this under the gate, before its first call that waits for one of
    /// LMDB's locks, because that call would wait without bound. If a writer dies and the kernel can't mark its locks
    /// (`ProcessLock+Orphaned.swift`), it leaves LMDB's lock behind with the gate. LMDB repairs what the lock protects
    /// when it learns of the death (mdb.c, mdb_mutex_failed).
    package func abandonOrphans() {
        guard Safeguard.orphans.stands, let mutexes = LockFileMap(lockFile)?.mutexes else { return }
        for mutex in mutexes {
            let owner = mutex.owner
            if owner != 0, ProcFS.isGone(thread: owner) { _ = mutex.abandon(by: owner) }
        }
    }
}
