import CGuardedLMDB
import Glibc
import Synchronization

/// A transaction that can write; while it lives, no other process or thread has one.
///
/// It ends exactly once: by ``commit()``, by ``abort()``, or by going out of scope, which aborts it. It must end on the
/// thread that began it, so no `await` may come between. (The thread owns LMDB's writer mutex, which is robust:
/// unlocking it from another thread fails, and all later writers wait forever. In a debug build an assertion fails
/// instead.)
///
/// The environment must outlive the transaction. The transaction's cursors must be closed before it ends. LMDB then
/// frees the cursors that are still open, and these answer `.badTransaction`.
package struct WriteTransaction: ~Copyable {
    private let handle: OpaquePointer
    /// The environment, without a counted reference.
    ///
    /// The caller that holds the transaction also holds the environment, on one thread and within one call. Counting
    /// took longer than a step of a search.
    private unowned(unsafe) let environment: Environment
    private var isOpen = true

    @inline(__always)
    init(_ handle: OpaquePointer, in environment: Environment) {
        self.handle = handle
        self.environment = environment
    }

    deinit {
        if isOpen {
            leave()
            guarded_txn_abort(environment.guarding, handle)
        }
    }

    /// The transaction's data; it must not be used once the transaction has ended.
    @inline(__always)
    package var access: Access { Access(handle, environment.guarding, isWriting: true) }

    /// Makes all changes visible at once, and as durable as the environment's flags require.
    ///
    /// The corresponding C function is `mdb_txn_commit`.
    ///
    /// - Throws: `.badTransaction` if an earlier operation failed; `.mapFull`, `.outOfSpace`, `.inputOutput`,
    ///   `.outOfMemory`. After an error the transaction has ended too, and none of its changes is visible. If writing
    ///   the meta page failed with `.inputOutput`, the environment answers `.panic` until it is opened again.
    package consuming func commit() throws(LMDBError) {
        isOpen = false
        leave()
        try check(guarded_txn_commit(environment.guarding, handle))
    }

    /// Drops all changes.
    ///
    /// The corresponding C function is `mdb_txn_abort`.
    package consuming func abort() {
        isOpen = false
        leave()
        guarded_txn_abort(environment.guarding, handle)
    }

    /// Notes the transaction's end.
    ///
    /// This runs while LMDB's writer mutex is still held; later it could overwrite the next writer's note.
    @inline(__always)
    private func leave() {
        assert(environment.writer.load(ordering: .relaxed) == UInt(pthread_self()), "ended on another thread")
        // No other thread changes the number at this time, so an atomic addition, as slow as a step of a search, is not
        // needed.
        let ended = environment.writesEnded.load(ordering: .relaxed)
        environment.writesEnded.store(ended &+ 1, ordering: .relaxed)
        environment.writer.store(0, ordering: .relaxed)
    }
}
