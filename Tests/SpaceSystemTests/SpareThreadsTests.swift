import CSpaceShims
import Glibc
import SpaceSystem
import Synchronization
import Testing

/// Threads that do one work after the other.
@Suite(.timeLimit(.minutes(1)))
struct SpareThreadsTests {
    private final class Seen: Sendable {
        let begun = Atomic<Int>(0)
        let ended = Atomic<Int>(0)
        let threads = Mutex<Set<Int32>>([])

        func waitForEnd(of count: Int) { while ended.load(ordering: .acquiring) < count { sched_yield() } }
    }

    private let seen = Seen()

    /// Work that waits for other work does not keep it from being done, be its thread new or not.
    @Test func worksThatWaitAreDoneAtOnce() throws {
        let threads = SpareThreads(most: 2, patience: .seconds(3600))
        for all in [8, 16] {
            for _ in 0..<8 {
                try threads.start { [seen] in
                    seen.begun.add(1, ordering: .relaxed)
                    while seen.begun.load(ordering: .relaxed) < all { sched_yield() }
                    seen.ended.add(1, ordering: .releasing)
                }
            }
            seen.waitForEnd(of: all)
        }
        #expect(threads.waiting <= 2)
    }

    /// A thread that waits does the next work, and keeps nothing of the last one.
    @Test func aThreadDoesMoreThanOneWork() throws {
        let threads = SpareThreads(most: 2, patience: .seconds(3600))
        weak var last: Seen?
        for count in 1...3 {
            let own = Seen()
            last = own
            try threads.start { [seen] in
                own.ended.add(1, ordering: .relaxed)
                _ = seen.threads.withLock { $0.insert(space_thread_id()) }
                seen.ended.add(1, ordering: .releasing)
            }
            seen.waitForEnd(of: count)
            while threads.waiting == 0 { sched_yield() }
        }
        #expect(seen.threads.withLock { $0.count } == 1)
        #expect(last == nil)
    }

    /// Work that comes at the moment at which a thread gives up waiting is done once.
    @Test func noWorkIsLostToAThreadThatEnds() throws {
        let threads = SpareThreads(most: 2, patience: .zero)
        for _ in 0..<5000 { try threads.start { [seen] in seen.ended.add(1, ordering: .releasing) } }
        seen.waitForEnd(of: 5000)
        #expect(seen.ended.load(ordering: .acquiring) == 5000)
    }
}
