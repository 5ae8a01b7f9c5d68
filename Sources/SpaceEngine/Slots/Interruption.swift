package import SpaceSystem

/// Lets another thread, or a signal handler, end a thread's wait: the wait then throws `cancelled`, and nothing was
/// taken.
package final class Interruption: Sendable {
    private let word = FutexWord()
    private let question: (@Sendable () -> Bool)?

    /// Ends all waits of this process, including waits for the door and the gate.
    ///
    /// Waits for the door and the gate that begin later are for the clean-up, and last 5 seconds at most.
    package static let ofProcess = Interruption()

    package init() { question = nil }

    /// Asks whether the wait is to end: each time before the waiting thread sleeps, so after each signal that has woken it,
    /// and on no other thread.
    ///
    /// The first yes counts, and nothing is asked after it.
    package init(asking question: @escaping @Sendable () -> Bool) { self.question = question }

    package var isTriggered: Bool {
        if word.value.load() != 0 { return true }
        guard question?() ?? false else { return false }
        trigger()
        return true
    }

    /// The latest end of a sleep that begins now; `nil`: none.
    ///
    /// A signal that comes between the question and the sleep does not wake the thread, so it is noticed after a tick.
    package var sleepLimit: MonotonicInstant? { question == nil ? nil : .now.advanced(by: Limits.tick) }

    /// Ends the wait; async-signal-safe, because it is one atomic store.
    ///
    /// The wait notices it when a signal interrupts its sleep. A signal just before the sleep leaves it asleep, so the
    /// handler repeats the signal until the wait has ended.
    package func trigger() { word.value.store(1) }
}
