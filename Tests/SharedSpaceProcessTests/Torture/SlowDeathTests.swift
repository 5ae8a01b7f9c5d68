import SpaceTesting
import Testing

/// Longer runs of the parts with deaths and shortages: the seconds of `TortureTests` are enough for a few of them, these
/// for most.
@Suite(.blocking, .slow, .serialized, .timeLimit(.minutes(5)))
struct SlowDeathTests {
    @Test(arguments: [
        "kill", "near", "handoff", "history", "stop", "exhaust", "reap", "disk", "recipes", "collections", "responders",
        "objects",
    ])
    func nothingIsLostByDeathsAndShortages(_ part: String) async throws {
        try await TortureRun().expectGood(part, seconds: 10)
    }
}
