import SpaceTesting
import Testing

/// Longer runs of the parts with changing surroundings: the seconds of `OutsiderTortureTests` are enough for a few of
/// their scenes, these for most.
@Suite(.blocking, .slow, .serialized, .timeLimit(.minutes(5)))
struct SlowTortureTests {
    @Test(arguments: ["churn", "hostile", "words", "surroundings", "damage"])
    func nothingIsLostDoubledOrLate(_ part: String) async throws {
        try await TortureRun().expectGood(part, seconds: 20)
    }
}
