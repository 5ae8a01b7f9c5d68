import SpaceSystem
import Synchronization

/// On which processor the thread last ran that a waiter waits for: the last one that has changed something.
///
/// The word in the control file has that thread in its upper half, and the number of its processor (`Spin.processor`) in
/// the lower one; it is written under the gate. A process that answers another one is often the last writer itself, and
/// waits for the writer before it. So it remembers, for itself alone, who that was.
///
/// All of this only ends spins early. It is out of date when a thread has moved to another processor, when the writer is
/// dead or stopped, and when another process writes next. So each spin is bounded as well, and whatever it says, a
/// waiter publishes itself and looks before it sleeps.
package final class LastWriter: Sendable {
    private let word: SharedWord64
    /// What this process has written into the word last.
    private let own = Atomic<UInt64>(0)
    /// The last other thread's entry that a writer of this process has replaced.
    private let other = Atomic<UInt64>(0)

    init(_ word: SharedWord64) { self.word = word }

    /// Notes that the holder of the gate, this thread, has changed something.
    @inline(__always)
    func note(_ gate: LockWords) {
        let now = UInt64(UInt32(bitPattern: gate.mutex.owner)) << 32 | UInt64(gate.processor.loadRelaxed())
        let last = word.loadRelaxed()
        // A thread that writes again and again on one processor stores nothing.
        guard last != now else { return }
        if last >> 32 != now >> 32 { other.store(last, ordering: .relaxed) }
        own.store(now, ordering: .relaxed)
        word.storeRelaxed(now)
    }

    /// Whether the writer that this thread waits for last ran on another processor than this thread runs on.
    package var isApart: Bool {
        var entry = word.loadRelaxed()
        if UInt32(truncatingIfNeeded: entry) == Spin.processor, entry == own.load(ordering: .relaxed) {
            entry = other.load(ordering: .relaxed)
        }
        return Spin.isApart(UInt32(truncatingIfNeeded: entry))
    }
}
