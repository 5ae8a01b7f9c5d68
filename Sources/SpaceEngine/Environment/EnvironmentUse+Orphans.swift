import SpaceSystem

extension EnvironmentUse {
    /// Lets LMDB learn that a thread which held one of its locks doesn't exist any more.
    ///
    /// The process that takes over the gate calls this under the gate, before its first call that waits for one of LMDB's locks:
    /// that call would wait without a bound. A writer that dies where the kernel can't tell of its death (`ProcessLock+Orphaned.swift`) leaves LMDB's
    /// lock behind with the gate. LMDB mends what the lock protects when it learns of the death (mdb.c, mdb_mutex_failed).
    ///
    /// LMDB doesn't say where its locks are. They lie in the lock file at the places below (mdb.c: MDB_txninfo), if what is there is
    /// LMDB's head and two robust mutexes; nothing is done where it is not.
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
