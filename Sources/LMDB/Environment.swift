import CGuardedLMDB
import CLMDB
import CSpaceShims
import Glibc
import Synchronization

/// An open LMDB environment: a folder with `data.mdb` and `lock.mdb`, mapped into this process.
///
/// Open each environment once in a process (lmdb.h: "Do not have open an LMDB database twice in the same process at the
/// same time"), and never use one in a child made by fork; this layer does not check either. What a child inherited goes
/// without a call into LMDB there: mdb_env_close() and mdb_txn_abort() would free the parent's slots in the reader table.
///
/// Readers' slots belong to transactions, not to threads (`MDB_NOTLS`, always set), so a ``ReadTransaction`` may move
/// between threads, and keeps the environment referenced. A ``WriteTransaction`` stays on the thread that began it, and must
/// end before the last reference to the environment does.
///
/// Sendable, unchecked: LMDB allows an environment to be used from all threads (lmdb.h: "fully thread-aware"), `handle`
/// changes only in `close()`, which is documented for a single thread, and the rest is constant or atomic.
package final class Environment: @unchecked Sendable {
    /// LMDB's handle; nil once closed.
    private(set) var handle: OpaquePointer?

    /// What makes damaged pages errors; must not be used once the environment is closed.
    let guarding: OpaquePointer

    /// The path as it was given to `init`.
    package let path: String

    /// The thread that holds the write transaction, or 0.
    ///
    /// Only a thread's own value ever means something to it, so relaxed order is enough. LMDB's writer mutex is a plain
    /// one: a second `mdb_txn_begin` on the same thread would wait for itself, forever.
    let writer = Atomic<UInt>(0)

    /// How many write transactions have ended here; a cursor compares it to learn that LMDB has freed it.
    let writesEnded = Atomic<UInt64>(0)

    /// Read transactions that have not been ended, reset ones included.
    let liveReaders = Atomic<Int>(0)

    private let forkGeneration = space_fork_generation()

    /// Whether this process is a child, made by fork, of the one that opened the environment.
    var isInherited: Bool { space_fork_generation() != forkGeneration }

    /// Opens an environment, and creates it if its files are not there.
    ///
    /// `mdb_env_open` waits without bound behind an opener that is stopped halfway; callers who share the folder with
    /// other processes hold a lock of their own meanwhile.
    ///
    /// The corresponding C functions are `mdb_env_create` and `mdb_env_open`.
    ///
    /// - Parameters:
    ///   - path: The folder; it must exist.
    ///   - mapSize: The size of the map in bytes, and so the largest the data can become; rounded up to whole pages.
    ///   - maxReaders: Slots in the reader table, at most 1,048,576; the first process to open decides.
    ///   - maxDatabases: How many named databases can be open, at most 65,536.
    ///   - flags: How to map and when to sync. All processes have to use the same.
    ///   - mode: The permissions of files that are created.
    /// - Throws: `.invalidArgument` for numbers out of range and a path with a NUL in it; `.invalid` or
    ///   `.versionMismatch` if the data file is not one; an errno. Whatever was opened has been closed again.
    package init(
        path: String,
        mapSize: Int,
        maxReaders: Int,
        maxDatabases: Int,
        flags: Flags,
        mode: UInt32 = 0o600
    ) throws(LMDBError) {
        self.path = path
        // A NUL would end the path early, and another folder would be opened.
        guard !path.isEmpty, !path.utf8.contains(0), mapSize > 0, flags.isSubset(of: .known),
            (1...Self.maxReadersLimit).contains(maxReaders), (0...Self.maxDatabasesLimit).contains(maxDatabases)
        else { throw .invalidArgument }
        let page = max(Int(sysconf(CInt(_SC_PAGESIZE))), 1)
        let (rounded, overflow) = mapSize.addingReportingOverflow(page - 1)
        guard !overflow else { throw .invalidArgument }

        try DataFileHeader.check(folder: path)

        var (created, guarding): (OpaquePointer?, OpaquePointer?)
        try check(guarded_env_create(&created, &guarding))
        guard let environment = created, let guarding else { throw .outOfMemory }
        self.guarding = guarding
        do throws(LMDBError) {
            try check(mdb_env_set_mapsize(environment, rounded / page * page))
            try check(mdb_env_set_maxreaders(environment, UInt32(maxReaders)))
            try check(mdb_env_set_maxdbs(environment, MDB_dbi(maxDatabases)))
            try check(
                guarded_env_open(guarding, path, flags.rawValue | UInt32(MDB_NOTLS), UInt32(maxDatabases), mode)
            )
            try Self.closeOnExec(environment)
        } catch {
            // lmdb.h: if mdb_env_open fails, "mdb_env_close() must be called to discard the MDB_env handle".
            guarded_env_close(guarding)
            throw error
        }
        handle = environment
        // How an ``Access`` finds back to its environment without carrying a reference; unowned, ended with the handle.
        _ = mdb_env_set_userctx(environment, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Read transactions and the cursors of write transactions hold a reference, so none is left.
        if handle != nil, !isInherited { guarded_env_close(guarding) }
    }

    /// Unmaps and closes the environment; it may then be opened again.
    ///
    /// Closing twice does nothing. No transaction may be alive, and no other thread may be using the environment. If a
    /// transaction is alive (a reset one counts), nothing happens, and the environment is closed when the last
    /// reference to it goes. Nothing happens in a child made by fork either.
    ///
    /// The corresponding C function is `mdb_env_close`.
    ///
    /// - Returns: Whether the environment is closed now.
    @discardableResult
    package func close() -> Bool {
        guard handle != nil else { return true }
        guard writer.load(ordering: .relaxed) == 0, liveReaders.load(ordering: .acquiring) == 0, !isInherited else {
            return false
        }
        handle = nil
        guarded_env_close(guarding)
        return true
    }

    // MARK: Transactions

    /// Begins a transaction that can write, once no other thread or process has one.
    ///
    /// Waits without bound (LMDB 0.9 has no timed lock); callers take a lock with a time-out first.
    ///
    /// The corresponding C function is `mdb_txn_begin`.
    ///
    /// - Throws: `.wouldDeadlock` if this thread has a write transaction already; `.accessDenied` if the environment is
    ///   read-only; `.mapResized`; `.panic`; `.invalidArgument` if it is closed.
    package func beginWrite() throws(LMDBError) -> WriteTransaction {
        guard handle != nil else { throw .invalidArgument }
        let thread = UInt(pthread_self())
        guard writer.load(ordering: .relaxed) != thread else { throw .wouldDeadlock }
        var transaction: OpaquePointer?
        try check(guarded_txn_begin(guarding, 0, &transaction))
        guard let transaction else { throw .panic }
        writer.store(thread, ordering: .relaxed)
        return WriteTransaction(transaction, in: self)
    }

    /// Begins a transaction that reads a snapshot, and takes a slot in the reader table for it.
    ///
    /// Waits on the reader table's mutex without bound, which ``ReadTransaction/renew()`` does not; so keep the
    /// transaction, and begin new ones only under a lock with a time-out.
    ///
    /// The corresponding C function is `mdb_txn_begin` with `MDB_RDONLY`.
    ///
    /// - Throws: `.readersFull` if no slot is free, slots of dead processes included: ``checkReaders()``, then try
    ///   again; `.tryAgain` across PID namespaces; `.mapResized`; `.panic`; `.invalidArgument` if the environment is
    ///   closed.
    package func beginRead() throws(LMDBError) -> ReadTransaction {
        guard handle != nil else { throw .invalidArgument }
        var transaction: OpaquePointer?
        try check(guarded_txn_begin(guarding, UInt32(MDB_RDONLY), &transaction))
        guard let transaction else { throw .panic }
        liveReaders.add(1, ordering: .relaxed)
        return ReadTransaction(transaction, in: self)
    }

    /// Notes that the files are damaged: no transaction begins here any more, and none is committed.
    package func markDamaged() { guarded_mark_damaged(guarding) }

    /// For tests: from now on a damaged page ends the process, as it does with LMDB alone.
    package static func leaveGuardsOut() { guarded_leave_out() }

    // MARK: Upkeep

    /// Flushes what was committed to the disk.
    ///
    /// The corresponding C function is `mdb_env_sync`.
    ///
    /// - Parameter force: Whether to flush also if the environment has ``Flags/noSync``.
    /// - Throws: `.accessDenied` if the environment is read-only; `.inputOutput`; `.invalidArgument` if it is closed.
    package func sync(force: Bool) throws(LMDBError) {
        guard handle != nil else { throw .invalidArgument }
        try check(guarded_env_sync(guarding, force ? 1 : 0))
    }

    /// The calling thread's write transaction would wait for itself: whoever takes LMDB's writer mutex asks first.
    func requireNoWriteTransactionHere() throws(LMDBError) {
        guard writer.load(ordering: .relaxed) != UInt(pthread_self()) else { throw .wouldDeadlock }
    }

    /// lmdb.h: all descriptors but the data file's have FD_CLOEXEC; a program started from here would keep the data of
    /// a deleted environment alive.
    private static func closeOnExec(_ environment: OpaquePointer) throws(LMDBError) {
        var descriptor: CInt = -1
        try check(mdb_env_get_fd(environment, &descriptor))
        let flags = fcntl(descriptor, F_GETFD)
        guard flags != -1, fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != -1 else { throw LMDBError(code: errno) }
    }

    /// mdb.c computes the lock file's size and a transaction's in C integers; these bounds keep them from overflowing.
    private static let maxReadersLimit = 1 << 20
    private static let maxDatabasesLimit = 1 << 16
}
