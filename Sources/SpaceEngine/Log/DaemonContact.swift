import SpaceSystem
import Synchronization

/// When the daemon of this root has last answered this process about a namespace.
package final class DaemonContact: Sendable {
    private let answered = Atomic<Int64>(.min)
    private let isKnownToBeSilent = Atomic<Bool>(false)

    package func noteAnswer() {
        answered.store(MonotonicInstant.now.nanoseconds, ordering: .relaxed)
        isKnownToBeSilent.store(false, ordering: .relaxed)
    }

    /// Notes that this process has waited for the daemon in vain.
    package func noteSilence() { isKnownToBeSilent.store(true, ordering: .relaxed) }

    /// Whether this process has waited for the daemon in vain, and has not heard of it since.
    var isSilent: Bool { isKnownToBeSilent.load(ordering: .relaxed) }

    func isNewer(than age: Duration) -> Bool {
        !MonotonicInstant(nanoseconds: answered.load(ordering: .relaxed)).advanced(by: age).hasPassed
    }
}
