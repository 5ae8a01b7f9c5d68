import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Numbers of permits that are set while processes hold permits and wait for them.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct PermitTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("permits")
    }

    private func held(_ semaphore: SharedSemaphore, _ count: Int) throws -> Hold {
        guard let hold = try semaphore.tryAcquire(count) else { throw TestFailure("the permits are not to be had") }
        return hold
    }

    private func waits(_ count: Int) throws -> Bool {
        try namespace.status().holds.count { !$0.isHeld } == count
    }

    @Test func aWishBeyondTheNumberHoldsUpNoOther() async throws {
        let semaphore = namespace.semaphore("s", permits: 3)
        let hold = try held(semaphore, 1)
        let large = Task { try await semaphore.acquire(3, timeout: watchdog).inTime().release() }
        #expect(try await eventually { try waits(1) })
        let small = Task { try await semaphore.acquire(1, timeout: watchdog).inTime().release() }
        #expect(try await eventually { try waits(2) })
        try semaphore.setPermits(2)
        // The first is told; the second holds one of the two.
        let error = await #expect(throws: SpaceError.self) { try await large.value }
        #expect(error?.code == .invalidArgument)
        #expect(error?.description.contains("3 of 2 permits") == true)
        try await small.value
        #expect(try namespace.verify() == [])
        try hold.release()
        #expect(try await eventually { try namespace.status().holds.isEmpty })
    }

    /// A holder is counted, and named, also if a waiter that is passed over stands before it in the queue.
    @Test func aHolderBehindAPassedOverWaiterIsNamed() throws {
        let semaphore = namespace.semaphore("s", permits: 3)
        let first = try held(semaphore, 1)
        let large = PlaceRequest(
            name: "s",
            kind: .semaphore,
            rules: TurnRules(),
            weight: 3,
            details: .int(3),
            unit: "permits"
        )
        let (place, isHolding) = try #require(try namespace.core.places.enter(large, waits: true))
        #expect(!isHolding)
        try semaphore.setPermits(2)
        try first.release()
        let second = try held(semaphore, 1)
        let error = #expect(throws: SpaceError.self) {
            _ = try semaphore.acquireOrTell(2, timeout: .zero, interruption: nil)
        }
        #expect(error?.code == .timedOut && error?.holder == getpid())
        try second.release()
        try namespace.core.places.end(place)
        #expect(try namespace.verify() == [])
    }

    @Test func aNumberThatIsTakenBackInUseRefusesNoNewcomer() async throws {
        let semaphore = namespace.semaphore("s", permits: 3)
        try semaphore.setPermits(1)
        let first = try held(semaphore, 1)
        let waiting = Task { try await semaphore.acquire(1, timeout: watchdog).inTime().release() }
        #expect(try await eventually { try waits(1) })
        try semaphore.remove()
        // The number that the processes give counts at once.
        try await waiting.value
        let second = try held(semaphore, 2)
        #expect(try semaphore.tryAcquire(1) == nil)
        #expect(throws: SpaceError.self) { _ = try namespace.semaphore("s", permits: 4).tryAcquire(1) }
        #expect(try namespace.verify() == [])
        try second.release()
        try first.release()
        #expect(try namespace.verify() == [])
    }

    @Test func whileANumberIsSetThatOfTheProcessesDoesNotCount() throws {
        let semaphore = namespace.semaphore("s", permits: 3)
        try semaphore.setPermits(2)
        let first = try held(semaphore, 1)
        let second = try held(namespace.semaphore("s", permits: 9), 1)
        #expect(try semaphore.tryAcquire(1) == nil)
        #expect(try namespace.verify() == [])
        try first.release()
        try second.release()
    }
}
