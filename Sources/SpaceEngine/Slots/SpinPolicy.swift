import Synchronization

/// Whether waiting briefly for an answer has paid lately, in one namespace of this process.
///
/// There are two such waits: spinning before a sleep, and collecting writes before a sync.
///
/// Spinning pays if the other thread answers soon. If it runs on no processor, as on a busy machine, spinning only
/// keeps other threads from running. On which processor it last ran is known (`LastWriter`), but not whether it runs
/// now, so the policy learns that. After a wait without an answer, threads wait half as often as before, down to one
/// occasion in 64. After a wait that is answered, they wait on every occasion again. So of two threads that answer each
/// other, in the end both spin, or neither does.
///
/// Threads share the policy without a lock: at worst, one waits once too often.
package final class SpinPolicy: Sendable {
    private static let mostDoublings: UInt32 = 6

    private let vain = Atomic<UInt32>(0)
    private let times = Atomic<UInt32>(0)

    package init() {}

    /// Whether to try this time.
    package func isDue() -> Bool {
        let vain = vain.load(ordering: .relaxed)
        guard vain > 0 else { return true }
        return times.wrappingAdd(1, ordering: .relaxed).newValue & (1 << vain - 1) == 0
    }

    /// Notes whether a wait was answered.
    package func note(isAnswered: Bool) {
        let next = isAnswered ? 0 : min(vain.load(ordering: .relaxed) + 1, Self.mostDoublings)
        vain.store(next, ordering: .relaxed)
    }
}
