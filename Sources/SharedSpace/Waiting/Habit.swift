import Synchronization

/// Whether spinning before a sleep has been worth it of late, in one namespace of this process.
///
/// Spinning pays when the other runs on another processor and answers soon. Where both share one, as on a busy machine, it
/// only keeps the other from running, for as long as it lasts. Which of the two it is can't be asked, so it is learnt: each
/// spin in vain doubles the number of waits until the next, up to 64, and one that is answered makes every wait spin again.
/// Two that answer each other so come to spin both, or neither.
///
/// Threads share it without a lock: at worst one spins once too often.
final class SpinHabit: Sendable {
    private static let mostDoublings: UInt32 = 6

    private let vain = Atomic<UInt32>(0)
    private let waits = Atomic<UInt32>(0)

    /// Whether this wait should spin.
    func isDue() -> Bool {
        let vain = vain.load(ordering: .relaxed)
        guard vain > 0 else { return true }
        return waits.wrappingAdd(1, ordering: .relaxed).newValue & (1 << vain - 1) == 0
    }

    /// Notes what a spin came to.
    func note(isAnswered: Bool) {
        let next = isAnswered ? 0 : min(vain.load(ordering: .relaxed) + 1, Self.mostDoublings)
        vain.store(next, ordering: .relaxed)
    }
}
