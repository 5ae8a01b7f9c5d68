import SpaceTestSupport
import SpaceTesting
import Testing

/// The fuzzers' inputs, without a fuzzer: all that `tools/fuzz` once found interesting, and random changes of it.
@Suite(.blocking)
struct FuzzReplayTests {
    private static let corpus = Repository.folder + "/Tests/Fuzzing/corpus"

    /// The number of changed inputs is as large as two seconds allow.
    @Test(
        arguments: [
            ("tuple", 4000), ("json", 4000), ("template", 2000), ("codable", 4000), ("rows", 60), ("control", 60),
            ("backup", 1000), ("entry", 60), ("messages", 4000), ("commands", 100), ("agents", 4000),
        ]
    )
    func everyInputEndsWithAResultOrAnError(_ target: String, _ changed: Int) throws {
        let root = try TemporaryRoot()
        let program = try CommandRunner(root: root.path).start(
            "space-fuzz-replay",
            [target, "\(Self.corpus)/\(target)", "\(changed)"],
            environment: ["FUZZ_FOLDER": root.path]
        )
        let result = try program.finish()
        #expect(result.ending == .exited(0), "\(result.lines.last ?? "no input"): \(result.errors)")
        #expect(result.lines.count > changed)
    }
}
