import Glibc
import Synchronization

/// The thread on which a transaction's body runs: a call there that needs the gate would wait for its own thread.
package struct BodyThread: ~Copyable, Sendable {
    /// The threads on which a body runs, in any namespace: a wait in a body keeps all other writers out of its
    /// namespace.
    private static let all = Mutex<[UInt: Int]>([:])

    /// The thread, or 0 if no body runs.
    private let thread = Atomic<UInt>(0)

    /// Whether it is this thread.
    @inline(__always)
    package var isHere: Bool {
        let thread = thread.load(ordering: .relaxed)
        return thread != 0 && thread == UInt(pthread_self())
    }

    /// Whether a transaction's body runs on this thread, in any namespace.
    package static var isInAnyNamespace: Bool {
        all.withLock { $0[UInt(pthread_self())] != nil }
    }

    /// Notes that a transaction's body runs on this thread from now on.
    package func begin() {
        let own = UInt(pthread_self())
        thread.store(own, ordering: .relaxed)
        Self.all.withLock { $0[own, default: 0] += 1 }
    }

    /// Notes that the body has ended.
    package func end() {
        let own = UInt(pthread_self())
        Self.all.withLock { threads in
            let left = (threads[own] ?? 1) - 1
            threads[own] = left > 0 ? left : nil
        }
        thread.store(0, ordering: .relaxed)
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
