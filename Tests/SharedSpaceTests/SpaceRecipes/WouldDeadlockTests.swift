import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Waits of a task or thread for what it holds itself.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct WouldDeadlockTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("own") }

    private func expectRefused(_ body: () async throws -> Void) async throws {
        let error = await #expect(throws: SpaceError.self) { try await body() }
        #expect(error?.code == .wouldDeadlock)
        #expect(error?.holder == getpid())
        #expect(error?.reason.contains("process \(getpid()) itself") == true)
        // The refused wait has left no place in the queue.
        #expect(try namespace.status().holds.allSatisfy(\.isHeld))
    }

    @Test func aBodyThatWaitsForItsOwnLockIsRefused() async throws {
        let lock = namespace.lock("a")
        try await lock.withLock { _ in
            for mode in [SharedLock.Mode.exclusive, .shared] {
                try await expectRefused { try await lock.withLock(mode) { _ in } }
                try await expectRefused { _ = try await lock.withLock(mode, timeout: watchdog) { _ in } }
            }
            try await expectRefused { try await namespace.withLocks(["b", "a"]) { _ in } }
        }
        try await namespace.withLocks(["a", "b"]) { _ in try await expectRefused { _ = try await lock.acquire() } }
        try await lock.withLock(.shared) { _ in
            try await expectRefused { try await lock.withLock { _ in } }
            try await lock.withLock(.shared) { _ in }
        }
        try await lock.withLock { _ in }
    }

    @Test func aThreadThatWaitsForItsOwnLockIsRefused() async throws {
        let lock = namespace.lock("a")
        let (namespace, process) = (namespace, getpid())
        try await onThread {
            _ = try lock.withLock(timeout: watchdog) { (_) throws in
                let error = #expect(throws: SpaceError.self) { _ = try lock.withLock(timeout: watchdog) { _ in } }
                #expect(error?.code == .wouldDeadlock)
                #expect(error?.reason.contains("this thread") == true)
            }
            let hold = try lock.acquireOrTell(.exclusive, timeout: watchdog, interruption: nil)
            let error = #expect(throws: SpaceError.self) {
                try lock.acquireOrTell(.exclusive, timeout: nil, interruption: nil).release()
            }
            #expect(error?.code == .wouldDeadlock)
            // Another thread might release it in time.
            #expect(try isLate { try lock.acquire(timeout: .milliseconds(5)) })
            let late = #expect(throws: SpaceError.self) {
                try lock.acquireOrTell(.exclusive, timeout: .milliseconds(5), interruption: nil).release()
            }
            #expect(late?.code == .timedOut && late?.holder == process)
            #expect(late?.advice?.contains("end process") == false)
            try hold.release()
            #expect(try namespace.status().holds == [])
        }
    }

    @Test func aTaskThatHasAcquiredAndWaitsWithoutATimeOutIsRefused() async throws {
        let lock = namespace.lock("a")
        let hold = try await lock.acquire()
        try await expectRefused { _ = try await lock.acquire() }
        try hold.release()
        try await lock.acquire().release()
    }

    @Test func permitsAndLeadershipAreRefusedToo() async throws {
        let permits = namespace.semaphore("s", permits: 3)
        try await permits.withPermits(2) { _ in
            try await permits.withPermits { _ in }
            try await expectRefused { try await permits.withPermits(2) { _ in } }
        }
        let (namespace, election) = (namespace, namespace.election("e"))
        try await election.lead { (_) async throws in
            let error = await #expect(throws: SpaceError.self) { try await election.lead { _ in } }
            #expect(error?.code == .wouldDeadlock)
            #expect(try namespace.status().holds.count == 1)
        }
    }

    /// A reader that asks again behind a writer waits for the writer, which waits for the reader.
    @Test func aReaderBehindAWriterThatWaitsForItIsRefused() async throws {
        let lock = namespace.lock("a")
        try await lock.withLock(.shared) { (_) async throws in
            let writer = Task { try await lock.withLock { _ in } }
            #expect(try await eventually { try namespace.status().holds.count == 2 })
            let error = await #expect(throws: SpaceError.self) { try await lock.withLock(.shared) { _ in } }
            #expect(error?.code == .wouldDeadlock)
            writer.cancel()
            _ = await writer.result
        }
        // A writer with a time-out gives up, so the reader is served.
        try await lock.withLock(.shared) { (_) async throws in
            let writer = Task { try await lock.withLock(timeout: watchdog) { _ in } }
            #expect(try await eventually { try namespace.status().holds.count == 2 })
            let reader = Task { try await lock.acquire(.shared).release() }
            #expect(try await eventually { try namespace.status().holds.count == 3 })
            writer.cancel()
            try await reader.value
        }
    }

    /// What another task or thread of the process may end is no deadlock: an unstructured task of the body's, a hold that
    /// was passed on, a hold of a task that has ended.
    @Test func waitsThatOthersEndAreNotRefused() async throws {
        let lock = namespace.lock("a")
        let waiter = try await lock.withLock { (_) async throws in
            let waiter = Task { try await lock.withLock { $0 } }
            #expect(try await eventually { try namespace.status().holds.count == 2 })
            return waiter
        }
        #expect(try await waiter.value > 0)

        let passedOn = KeptHold(try await lock.acquire())
        let other = Task { () async throws in
            #expect(try await eventually { try namespace.status().holds.count == 2 })
            try passedOn.hold.release()
        }
        try await lock.acquire(timeout: watchdog).inTime().release()
        try await other.value

        // Later tasks may have the addresses of earlier ones.
        for _ in 0..<50 {
            let kept = try await Task { KeptHold(try await lock.acquire()) }.value
            let next = Task { try await lock.acquire().release() }
            #expect(try await eventually { try namespace.status().holds.count == 2 })
            try kept.hold.release()
            try await next.value
        }
    }

    /// A process that waits for what it holds itself, in another task, is named as one that may be deadlocked.
    @Test func aProcessThatWaitsForItselfIsNamed() async throws {
        let lock = namespace.lock("a")
        let hold = try await lock.acquire()
        let waiter = Task { try await lock.acquire().release() }
        #expect(try await eventually { try namespace.status().holds.count == 2 })
        let isNamed = try await eventually { try WaitGraph(namespace.status().waits).doubtful.map(\.doubt) == [.own] }
        #expect(isNamed)
        let graph = try WaitGraph(namespace.status().waits)
        #expect(graph.deadlocks.isEmpty)
        #expect(graph.doubtful.first?.text() == "\(getpid()) waits for the lock \"a\" of \(getpid())")
        try hold.release()
        try await waiter.value
    }
}
