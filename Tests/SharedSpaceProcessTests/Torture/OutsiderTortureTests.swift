import SpaceTesting
import Testing

/// Short runs of the parts that attack as an outsider would; apart from `TortureTests`, so that they run beside the others.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct OutsiderTortureTests {
    @Test(arguments: ["churn", "hostile", "words", "surroundings", "damage"])
    func nothingIsLostDoubledOrLate(_ part: String) async throws {
        try await TortureRun().expectGood(part, seconds: 1)
    }
}
