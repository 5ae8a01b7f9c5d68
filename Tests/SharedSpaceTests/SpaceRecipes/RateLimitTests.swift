import SeededRandom
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// The moments that a rate limit reserves, and those that it takes back.
@Suite(.spaceTest, .timeLimit(.minutes(2)))
struct RateLimitTests {
    let namespace: Namespace
    let limit: RateLimit

    init() throws {
        namespace = try SpaceTest.namespace("n")
        limit = namespace.rateLimit("r", limit: 1, per: .seconds(3600))
    }

    /// The moment up to which the limit is reserved, in nanoseconds.
    private func end() throws -> Int {
        let state = ObjectState(namespace: namespace, name: "r", kind: .rateLimit)
        guard let value = try state.look("look", { $0 }) else { return 0 }
        return try #require(RateMoments(value, .max)).last
    }

    /// Starts a wait, and returns when the wait has its moment.
    private func wait() async throws -> Task<Void, any Error> {
        let before = try end()
        let limit = limit
        let task = Task { try await limit.acquire() }
        #expect(try await eventually { try end() != before })
        return task
    }

    private func cancel(_ task: Task<Void, any Error>) async {
        task.cancel()
        let error = await #expect(throws: SpaceError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    /// A wait of an hour ends soon after its namespace was left or deleted.
    @Test(arguments: [true, false])
    func aWaitEndsWithItsNamespace(isDeleted: Bool) async throws {
        #expect(try limit.tryAcquire())
        let task = try await wait()
        if isDeleted { try SpaceTest.root().space.delete("n") } else { try namespace.leave() }
        let error = await #expect(throws: SpaceError.self) { try await task.value }
        #expect(error?.code == (isDeleted ? .namespaceDeleted : .closed))
    }

    /// A cancelled wait gives back only the last moment: moving the end back for a moment in the middle would give out
    /// another waiter's moment twice.
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
        // The next waiter gets the moment that the last one had.
        let next = try await wait()
        #expect(try end() == last && first < between && between < last)
        await cancel(next)
    }

    /// No interval holds more than the limit, wherever it begins and however the requests come; a free permit is given
    /// out at once.
    @Test(arguments: [1, 2, 3, 10, 100], 0..<20 as Range<UInt64>)
    func noIntervalHoldsMoreThanTheLimit(_ limit: Int, _ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let (tick, interval) = (RateMoments.tick, 50 * RateMoments.tick)
        var moments = RateMoments(limit: limit, interval: interval)
        var passed: [(time: Int, count: Int)] = []
        var now = 1000 * tick
        for _ in 0..<600 {
            now +=
                tick * (Int.random(in: 0..<8, using: &generator) == 0 ? Int.random(in: 0..<120, using: &generator) : 0)
            let count = Int.random(in: 1...limit, using: &generator)
            let mayPass = passed.reduce(0) { $0 + ($1.time > now - interval - tick ? $1.count : 0) } + count <= limit
            let delay = moments.reserve(count, now: now)
            // A request passes right at its moment; one that passes at once does so somewhere within the tick.
            passed.append((now + delay + (delay == 0 ? Int.random(in: 0..<tick, using: &generator) : 0), count))
            if mayPass, limit <= RateMoments.most, passed.dropLast().allSatisfy({ $0.time <= now + tick }) {
                #expect(delay == 0)
            }
            // The written value reads back equal.
            #expect(RateMoments(moments.value(now), now) == moments)
        }
        let ordered = passed.sorted { $0.time < $1.time }
        var (first, sum) = (0, 0)
        for one in ordered {
            sum += one.count
            while ordered[first].time <= one.time - interval {
                sum -= ordered[first].count
                first += 1
            }
            #expect(sum <= limit)
        }
        // Not much less passes either: if all requests come at once, the limit passes in each interval.
        var crowd = RateMoments(limit: limit, interval: interval)
        var last = 0
        for _ in 0..<10 * limit { last = crowd.reserve(1, now: now) }
        #expect(last <= 10 * interval)
    }

    /// A limit whose free moments lie decades ahead lets nobody through, also without a time-out.
    @Test func whatLiesDecadesAheadIsRefused() async throws {
        let slow = namespace.rateLimit("slow", limit: 1, per: .seconds(366 * 86_400))
        let error = await #expect(throws: SpaceError.self) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<200 { group.addTask { try await slow.acquire() } }
                // The first of them has its moment at once.
                for try await _ in group {}
            }
        }
        #expect(error?.code == .limitReached)
    }
}
