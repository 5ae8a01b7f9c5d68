import SpaceSystem
import Synchronization

/// When the daemon of this root has last answered this process about a namespace.
package final class DaemonContact: Sendable {
    private let answered = Atomic<Int64>(.min)

    package func noteAnswer() { answered.store(MonotonicInstant.now.nanoseconds, ordering: .relaxed) }

    func isNewer(than age: Duration) -> Bool {
        !MonotonicInstant(nanoseconds: answered.load(ordering: .relaxed)).advanced(by: age).hasPassed
    }
}
