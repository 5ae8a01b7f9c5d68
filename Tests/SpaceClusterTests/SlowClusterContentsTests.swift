import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// The comparison of `ClusterContentsTests`, for longer.
///
/// `SHARED_SPACE_OPERATIONS` says how many operations all machines take together.
@Suite(.spaceTest, .slow, .serialized, .timeLimit(.minutes(150)))
struct SlowClusterContentsTests {
    @Test func manyOperationsLeaveTheSameTables() async throws {
        let operations = getenv("SHARED_SPACE_OPERATIONS").flatMap { Int(String(cString: $0)) } ?? 3000
        let steps = 1000
        let machines = 3
        let rounds = max(1, (operations + machines * steps - 1) / (machines * steps))
        let seed = UInt64.random(in: 0...(.max))
        let began = ContinuousClock.now
        let cluster = try TestCluster(machines: machines)
        try await cluster.compareTables(rounds: rounds, of: steps, seed: seed)
        let took = ContinuousClock.now - began
        print("\(rounds * machines * steps) operations of \(machines) machines, seed \(seed): \(took)")
    }
}
