import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// A thread that has waited for the gate for long asks the others to let it go first.
///
/// The gate is not fair: a thread that writes in a loop takes it again before one that sleeps on it has woken.
@Suite(.spaceTest, .timeLimit(.minutes(1))) struct PolitenessTests {
    private static let rounds = 50

    private static func askForPoliteness(_ lock: ProcessLock) {
        let later = MonotonicInstant.now.advanced(by: .seconds(60))
        lock.words.politeUntil.store(UInt64(bitPattern: Int64(later.nanoseconds)))
    }

    /// A releaser that is not polite goes on before the sleeper has woken, round after round.
    @Test func whoReleasesLetsASleeperGoFirst() throws {
        let namespace = try SpaceTest.namespace("n")
        let lock = namespace.core.control.gate
        let isOver = Atomic(false)
        let hasEnded = Atomic(false)
        let thread = Atomic<Int32>(0)
        // The rounds that the other thread was let into, and whether it asks for the lock now.
        let begun = Atomic(0)
        let asks = Atomic(false)
        try DetachedThread.start {
            var round = 0
            if (try? lock.acquire(timeout: watchdog)) != nil {
                thread.store(lock.mutex.owner, ordering: .releasing)
                lock.release()
            }
            while !isOver.load(ordering: .acquiring) {
                guard begun.load(ordering: .acquiring) > round else {
                    Spin.pause()
                    continue
                }
                round += 1
                asks.store(true, ordering: .releasing)
                guard (try? lock.acquire(timeout: watchdog)) != nil else { break }
                asks.store(false, ordering: .releasing)
                lock.release()
            }
            hasEnded.store(true, ordering: .releasing)
        }
        // The lock lies in the namespace's memory.
        defer {
            isOver.store(true, ordering: .releasing)
            #expect((try? eventually { hasEnded.load(ordering: .acquiring) }) == true)
        }
        try #require(try eventually { thread.load(ordering: .acquiring) != 0 })
        var wentFirst = 0
        for _ in 0..<Self.rounds where try goesFirst() { wentFirst += 1 }
        #expect(wentFirst > Self.rounds / 2, "\(wentFirst) of \(Self.rounds)")

        /// Whether the other thread, which sleeps, has the lock before this one goes on.
        func goesFirst() throws -> Bool {
            _ = try lock.acquire(timeout: watchdog)
            var isHeld = true
            defer { if isHeld { lock.release() } }
            let taken = lock.words.acquisitions.load()
            begun.add(1, ordering: .releasing)
            try #require(try eventually { asks.load(ordering: .acquiring) && isAsleep() })
            Self.askForPoliteness(lock)
            isHeld = false
            lock.release()
            let isFirst = lock.words.acquisitions.load() != taken
            try #require(try eventually { !asks.load(ordering: .acquiring) })
            return isFirst
        }

        func isAsleep() -> Bool { ProcFS.status(of: thread.load(ordering: .acquiring))?.state == "S" }
    }

    /// The thread that asked was killed, or has given up.
    @Test func politenessEndsIfNobodyComes() throws {
        let namespace = try SpaceTest.namespace("n")
        let lock = namespace.core.control.gate
        _ = try lock.acquire(timeout: .seconds(10))
        Self.askForPoliteness(lock)
        let start = MonotonicInstant.now
        lock.release()
        #expect(MonotonicInstant.now.duration(since: start) >= .milliseconds(2))
        #expect(lock.words.politeUntil.load() == 0)
    }
}
