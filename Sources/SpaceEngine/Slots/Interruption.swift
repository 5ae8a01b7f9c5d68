import SpaceSystem
import TupleCoding

/// Lets another thread, or a signal handler, end a thread's wait: the wait then throws `cancelled`, and nothing was
/// taken.
package final class Interruption: Sendable {
    private let word = FutexWord()

    /// Ends all waits of this process, also those for the door and the gate.
    ///
    /// Waits for the door and the gate that begin later are for the clean-up, and last 5 seconds at most.
    package static let ofProcess = Interruption()

    package init() {}

    package var isTriggered: Bool { word.value.load() != 0 }

    /// Ends the wait; async-signal-safe, because it is one atomic store.
    ///
    /// The wait notices it when a signal interrupts its sleep. A signal just before the sleep leaves it asleep, so the
    /// handler repeats the signal until the wait has ended.
    package func trigger() { word.value.store(1) }
}
