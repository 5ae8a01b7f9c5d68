import SpaceTesting
import Testing

/// Longer runs of the parts that attack as an outsider would: the two seconds of `OutsiderTortureTests` are enough for a few
/// of their scenes, these seconds for most.
@Suite(.slow, .serialized, .timeLimit(.minutes(5)))
struct SlowTortureTests {
    @Test(arguments: ["churn", "hostile", "surroundings", "damage"])
    func nothingIsLostDoubledOrLate(_ part: String) async throws {
        try await TortureRun().expectGood(part, seconds: 20)
    }
}
