import Glibc
import SpaceSystem
import Synchronization

/// The threads on which the bodies of transactions run: what would wait for the gate there waits for itself.
extension Engine {
    /// Threads on which a body runs, of whatever namespace: who waits there keeps everybody else out of it.
    private static let threadsInTransaction = Mutex<[UInt: Int]>([:])

    @inline(__always)
    package var isInTransactionHere: Bool {
        let thread = transactionThread.load(ordering: .relaxed)
        return thread != 0 && thread == UInt(pthread_self())
    }

    package func usedWithinTransaction(_ operation: String) -> SpaceError {
        SpaceError(
            .invalidArgument,
            operation,
            namespace: name.text,
            reason: "a transaction of the namespace runs on this thread",
            advice: "use the transaction that its body is given"
        )
    }

    /// Whether a transaction's body runs on this thread, of whatever namespace.
    package static var isInTransactionOnThisThread: Bool {
        threadsInTransaction.withLock { $0[UInt(pthread_self())] != nil }
    }

    /// Refuses what would wait within a transaction's body, for whatever namespace.
    package func checkMayWait(_ operation: String) throws(SpaceError) {
        if Self.isInTransactionOnThisThread { throw SpaceError(waitingWithinTransaction: operation, name.text) }
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
    /// What would wait within a transaction's body is refused.
    package init(waitingWithinTransaction operation: String, _ namespace: String) {
        self.init(
            .invalidArgument,
            operation,
            namespace: namespace,
            reason: "a transaction's body would wait, and keep all others from writing as long",
            advice: "do it before the transaction"
        )
    }
}
