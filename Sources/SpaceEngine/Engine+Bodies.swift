import Glibc
import SpaceSystem
import Synchronization

/// The threads on which bodies of transactions run: a call there that needs the gate would wait for its own thread.
extension Engine {
    /// The threads on which a body runs, in any namespace: a wait in a body keeps all other writers out of its
    /// namespace.
    private static let threadsInTransaction = Mutex<[UInt: Int]>([:])

    @inline(__always)
    package var isInTransactionHere: Bool {
        let thread = transactionThread.load(ordering: .relaxed)
        return thread != 0 && thread == UInt(pthread_self())
    }

    /// Whether a transaction's body runs on this thread, in any namespace.
    package static var isInTransactionOnThisThread: Bool {
        threadsInTransaction.withLock { $0[UInt(pthread_self())] != nil }
    }

    /// Notes that a transaction's body runs on this thread from now on.
    package func beginBody() {
        let thread = UInt(pthread_self())
        transactionThread.store(thread, ordering: .relaxed)
        Self.threadsInTransaction.withLock { $0[thread, default: 0] += 1 }
    }

    /// Notes that the body has ended.
    package func endBody() {
        let thread = UInt(pthread_self())
        Self.threadsInTransaction.withLock { threads in
            let left = (threads[thread] ?? 1) - 1
            threads[thread] = left > 0 ? left : nil
        }
        transactionThread.store(0, ordering: .relaxed)
    }
}

extension SpaceError {
    /// The error for a call that would wait for the transaction of its own thread.
    package static var usedWithinTransaction: SpaceError {
        .misuse(
            "a transaction of the namespace runs on this thread",
            advice: "use the transaction that its body is given"
        )
    }

    /// The error for a call that would wait within a transaction's body.
    package static var waitingWithinTransaction: SpaceError {
        .misuse(
            "a transaction's body would wait, and keep all others from writing as long",
            advice: "do it before the transaction"
        )
    }
}
