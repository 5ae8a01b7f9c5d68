import SpaceTesting
import Testing

/// Longer runs of every part: the seconds of `TortureTests` and `OutsiderTortureTests` are enough for a few of their scenes
/// and deaths, these for most.
@Suite(.blocking, .slow, .serialized, .timeLimit(.minutes(5)))
struct SlowTortureTests {
    @Test(arguments: ["churn", "hostile", "surroundings", "damage"])
    func nothingIsLostDoubledOrLate(_ part: String) async throws {
        try await TortureRun().expectGood(part, seconds: 20)
    }

    @Test(arguments: [
        "kill", "near", "handoff", "history", "stop", "exhaust", "reap", "disk", "recipes", "collections", "responders",
        "objects",
    ])
    func nothingIsLostByDeathsAndShortages(_ part: String) async throws {
        try await TortureRun().expectGood(part, seconds: 10)
    }
}
