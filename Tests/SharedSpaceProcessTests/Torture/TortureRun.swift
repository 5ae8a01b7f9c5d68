import Glibc
import SpaceTestSupport
import Testing

/// Runs the torture in a root of its own.
struct TortureRun {
    private let root: TemporaryRoot
    private let runner: CommandRunner

    init() throws {
        root = try TemporaryRoot()
        // `hostile` plays other users, whose processes must pass through this folder.
        chmod(root.path, 0o711)
        runner = CommandRunner(root: root.path)
    }

    /// Runs the torture on a thread of its own, because the tests that run tasks need their threads meanwhile.
    private func run(_ arguments: [String], seconds: Int) async throws -> CommandResult {
        let (runner, arguments) = (runner, arguments + ["--seconds", "\(seconds)", "--folder", root.path])
        let patience = max(watchdog, .seconds(seconds + 60))
        return try await onThread { try runner.start("space-torture", arguments).finish(patience: patience) }
    }

    /// Runs a part that must find nothing and leave nothing behind.
    func expectGood(_ part: String, seconds: Int) async throws {
        let result = try await run(["--part", part], seconds: seconds)
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.lines.count == 1)
        #expect(result.output.hasSuffix("\"good\":true}\n"))
        #expect(root.entries() == [])
    }

    /// Runs a part that must find something, with an option that makes it so.
    ///
    /// `part` is the part's name and, if it needs them, more options; `counts` names what must be found, and none of that
    /// may be 0 in the report.
    func expectFault(_ part: String, _ option: String, _ what: String, in counts: String, _ seconds: Int) async throws {
        let words = "--part \(part) \(option) \(what) --patience 1"
        let result = try await run(words.split(separator: " ").map(String.init), seconds: seconds)
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        for count in counts.split(separator: " ") {
            #expect(!result.output.contains("\"\(count)\":0,") && !result.output.contains("\"\(count)\":[]"))
        }
    }

    /// Runs the torture with words that it must refuse as wrong usage.
    func expectUsage(_ arguments: [String]) throws {
        let result = try runner.start("space-torture", arguments).finish()
        #expect(result.status == 64)
        #expect(result.output.isEmpty && result.errors.hasPrefix("torture: "))
    }
}
