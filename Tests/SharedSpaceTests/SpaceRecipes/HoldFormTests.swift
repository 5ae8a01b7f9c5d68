import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Locks, semaphores and elections within one process, in all their forms.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct HoldFormTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("locks")
    }

    @Test func whatGoesOutOfScopeIsLetGo() throws {
        let lock = namespace.lock("a")
        do {
            let hold = try lock.acquire(timeout: .zero).inTime()
            #expect(try hold.isHeld)
            #expect(try lock.tryAcquire() == nil)
        }
        guard let hold = try lock.tryAcquire() else { throw TestFailure("it is still held") }
        try hold.release()
        #expect(try !hold.isHeld)
        let error = #expect(throws: SpaceError.self) { try hold.release() }
        #expect(error?.code == .invalidArgument)
        #expect(try namespace.status().holds == [])
    }

    @Test func theFencingNumberRises() throws {
        var last: UInt64 = 0
        for _ in 0..<5 {
            let number = try #require(try namespace.lock("a").withLock(timeout: .zero) { $0 })
            #expect(number > last)
            last = number
        }
    }

    @Test func aBodyThatThrowsLetsGo() async throws {
        await #expect(throws: TestFailure.self) {
            try await namespace.lock("a").withLock { _ in throw TestFailure("on purpose") }
        }
        #expect(try namespace.status().holds == [])
    }

    /// A cancelled wait gives up its place, and the waiter behind it is served.
    @Test func aCancelledWaitIsPassedOver() async throws {
        let lock = namespace.lock("a")
        let hold = try await lock.acquire()
        let cancelled = Task { try await lock.acquire().release() }
        #expect(try await eventually { try namespace.status().holds.count == 2 })
        let next = Task { try await lock.withLock(.shared) { $0 } }
        #expect(try await eventually { try namespace.status().holds.count == 3 })
        cancelled.cancel()
        let error = await #expect(throws: SpaceError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        #expect(try namespace.status().holds.count == 2)
        try hold.release()
        _ = try await next.value
        #expect(try namespace.status().holds == [])
    }

    @Test func aNameIsOneThing() throws {
        let hold = try namespace.lock("a").acquire(timeout: .zero).inTime()
        for body: () throws -> Void in [
            { _ = try namespace.semaphore("a", permits: 1).tryAcquire() },
            { _ = try namespace.election("a").stand(timeout: .zero) },
            { _ = try namespace.election("a").leader() },
        ] {
            let error = #expect(throws: SpaceError.self) { try body() }
            #expect(error?.code == .typeMismatch)
        }
        for name in ["", String(repeating: "x", count: 241)] {
            #expect(throws: SpaceError.self) { _ = try namespace.lock(name).tryAcquire() }
        }
        #expect(throws: SpaceError.self) { _ = try namespace.semaphore("b", permits: 0).tryAcquire() }
        #expect(throws: SpaceError.self) { _ = try namespace.semaphore("b", permits: 2).tryAcquire(3) }
        try hold.release()
        _ = try namespace.semaphore("a", permits: 1).tryAcquire()
    }

    /// Names with NULs, and names of which one is the beginning of another, are different names.
    @Test func similarNamesAreDifferent() throws {
        var holds: [Box] = []
        for name in ["a", "a\0", "a\0b", "ab", "a\u{ff}", String(repeating: "\0", count: 240)] {
            let hold = try namespace.lock(name).acquire(timeout: .zero).inTime()
            holds.append(Box(hold))
        }
        #expect(try namespace.status().holds.count == holds.count)
    }

    private final class Box {
        let hold: Hold
        init(_ hold: consuming Hold) { self.hold = hold }
    }

    /// Threads of one process contend with each other for a lock.
    @Test func oneAtATimeAmongThreads() async throws {
        let lock = namespace.lock("a")
        let inside = Counted()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    try await onThread {
                        for _ in 0..<100 {
                            _ = try lock.withLock(timeout: watchdog) { _ in
                                inside.enter()
                                inside.leave()
                            }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(inside.total == 400)
        #expect(inside.most == 1)
    }

    /// A waiter whose place was removed while it waited holds nothing at the end of its time.
    @Test func aPlaceThatHasGoneIsNotServed() throws {
        let hold = try namespace.lock("a").acquire(timeout: .zero).inTime()
        let request = PlaceRequest(name: "a", kind: .lock, rules: TurnRules())
        let place = try #require(try namespace.core.places.enter(request, waits: true)).0
        try namespace.core.places.end(place)
        let error = #expect(throws: SpaceError.self) { try namespace.core.places.endWaiting(place) }
        #expect(error?.code == .holdLost)
        try hold.release()
    }

    /// The end of a wait gives the hold that was in the way, and the error says whether it has been released since.
    @Test func aWaitThatTimesOutTellsOfTheHoldInTheWay() throws {
        let hold = try namespace.lock("a").acquire(timeout: .zero).inTime()
        let request = PlaceRequest(name: "a", kind: .lock, rules: TurnRules())
        let places = namespace.core.places
        let place = try #require(try places.enter(request, waits: true)).0
        guard case .refused(by: let rival?) = try places.endWaiting(place) else {
            throw TestFailure("no hold was in the way")
        }
        #expect(rival.ticket == hold.fencing)
        let before = places.timedOut(request, by: rival)
        #expect(before.description.contains("is held by this process itself"), "\(before)")
        try hold.release()
        let after = places.timedOut(request, by: rival)
        #expect(after.code == .timedOut && after.holder == getpid())
        #expect(after.description.contains("was held by process \(getpid())"), "\(after)")
        #expect(try namespace.status().holds == [])
    }

    // MARK: Elections

    @Test func theDeposedLearnOfIt() async throws {
        let election = namespace.election("leader")
        let (losses, told) = AsyncStream.makeStream(of: SpaceError.Code.self)
        let leadership = try await election.stand(as: "first") { told.yield($0.code) }
        #expect(try election.leader()?.value == "first")
        #expect(try election.leader()?.term == leadership.fencing)
        let second = Task { try await election.lead(as: "second") { term in term } }
        #expect(try await eventually { try namespace.status().holds.count == 2 })
        #expect(try !election.depose(term: leadership.fencing + 1_000))
        #expect(try election.depose())
        var iterator = losses.makeAsyncIterator()
        #expect(await iterator.next() == .holdLost)
        #expect(try !leadership.isHeld)
        let error = #expect(throws: SpaceError.self) { try leadership.release() }
        #expect(error?.code == .holdLost)
        #expect(try await second.value > leadership.fencing)
        #expect(try election.leader() == nil)
    }

    /// The body of a deposed leader is cancelled.
    @Test func aDeposedBodyIsCancelled() async throws {
        let election = namespace.election("leader")
        let work = Task {
            try await election.lead { _ in
                while true { try await Task.sleep(for: .seconds(60)) }
            }
        }
        #expect(try await eventually { try election.leader() != nil })
        try election.depose()
        let error = await #expect(throws: SpaceError.self) { try await work.value }
        #expect(error?.code == .holdLost)
    }

    /// When its caller is cancelled, a leader leads until its body returns, and the body's result is returned.
    @Test func aCancelledLeaderReturns() async throws {
        let (namespace, election) = (namespace, namespace.election("leader"))
        let work = Task {
            try await election.lead { _ in
                try? await Task.sleep(for: .seconds(60))
                // The watch for a loss was cancelled with the task, and has ended.
                return try await Task.detached {
                    try await eventually { try namespace.core.slotsInUse == 0 && election.leader() != nil }
                }.value
            }
        }
        #expect(try await eventually { namespace.core.slotsInUse > 0 })
        work.cancel()
        #expect(try await work.value)
        #expect(try election.leader() == nil)
    }

    /// A hold belongs to the process, not to the handle.
    @Test func aHoldOutlivesTheHandleThatItCameFrom() async throws {
        let handle = try root.space.namespace(namespace.name)
        guard let hold = try handle.lock("l").tryAcquire() else { throw TestFailure("the lock was not free") }
        let led = try await handle.election("leader").lead { term in
            try handle.leave()
            return term
        }
        #expect(led > 0)
        #expect(try hold.isHeld)
        let isFreeMeanwhile = try namespace.lock("l").tryAcquire() != nil
        #expect(!isFreeMeanwhile)
        try hold.release()
        let isFree = try namespace.lock("l").tryAcquire() != nil
        #expect(isFree)
    }

    /// A process that leaves is told so, although its leadership ends before the process has left.
    @Test func leavingIsNamed() async throws {
        let (losses, told) = AsyncStream.makeStream(of: SpaceError.Code.self)
        let leadership = try await namespace.election("leader").stand { told.yield($0.code) }
        let core = namespace.core
        core.engine.beginLeaving()
        try core.endedHolders.endAll(timeout: .seconds(10)) { $0 == .session(core.session.number) }
        var iterator = losses.makeAsyncIterator()
        #expect(await iterator.next() == .closed)
        withExtendedLifetime(leadership) {}
    }

    /// A leader that resigns is not told of a loss.
    @Test func resigningIsNoLoss() async throws {
        let election = namespace.election("leader")
        let (losses, told) = AsyncStream.makeStream(of: SpaceError.Code.self)
        do {
            let leadership = try await election.stand { told.yield($0.code) }
            try leadership.release()
        }
        let other = try await election.stand { told.yield($0.code) }
        try namespace.leave()
        var iterator = losses.makeAsyncIterator()
        #expect(await iterator.next() == .closed)
        withExtendedLifetime(other) {}
    }

    // From async code, every form with a time-out is the awaited one, also if its body does not await.

    @Test func awaitedLocksHaveATimeOut() async throws {
        let lock = namespace.lock("a")
        #expect(try #require(await lock.withLock(timeout: .seconds(60)) { $0 }) > 0)
        #expect(try await lock.withLock(.shared, timeout: .seconds(60)) { _ in await Task.yield() })
        let hold = try await lock.acquire()
        #expect(try await !lock.withLock(timeout: .milliseconds(5)) { _ in Issue.record("the lock is held") })
        #expect(try await isLate { try await lock.acquire(timeout: .zero) })
        try hold.release()
        #expect(try namespace.status().holds == [])
    }

    @Test func awaitedPermitsHaveATimeOut() async throws {
        let permits = namespace.semaphore("s", permits: 2)
        #expect(try #require(await permits.withPermits(2, timeout: .seconds(60)) { $0 }) > 0)
        let hold = try await permits.acquire(2)
        #expect(try await !permits.withPermits(timeout: .milliseconds(5)) { _ in Issue.record("no permit is left") })
        #expect(try await isLate { try await permits.acquire(timeout: .zero) })
        try hold.release()
        #expect(try namespace.status().holds == [])
    }
}

/// Counts how many threads are inside at a time.
private final class Counted: Sendable {
    private let state = Mutex((inside: 0, most: 0, total: 0))

    func enter() {
        state.withLock {
            $0.inside += 1
            $0.total += 1
            $0.most = max($0.most, $0.inside)
        }
    }
    func leave() { state.withLock { $0.inside -= 1 } }
    var most: Int { state.withLock { $0.most } }
    var total: Int { state.withLock { $0.total } }
}
