import SpaceTestSupport
import Testing
import TupleCoding

@testable import SharedSpace

/// What is given back of a rate limit.
@Suite(.timeLimit(.minutes(2)))
struct RateLimitTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let limit: RateLimit

    init() throws {
        root = try TemporaryRoot()
        namespace = try root.space.namespace("n")
        limit = namespace.rateLimit("r", 1, per: .seconds(3600))
    }

    /// The moment up to which all is reserved, in nanoseconds.
    private func end() throws -> Int {
        let state = ObjectState(namespace: namespace, name: "r", kind: .rateLimit)
        guard let value = try state.value("look") else { return 0 }
        return try state.integers(value, count: 4, "look")[2]
    }

    /// Starts a wait, and returns when it has its moment.
    private func wait() async throws -> Task<Bool, any Error> {
        let before = try end()
        let limit = limit
        let task = Task { try await limit.acquire() }
        #expect(try await eventually { try end() != before })
        return task
    }

    private func cancel(_ task: Task<Bool, any Error>) async {
        task.cancel()
        let error = await #expect(throws: SpaceError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    /// A moment in the middle is not given back: what is taken from the end is somebody else's, and would go to two.
    @Test func onlyTheLastMomentIsGivenBack() async throws {
        #expect(try limit.tryAcquire())
        let first = try end()
        let early = try await wait()
        let between = try end()
        let late = try await wait()
        let last = try end()
        await cancel(early)
        #expect(try end() == last)
        await cancel(late)
        #expect(try end() == between)
        // Who comes next has what the last one had.
        let next = try await wait()
        #expect(try end() == last && first < between && between < last)
        await cancel(next)
        #expect(try namespace.verify() == [])
    }
}
