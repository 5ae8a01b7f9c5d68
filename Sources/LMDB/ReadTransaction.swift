import CGuardedLMDB
import Synchronization

/// A transaction that reads a snapshot, and holds a slot in the reader table.
///
/// It is made to be kept: ``reset()`` releases the snapshot but keeps the slot and the memory, and ``renew()`` takes
/// the newest snapshot without a lock or an allocation. While a snapshot is held, pages freed since are not reused, so
/// hold it briefly.
///
/// The transaction ends when it goes out of scope. Its cursors may outlive a reset, and be renewed. They may be closed
/// after the transaction has ended, but not used.
///
/// Unchecked Sendable, because `MDB_NOTLS` ties the slot to the transaction instead of the thread (lmdb.h: "A read-only
/// transaction may span threads if the user synchronizes its use"). The transaction has one owner, and ``Access`` and
/// ``Cursor`` are not Sendable. Only one thread at a time may use a shared transaction, and ``reset()`` and ``renew()``
/// need exclusive access. These two are not `mutating`: the compiler would then check each call on a kept transaction
/// at run time, but only against other uses on the same thread, not against other threads.
package struct ReadTransaction: ~Copyable, @unchecked Sendable {
    private let handle: OpaquePointer
    /// The guard of the environment; it lives as long as the process, so using it counts no reference.
    private let guarding: OpaquePointer
    private let environment: Environment
    private var isOpen = true
    /// Whether this transaction has lost its slot, which may belong to another reader of any process by now.
    private let hasLostSlot = Atomic<Bool>(false)
    private let hasEnded = Atomic<Bool>(false)

    @inline(__always)
    init(_ handle: OpaquePointer, in environment: Environment) {
        self.handle = handle
        guarding = environment.guarding
        self.environment = environment
    }

    deinit {
        if isOpen { end() }
    }

    /// Ends the transaction before it goes out of scope; it must not be used afterwards.
    ///
    /// Ending twice does nothing.
    package func end() {
        guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
        // mdb.c, mdb_txn_end: it writes to the slot. If the slot is lost, the transaction is not aborted, and its
        // memory leaks.
        if !hasLostSlot.load(ordering: .relaxed), !environment.isInherited {
            guarded_txn_abort(guarding, handle)
        }
        environment.liveReaders.subtract(1, ordering: .releasing)
    }

    /// The snapshot's data; it must not be used once the transaction has ended, and its methods throw while it is
    /// reset.
    @inline(__always)
    package var access: Access { Access(handle, guarding, isWriting: false) }

    /// Releases the snapshot, and keeps the slot.
    ///
    /// Database handles opened in this transaction are closed. Resetting twice does nothing.
    ///
    /// The corresponding C function is `mdb_txn_reset`.
    package func reset() {
        mdb_txn_reset(handle)
    }

    /// Takes the newest snapshot, after ``reset()``.
    ///
    /// If the reader is preempted halfway, it can see pages of a later commit than its id names.
    ///
    /// The corresponding C function is `mdb_txn_renew`.
    ///
    /// - Returns: Whether it is the snapshot of the last commit; if not, reset and renew once more.
    /// - Throws: `.invalidArgument` if the transaction is not reset; `.badReaderSlot` if the slot is lost, as after a
    ///   fork; `.mapResized`; `.panic`. The transaction remains reset. After `.badReaderSlot`, only release the
    ///   transaction: a reset would write to the lost slot.
    @discardableResult
    package func renew() throws(LMDBError) -> Bool {
        var isNewest = false
        let result = guarded_txn_renew(guarding, handle, &isNewest)
        if result == MDB_BAD_RSLOT { hasLostSlot.store(true, ordering: .relaxed) }
        try check(result)
        return isNewest
    }

    /// Ends the transaction and keeps the database handles that were opened in it.
    ///
    /// This is how a read-only environment gets lasting handles. The corresponding C function is `mdb_txn_commit`.
    package consuming func commit() throws(LMDBError) {
        isOpen = false
        let result = guarded_txn_commit(guarding, handle)
        environment.liveReaders.subtract(1, ordering: .releasing)
        try check(result)
    }
}
