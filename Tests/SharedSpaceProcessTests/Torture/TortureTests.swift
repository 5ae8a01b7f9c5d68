import SpaceTesting
import Testing

/// Short runs of the torture, and runs with a fault planted in the workers; `SlowTortureTests` and `SlowDeathTests` run
/// it for longer.
///
/// An audit that finds nothing must be one that finds a fault if there is one.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct TortureTests {
    private let torture: TortureRun

    init() throws { torture = try TortureRun() }

    @Test(arguments: [
        "kill", "near", "handoff", "history", "stop", "exhaust", "reap", "disk", "recipes", "collections", "responders",
        "objects", "terminal",
    ])
    func nothingIsLostDoubledOrLate(_ part: String) async throws {
        try await torture.expectGood(part, seconds: 1)
    }

    /// Parts that have a fault to find end when they have found it; `kill` looks when enough workers were killed.
    ///
    /// Of `reap`, the scene is played that notices a namespace that is gone.
    @Test(arguments: [
        ("kill", "lost", "lost", 60), ("near", "lost", "lost", 2), ("near", "doubled", "doubled", 2),
        ("kill", "doubled", "doubled", 60), ("handoff", "unheard", "lost", 90),
        ("history", "lost", "notLinearizable", 30), ("history", "doubled", "notLinearizable", 30),
        ("history", "stale", "notLinearizable", 30), ("reap --scene enrolled", "vanished", "faults", 30),
        ("recipes", "doubled", "overlaps", 30), ("collections", "lost", "unmade lost", 30),
        ("collections", "unheard", "differing", 30), ("responders", "doubled", "doubled", 30),
        ("responders", "unheard", "late", 30), ("objects", "lost", "found", 30), ("churn", "lost", "lost", 30),
        ("surroundings", "lost", "faults", 2), ("terminal", "doubled", "faults", 2),
    ])
    func aPlantedFaultIsFound(_ part: String, _ fault: String, _ counts: String, _ seconds: Int) async throws {
        try await torture.expectFault(part, "--plant", fault, in: counts, seconds)
    }

    @Test(arguments: [
        "--part", "--part nothing", "--seconds 0", "--seconds many", "--processes 1", "--plant x", "--leave-out x",
        "--x y", "--part cluster",
    ])
    func whatItDoesNotUnderstandIsUsage(_ arguments: String) throws {
        try torture.expectUsage(arguments.split(separator: " ").map(String.init))
    }
}
