import Glibc
import SharedSpace
import SpaceTesting
import Testing

/// The standby's comparison of `LoggedCommitTests`, for longer.
///
/// `SHARED_SPACE_OPERATIONS` says how many operations; a million take about 20 minutes in a release build, and
/// 3 GiB of memory for the log and the namespaces.
@Suite(.spaceTest, .slow, .serialized, .timeLimit(.minutes(120)))
struct SlowStandbyTests {
    @Test func manyOperationsLeaveTheSameTables() throws {
        let operations = getenv("SHARED_SPACE_OPERATIONS").flatMap { Int(String(cString: $0)) } ?? 5000
        let round = 5000
        let rounds = max(1, operations / round)
        let seed = UInt64.random(in: 0...(.max))
        let began = ContinuousClock.now
        let commits = try LoggedPair().compare(rounds: rounds, of: round, .fast, seed: seed)
        #expect(commits > UInt64(rounds * round) / 4)
        print("\(rounds * round) operations, \(commits) commits, seed \(seed): \(ContinuousClock.now - began)")
    }
}
