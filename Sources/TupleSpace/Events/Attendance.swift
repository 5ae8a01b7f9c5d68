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

    package init() {}

    /// Counts a wait that begins.
    package func begin() { waits.add(1, ordering: .sequentiallyConsistent) }

    /// Takes a wait that ends off the count.
    package func end() { waits.subtract(1, ordering: .sequentiallyConsistent) }

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
