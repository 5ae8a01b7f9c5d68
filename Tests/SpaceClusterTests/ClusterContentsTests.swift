import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The tables of several machines that all write.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct ClusterContentsTests {
    /// Random operations of all kinds on three machines at once leave the same tables on each, byte for byte.
    @Test func theTablesAreTheSameByteForByte() async throws {
        try await TestCluster(machines: 3).compareTables(rounds: 3, of: 200, seed: .random(in: 0...(.max)))
    }
}
