import SpaceTestSupport
import Testing

/// Short runs of the torture, and runs with a fault planted in the workers: an audit that finds nothing must be one that finds what
/// is there.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TortureTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private func torture(_ arguments: String...) throws -> CommandResult {
        let runner = CommandRunner(root: root.path)
        return try runner.start("space-torture", arguments + ["--folder", root.path]).finish()
    }

    @Test(arguments: [
        "kill", "handoff", "history", "stop", "exhaust", "reap", "disk", "recipes", "collections", "responders",
    ])
    func nothingIsLostDoubledOrLate(_ part: String) throws {
        let result = try torture("--part", part, "--seconds", "2")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.lines.count == 1)
        #expect(result.output.hasSuffix("\"good\":true}\n"))
        #expect(root.entries() == [])
    }

    @Test(arguments: [
        ("kill", "lost", "lost"), ("kill", "doubled", "doubled"), ("handoff", "unheard", "lost"),
        ("history", "lost", "notLinearizable"), ("history", "doubled", "notLinearizable"),
        ("history", "stale", "notLinearizable"), ("reap", "vanished", "faults"), ("recipes", "doubled", "overlaps"),
        ("collections", "lost", "unmade"), ("collections", "lost", "lost"), ("collections", "unheard", "differing"),
        ("responders", "doubled", "doubled"), ("responders", "unheard", "late"),
    ])
    func aPlantedFaultIsFound(_ part: String, _ fault: String, _ count: String) throws {
        let result = try torture(
            "--part",
            part,
            "--plant",
            fault,
            "--seconds",
            part == "handoff" ? "20" : "2",
            "--patience",
            "1"
        )
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        #expect(!result.output.contains("\"\(count)\":0,") && !result.output.contains("\"\(count)\":[]"))
    }

    @Test(arguments: [
        "--part", "--part nothing", "--seconds 0", "--seconds many", "--processes 1", "--plant x", "--x y",
    ])
    func whatItDoesNotUnderstandIsUsage(_ arguments: String) throws {
        let runner = CommandRunner(root: root.path)
        let result = try runner.start("space-torture", arguments.split(separator: " ").map(String.init)).finish()
        #expect(result.status == 64)
        #expect(result.output.isEmpty && result.errors.hasPrefix("torture: "))
    }
}
