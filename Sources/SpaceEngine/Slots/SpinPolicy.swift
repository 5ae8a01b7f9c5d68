import Synchronization

/// Whether waiting in hope has been worth it of late, in one namespace of this process: spinning before a sleep, and
/// collecting writes before a sync.
///
/// Spinning pays when the other runs on another processor and answers soon. Where both share one, as on a busy machine, it
/// only keeps the other from running, for as long as it lasts. Which of the two it is can't be asked, so it is learnt: each
/// hope in vain doubles the number of times until the next, up to 64, and one that is answered makes every time hope again.
/// Two that answer each other so come to spin both, or neither.
///
/// Threads share it without a lock: at worst one hopes once too often.
package final class SpinPolicy: Sendable {
    private static let mostDoublings: UInt32 = 6

    private let vain = Atomic<UInt32>(0)
    private let times = Atomic<UInt32>(0)

    package init() {}

    /// Whether to hope this time.
    package func isDue() -> Bool {
        let vain = vain.load(ordering: .relaxed)
        guard vain > 0 else { return true }
        return times.wrappingAdd(1, ordering: .relaxed).newValue & (1 << vain - 1) == 0
    }

    /// Notes what a hope came to.
    package func note(isAnswered: Bool) {
        let next = isAnswered ? 0 : min(vain.load(ordering: .relaxed) + 1, Self.mostDoublings)
        vain.store(next, ordering: .relaxed)
    }
}
