import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// The gate is not fair: a thread that writes in a loop takes it again before one that sleeps on it has woken. Whoever has
/// waited for long asks the others to let it go first.
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
        let isHeld = Atomic(false)
        let thread = Atomic<Int32>(0)
        let begun = Atomic(0)
        let hasEnded = Atomic(false)
        try DetachedThread.start {
            while !isOver.load(ordering: .acquiring) {
                begun.add(1, ordering: .releasing)
                guard (try? lock.acquire(timeout: .seconds(10))) != nil else { break }
                thread.store(lock.mutex.owner, ordering: .releasing)
                lock.release()
                // The next sleep begins while the lock is held.
                while !isHeld.load(ordering: .acquiring), !isOver.load(ordering: .acquiring) { Spin.pause() }
            }
            hasEnded.store(true, ordering: .releasing)
        }
        // The lock lies in the namespace's memory.
        defer {
            isOver.store(true, ordering: .releasing)
            #expect((try? eventually { hasEnded.load(ordering: .acquiring) }) == true)
        }
        #expect(try eventually { thread.load(ordering: .acquiring) != 0 })
        var wentFirst = 0
        for round in 0..<Self.rounds {
            _ = try lock.acquire(timeout: .seconds(10))
            isHeld.store(true, ordering: .releasing)
            let taken = lock.words.acquisitions.load()
            try #require(try eventually { begun.load(ordering: .acquiring) == round + 2 })
            let other = thread.load(ordering: .acquiring)
            try #require(try eventually { ProcFS.status(of: other)?.state == "S" })
            Self.askForPoliteness(lock)
            isHeld.store(false, ordering: .releasing)
            lock.release()
            if lock.words.acquisitions.load() != taken { wentFirst += 1 }
        }
        #expect(wentFirst > Self.rounds / 2, "\(wentFirst) of \(Self.rounds)")
    }

    /// Whoever asked was killed, or has given up.
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
