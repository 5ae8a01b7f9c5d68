import CGuardedLMDB
import CSpaceShims
import Glibc
import Synchronization

/// An open LMDB environment: a folder with `data.mdb` and `lock.mdb`, mapped into this process.
///
/// Open each environment once in a process (lmdb.h: "Do not have open an LMDB database twice in the same process at the
/// same time"), and never use it in a child made by fork; this layer checks neither. When a forked child releases an
/// environment or a transaction that it inherited, LMDB is not called: mdb_env_close() and mdb_txn_abort() would free
/// the parent's slots in the reader table.
///
/// Readers' slots belong to transactions, not to threads (`MDB_NOTLS`, always set). So a ``ReadTransaction`` may move
/// between threads; it holds a reference to the environment. A ``WriteTransaction`` stays on the thread that began it,
/// and must end before the last reference to the environment is released.
///
/// Unchecked Sendable, because LMDB allows all threads to use an environment (lmdb.h: "fully thread-aware"), `handle`
/// changes only in ``close()``, during which no other thread may use the environment, and the rest is constant or
/// atomic.
package final class Environment: @unchecked Sendable {
    /// LMDB's handle, or `nil` once the environment is closed.
    private(set) var handle: OpaquePointer?

    /// The guard that turns damaged pages into errors.
    ///
    /// Once the environment is closed, only the number of the last commit may be asked for.
    let guarding: OpaquePointer

    /// The path as it was given to `init`.
    package let path: String

    /// The thread that holds the write transaction, or 0.
    ///
    /// A thread only checks whether the value is its own, so relaxed order is enough. LMDB's writer mutex does not
    /// detect its owner: a second `mdb_txn_begin` on the same thread would wait for itself forever.
    let writer = Atomic<UInt>(0)

    /// How many write transactions have ended here; a cursor compares the number to learn whether LMDB has freed it.
    let writesEnded = Atomic<UInt64>(0)

    /// The number of read transactions that have not ended, reset ones included.
    let liveReaders = Atomic<Int>(0)

    private let forkGeneration = space_fork_generation()

    /// Whether this process is a child, made by fork, of the one that opened the environment.
    var isInherited: Bool { space_fork_generation() != forkGeneration }

    /// Opens an environment, and creates it if its files do not exist.
    ///
    /// `mdb_env_open` waits without bound for an opener that is stopped halfway. So a caller that shares the folder
    /// with other processes holds a lock of its own during the call.
    ///
    /// The corresponding C functions are `mdb_env_create` and `mdb_env_open`.
    ///
    /// - Parameters:
    ///   - path: The folder; it must exist.
    ///   - mapSize: The size of the map in bytes, rounded up to whole pages; the data can't become larger.
    ///   - maxReaders: The number of slots in the reader table, at most 1,048,576; the first process to open decides.
    ///   - maxDatabases: How many named databases can be open, at most 65,536.
    ///   - flags: How to map and when to sync; the same in all processes.
    ///   - mode: The permissions of files that are created.
    /// - Throws: `.invalidArgument` if a number is out of range or the path contains a NUL; `.invalid` or
    ///   `.versionMismatch` if the data file is not a data file of this version; `.damagedLockFile`; an errno. After an
    ///   error nothing remains open.
    package init(
        path: String,
        mapSize: Int,
        maxReaders: Int,
        maxDatabases: Int,
        flags: Flags,
        mode: UInt32 = 0o600
    ) throws(LMDBError) {
        self.path = path
        // A NUL would end the path early, so that LMDB would open another folder.
        guard !path.isEmpty, !path.utf8.contains(0), mapSize > 0, flags.isSubset(of: .known),
            (1...Self.maxReadersLimit).contains(maxReaders), (0...Self.maxDatabasesLimit).contains(maxDatabases)
        else { throw .invalidArgument }
        let page = max(Int(sysconf(CInt(_SC_PAGESIZE))), 1)
        let (rounded, overflow) = mapSize.addingReportingOverflow(page - 1)
        guard !overflow else { throw .invalidArgument }

        let hasData = try DataFileHeader.check(folder: path, isWholeFile: flags.contains(.writeMap))

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
            // mdb.c: both files begin with the same number, and LMDB refuses either in the same words.
            throw hasData && [.invalid, .versionMismatch].contains(error) ? .damagedLockFile : error
        }
        handle = environment
        // An ``Access`` finds its environment through this pointer, without a reference. The pointer is unowned and
        // ends with the handle.
        _ = mdb_env_set_userctx(environment, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit {
        // Read transactions and the cursors of write transactions hold a reference to the environment, so none of them
        // is left.
        guard !isInherited else { return }
        if handle != nil { guarded_env_close(guarding) }
        guarded_env_release(guarding)
    }

    /// Unmaps and closes the environment; it may then be opened again.
    ///
    /// No other thread may use the environment meanwhile, except for ``lastTransaction`` if
    /// ``toleratesLateLooks`` is true. If a transaction is alive, even a reset one, this call does
    /// nothing, and the environment is closed when the last reference to it is released. The call also does nothing in
    /// a child made by fork, and if the environment is already closed.
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

    /// Begins a transaction that can write, as soon as no other thread or process has one.
    ///
    /// The call waits without bound (LMDB 0.9 has no timed lock), so callers first take a lock with a time-out.
    ///
    /// The corresponding C function is `mdb_txn_begin`.
    ///
    /// - Throws: `.wouldDeadlock` if this thread already has a write transaction; `.accessDenied` if the environment is
    ///   read-only; `.mapResized`; `.panic`; `.damagedLockFile`; `.invalidArgument` if the environment is closed.
    package func beginWrite() throws(LMDBError) -> WriteTransaction {
        let thread = UInt(pthread_self())
        guard writer.load(ordering: .relaxed) != thread else { throw .wouldDeadlock }
        let transaction = try begin(0)
        writer.store(thread, ordering: .relaxed)
        return WriteTransaction(transaction, in: self)
    }

    /// Begins a transaction that reads a snapshot, and takes a slot in the reader table for it.
    ///
    /// The call waits for the reader table's mutex without bound; ``ReadTransaction/renew()`` does not. So keep the
    /// transaction, and begin a new one only under a lock with a time-out.
    ///
    /// The corresponding C function is `mdb_txn_begin` with `MDB_RDONLY`.
    ///
    /// - Throws: `.readersFull` if all slots are taken, some perhaps by dead processes: call ``checkReaders()``, then
    ///   try again; `.tryAgain` across PID namespaces; `.mapResized`; `.panic`; `.damagedLockFile`; `.invalidArgument`
    ///   if the environment is closed.
    package func beginRead() throws(LMDBError) -> ReadTransaction {
        let transaction = try begin(UInt32(MDB_RDONLY))
        liveReaders.add(1, ordering: .relaxed)
        return ReadTransaction(transaction, in: self)
    }

    private func begin(_ flags: UInt32) throws(LMDBError) -> OpaquePointer {
        guard handle != nil else { throw .invalidArgument }
        var transaction: OpaquePointer?
        let result = guarded_txn_begin(guarding, flags, &transaction)
        // pthread_mutex_lock(3): what lies in the lock file is no mutex any more.
        guard result != EINVAL else { throw .damagedLockFile }
        try check(result)
        guard let transaction else { throw .panic }
        return transaction
    }

    /// Notes that the files are damaged: no transaction begins or commits here any more.
    package func markDamaged() { guarded_mark_damaged(guarding) }

    /// Makes a damaged page end the process from now on, as with LMDB alone; for tests.
    package static func leaveGuardsOut() { guarded_leave_out() }

    // MARK: Upkeep

    /// Flushes all committed data to the disk.
    ///
    /// The corresponding C function is `mdb_env_sync`.
    ///
    /// - Parameter force: Whether to flush also if the environment has ``Flags/noSync``.
    /// - Throws: `.accessDenied` if the environment is read-only; `.inputOutput`; `.invalidArgument` if the environment
    ///   is closed.
    package func sync(force: Bool) throws(LMDBError) {
        guard handle != nil else { throw .invalidArgument }
        try check(guarded_env_sync(guarding, force ? 1 : 0))
    }

    /// Sets FD_CLOEXEC on the data file's descriptor, the only one on which LMDB does not set it (lmdb.h).
    ///
    /// Otherwise a program started by this process would keep the data of a deleted environment alive.
    private static func closeOnExec(_ environment: OpaquePointer) throws(LMDBError) {
        var descriptor: CInt = -1
        try check(mdb_env_get_fd(environment, &descriptor))
        let flags = fcntl(descriptor, F_GETFD)
        guard flags != -1, fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != -1 else { throw LMDBError(code: errno) }
    }

    /// These bounds prevent overflows: mdb.c computes the sizes of the lock file and of a transaction in C integers.
    private static let maxReadersLimit = 1 << 20
    private static let maxDatabasesLimit = 1 << 16
}
