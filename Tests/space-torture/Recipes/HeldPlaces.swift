import Glibc
import SpaceSystem

/// Where each process notes what it holds, beside its PID, before it looks at the notes of the others: so two processes
/// that hold something exclusive see each other.
struct HeldPlaces: Sendable {
    let workers: Int
    /// How long a killed process may take to be gone.
    let patience: Duration
    /// A worker's own place.
    let place: @Sendable (Int) -> SharedWord64

    /// Notes what a worker holds, then looks whether a living process has noted something that excludes it.
    ///
    /// `excludes`: Whether another's note excludes this one.
    /// Returns: How many such processes there are.
    func enter(_ worker: Int, _ tag: UInt32, excludes: (UInt32) -> Bool) -> UInt64 {
        place(worker).storeSequential(UInt64(UInt32(bitPattern: getpid())) << 32 | UInt64(tag))
        SharedWord64.fence()
        var overlaps: UInt64 = 0
        for other in 0..<workers where other != worker {
            let word = place(other).loadSequential()
            guard word != 0, excludes(UInt32(truncatingIfNeeded: word)) else { continue }
            if !isEnding(word, other) { overlaps += 1 }
        }
        // Long enough for another process to come in, if a fault let it.
        usleep(30)
        return overlaps
    }

    func leave(_ worker: Int) { place(worker).store(0) }

    /// Whether a process that seems to hold something was killed and is not quite gone.
    private func isEnding(_ word: UInt64, _ other: Int) -> Bool {
        guard let pidfd = try? PIDFD(pid: Int32(truncatingIfNeeded: word >> 32)) else { return true }
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while !deadline.hasPassed {
            if pidfd.hasExited { return true }
            // The process went on: so it was alive, and held what this worker holds.
            if place(other).loadSequential() != word { return pidfd.hasExited }
            usleep(100)
        }
        return false
    }
}
