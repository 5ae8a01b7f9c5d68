import Synchronization

/// What the waiters of a namespace in this process and the event loop tell each other.
///
/// Guarantees: a waiter that relies on the event loop is looked after. The waiter counts itself, then reads whether the
/// loop attends; the loop says that it no longer attends, then reads the count. All of this is sequentially consistent,
/// so one of them sees the other.
package final class Attendance: Sendable {
    private let waits = Atomic<Int>(0)
    private let isAttended = Atomic<Bool>(false)
    private let rests = Atomic<Bool>(false)
    private let isEnding = Atomic<Bool>(false)
    /// What runs when the last wait ends, after the process has left the namespace.
    private let atEnd = Mutex<(@Sendable () -> Void)?>(nil)

    package init() {}

    /// Counts a wait that begins.
    package func begin() { waits.add(1, ordering: .sequentiallyConsistent) }

    /// Takes a wait that ends off the count.
    package func end() {
        let left = waits.subtract(1, ordering: .sequentiallyConsistent).newValue
        if left == 0, isEnding.load(ordering: .sequentiallyConsistent) { runAtEnd() }
    }

    /// Runs `body` once no thread or task waits, on the thread that is the last to end its wait.
    func whenLeft(_ body: @escaping @Sendable () -> Void) {
        atEnd.withLock { $0 = body }
        isEnding.store(true, ordering: .sequentiallyConsistent)
        if !isWaitedIn { runAtEnd() }
    }

    private func runAtEnd() {
        let body = atEnd.withLock { body in
            defer { body = nil }
            return body
        }
        body?()
    }

    /// Whether threads or tasks of this process wait in the namespace.
    package var isWaitedIn: Bool { waits.load(ordering: .sequentiallyConsistent) > 0 }

    /// Whether the event loop looks after the namespace.
    var isGiven: Bool {
        get { isAttended.load(ordering: .sequentiallyConsistent) }
        set { isAttended.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Whether the event loop may look after the namespace less than once a second.
    ///
    /// The loop sets it before it asks what needs ticks, and a caller that needs ticks reads it afterwards, so one of
    /// them sees the other.
    var isResting: Bool {
        get { rests.load(ordering: .sequentiallyConsistent) }
        set { rests.store(newValue, ordering: .sequentiallyConsistent) }
    }
}
