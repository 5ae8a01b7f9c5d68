import Glibc
import SpaceSystem

/// Where each process says what it holds, beside its PID, before it looks at what the others say: so two that hold what only one
/// may see each other.
struct HeldPlaces: Sendable {
    let workers: Int
    /// How long one that was killed may take to be gone.
    let patience: Duration
    /// A worker's own.
    let place: @Sendable (Int) -> SharedWord64

    /// Says what a worker holds, then looks whether a living process says what excludes it.
    ///
    /// `excludes`: Whether what another says may not be beside it.
    /// Returns: How many such there are.
    func enter(_ worker: Int, _ tag: UInt32, excludes: (UInt32) -> Bool) -> UInt64 {
        place(worker).storeSequential(UInt64(UInt32(bitPattern: getpid())) << 32 | UInt64(tag))
        SharedWord64.fence()
        var overlaps: UInt64 = 0
        for other in 0..<workers where other != worker {
            let word = place(other).loadSequential()
            guard word != 0, excludes(UInt32(truncatingIfNeeded: word)) else { continue }
            if !isEnding(word, other) { overlaps += 1 }
        }
        // Long enough for another to come in, if anything let it.
        usleep(30)
        return overlaps
    }

    func leave(_ worker: Int) { place(worker).store(0) }

    /// Whether a process that seems to hold something is one that was killed, and has only not quite gone.
    private func isEnding(_ word: UInt64, _ other: Int) -> Bool {
        guard let pidfd = try? PIDFD(pid: Int32(truncatingIfNeeded: word >> 32)) else { return true }
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while !deadline.hasPassed {
            if pidfd.hasExited { return true }
            // It went on: so it was alive, and held what was ours.
            if place(other).loadSequential() != word { return pidfd.hasExited }
            usleep(100)
        }
        return false
    }
}
