import CGuardedLMDB
import CLMDB
import Synchronization

/// A transaction that reads a snapshot, and holds a slot in the reader table.
///
/// Made to be kept: ``reset()`` lets the snapshot go and keeps slot and memory, ``renew()`` takes the newest snapshot
/// without a lock or an allocation. A snapshot keeps pages freed since from being reused, so hold it briefly.
///
/// Going out of scope ends it. Its cursors may outlive a reset, and be renewed; closing them later than the transaction
/// is allowed, using them is not.
///
/// Sendable, unchecked: `MDB_NOTLS` ties the slot to the transaction instead of the thread (lmdb.h: "A read-only
/// transaction may span threads if the user synchronizes its use"). There is one owner, `reset` and `renew` need
/// exclusive access, and ``Access`` and ``Cursor`` are not Sendable; a shared value must be used by one thread at a
/// time. They don't mutate for the compiler: that would have it check each call on a kept transaction at run time, against
/// other uses on the same thread, and not against other threads.
package struct ReadTransaction: ~Copyable, @unchecked Sendable {
    private let handle: OpaquePointer
    /// The environment's, which lives as long as the process: asking through it counts no reference.
    private let guarding: OpaquePointer
    private let environment: Environment
    private var isOpen = true
    /// Whether the slot is no longer this transaction's: it may be another reader's by now, of any process.
    private let hasLostSlot = Atomic<Bool>(false)

    @inline(__always)
    init(_ handle: OpaquePointer, in environment: Environment) {
        self.handle = handle
        guarding = environment.guarding
        self.environment = environment
    }

    deinit {
        if isOpen {
            // mdb.c, mdb_txn_end: it writes to the slot. A lost one is let be, with the transaction's memory.
            if !hasLostSlot.load(ordering: .relaxed), !environment.isInherited {
                guarded_txn_abort(guarding, handle)
            }
            environment.liveReaders.subtract(1, ordering: .releasing)
        }
    }

    /// The snapshot's data; must not be used once the transaction has ended, and gives errors while it is reset.
    @inline(__always)
    package var access: Access { Access(handle, guarding, isWriting: false) }

    /// Lets the snapshot go, and keeps the slot.
    ///
    /// Database handles opened in this transaction are closed. Resetting twice does nothing.
    ///
    /// The corresponding C function is `mdb_txn_reset`.
    package func reset() {
        mdb_txn_reset(handle)
    }

    /// Takes the newest snapshot, after ``reset()``.
    ///
    /// A reader that is preempted halfway can see pages later than its id says.
    ///
    /// The corresponding C function is `mdb_txn_renew`.
    ///
    /// - Returns: Whether it is the snapshot of the last commit; if not, reset and renew it once more.
    /// - Throws: `.invalidArgument` if it is not reset; `.badReaderSlot` if the slot is lost, as after a fork;
    ///   `.mapResized`; `.panic`. It remains reset. After `.badReaderSlot` only let the transaction go: also a reset would
    ///   write to the slot.
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
    /// The way to get lasting handles where nothing can be written. The corresponding C function is `mdb_txn_commit`.
    package consuming func commit() throws(LMDBError) {
        isOpen = false
        let result = guarded_txn_commit(guarding, handle)
        environment.liveReaders.subtract(1, ordering: .releasing)
        try check(result)
    }
}
