import SharedSpace
import SpaceTestSupport
import Testing
import TupleCoding

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// A rate limit's row comes from the disk, so it may hold any value.
@Suite(.timeLimit(.minutes(5)))
struct RateLimitDamageTests {
    @Test(arguments: [
        [2, 10_000_000_000], [2, 10_000_000_000, 0, 1], [2, 10_000_000_000, 0, 1, 0], [2, 10_000_000_000, 0, 1, 3],
        [2, 10_000_000_000, 0, 1, 2, 2, 1], [2, 10_000_000_000, 0, 5, 1, 4, 1], [2, 10_000_000_000, 0, 5, Int.min],
        [0, 10_000_000_000, 0], [2, 0, 0], [2, Int.max, 0], [Int.min, 10_000_000_000, 0],
    ])
    func whatNoRateLimitCanBeIsDamage(_ numbers: [Int]) throws {
        #expect(RateMoments(.array(numbers.map { .int($0) }), 0) == nil)
    }

    @Test(arguments: [(Int.max, 0), (Int.min, 0), (0, Int.max), (0, Int.min), (1 << 62, 0)])
    func numbersBeyondAllTimesAreDamage(_ next: Int, _ seen: Int) throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n")
        let limit = namespace.rateLimit("r", limit: 2, per: .seconds(10))
        #expect(try limit.tryAcquire())
        try ObjectState(namespace: namespace, name: "r", kind: .rateLimit).change("damage it") {
            (value, _) throws(SpaceError) in
            value = .array([2, 10_000_000_000, .int(seen), .int(next), 2])
        }
        do throws(SpaceError) {
            // This is a valid time far in the future, so no permit is free.
            #expect(try !limit.tryAcquire() && next == 1 << 62)
        } catch {
            #expect(error.code == .damaged)
        }
        #expect(try namespace.verify() == [])
    }
}
