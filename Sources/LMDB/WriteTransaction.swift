import CGuardedLMDB
import Glibc
import Synchronization

/// A transaction that can write; the only one in all processes while it lives.
///
/// Ended exactly once: by ``commit()``, by ``abort()``, or by going out of scope, which aborts. It stays on the thread
/// that began it, so no `await` may come between (LMDB's writer mutex is owned by the thread, and is robust: unlocking
/// it from another one fails and leaves everybody waiting). A debug build stops there.
///
/// The environment has to outlive it. Its cursors have to be closed before it ends; those that are not were freed by LMDB, and answer `.badTransaction`.
package struct WriteTransaction: ~Copyable {
    private let handle: OpaquePointer
    /// Not counted: whoever holds a transaction holds what began it, on one thread and within one call, and the counting
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

    /// The transaction's data; must not be used once the transaction has ended.
    @inline(__always)
    package var access: Access { Access(handle, environment.guarding, isWriting: true) }

    /// Makes all changes visible, at once, and durable as the environment's flags say.
    ///
    /// The corresponding C function is `mdb_txn_commit`.
    ///
    /// - Throws: `.badTransaction` if an operation failed before; `.mapFull`, `.outOfSpace`, `.inputOutput`,
    ///   `.outOfMemory`. The transaction has ended then too, and nothing of it is visible. After `.inputOutput` from
    ///   the meta page the environment answers `.panic` until it is opened anew.
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

    /// Noted while LMDB's writer mutex is still held, or the next writer's note would be overwritten.
    @inline(__always)
    private func leave() {
        assert(environment.writer.load(ordering: .relaxed) == UInt(pthread_self()), "ended on another thread")
        // Nobody else changes it meanwhile, so it needs no atomic addition, which takes as long as a search's step.
        let ended = environment.writesEnded.load(ordering: .relaxed)
        environment.writesEnded.store(ended &+ 1, ordering: .relaxed)
        environment.writer.store(0, ordering: .relaxed)
    }
}
