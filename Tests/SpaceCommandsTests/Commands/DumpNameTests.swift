import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("space dump is space-dump", .blocking, .timeLimit(.minutes(5)))
struct DumpNameTests {
    /// Runs the inspector by both of its names.
    private func both(_ runner: CommandRunner, _ words: [String]) throws -> (CommandResult, CommandResult) {
        (try runner.start("space", ["dump"] + words).finish(), try runner.start("space-dump", words).finish())
    }

    @Test(
        "Both names print the same bytes, with the same status",
        arguments: [
            ["n"], ["n", "--format", "json"], ["--format=json", "--all"], ["--all"], ["--check", "n"],
            ["--salvage", "n"], ["--check", "--all", "--quiet"], ["missing"], ["--salvage", "missing"],
        ]
    )
    func sameBytes(_ words: [String]) throws {
        try withRoot { (runner) throws in
            // The only owner is this process, whose command's line the two of them print.
            try runner.shell(
                """
                space set n --persistent a 1
                space write n '[1, "x"]' '{"b": 2}'
                space queue n q put 7
                space write m --persistent '["other"]'
                """
            )
            let (dump, link) = try both(runner, words)
            #expect(Self.withoutAges(dump) == Self.withoutAges(link) && dump.ending == link.ending, "\(dump)\n\(link)")
            #expect(link.errors.isEmpty == dump.errors.isEmpty)
            let isThere = !words.contains("missing")
            #expect((dump.ending == .exited(0)) == isThere)
            #expect(dump.output.isEmpty == (!isThere || words.contains("--check")))
            try runner.shell("space delete n; space delete m")
        }
    }

    /// What was printed, but for how long ago things were: a second may begin between two commands.
    private static func withoutAges(_ result: CommandResult) -> [[String]] {
        result.output.replacing(#/just now|[0-9]+[smh] ago/#, with: "AGE").split(separator: "\n").map { line in
            line.split(separator: " ").map(String.init)
        }
    }

    @Test("A message begins with the name that was called")
    func messages() throws {
        try withRoot { (runner) throws in
            let (dump, link) = try both(runner, ["missing"])
            #expect(dump.ending == .exited(69) && dump.errors.hasPrefix("space: "), "\(dump)")
            #expect(link.ending == .exited(69) && link.errors.hasPrefix("space-dump: "), "\(link)")
            #expect(dump.errors.dropFirst("space".utf8.count) == link.errors.dropFirst("space-dump".utf8.count))
            let (wrong, wrongLink) = try both(runner, ["--format", "xml", "n"])
            #expect(wrong.ending == .exited(64) && wrong.errors.contains("See 'space dump --help'"), "\(wrong)")
            #expect(wrongLink.ending == .exited(64), "\(wrongLink)")
            #expect(wrongLink.errors.contains("See 'space-dump --help'"), "\(wrongLink)")
        }
    }

    /// What counts is the last part of argv[0], wherever the file lies.
    @Test("A link or a copy by that name dumps; by another name it is space")
    func names() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "n", "--persistent", "a", "1")
            let expected = try runner.space("dump", "n", "--format", "json").output
            #expect(expected.contains(#""kind":"cell""#))
            let result = try runner.shell(
                """
                mkdir "$SHARED_SPACE_ROOT/.names" && cd "$SHARED_SPACE_ROOT/.names"
                ln -s "$(command -v space)" space-dump && ln -s "$(command -v space)" other
                ./space-dump n --format json && ./other dump n --format json
                bash -c 'exec -a /nowhere/space-dump space n --format json' && ./other get n a --owner none
                """
            )
            #expect(result.ending == .exited(0) && result.output == expected + expected + expected + "1\n", "\(result)")
            try runner.shell("rm -r \"$SHARED_SPACE_ROOT/.names\"; space delete n")
        }
    }

    @Test("The help of both shows both forms, and the statuses that a dump has")
    func help() throws {
        try withRoot { (runner) throws in
            let (dump, link) = try both(runner, ["--help"])
            #expect(dump.output == link.output && dump.ending == .exited(0) && link.ending == .exited(0))
            #expect(dump.output.contains("USAGE: space dump [<options>] (<ns|path> | --all)"))
            #expect(dump.output.contains("       space-dump [<options>] (<ns|path> | --all)"))
            #expect(dump.output.contains("damage was found (--check)"))
            #expect(try runner.space("help", "dump").output == dump.output)
        }
    }

    @Test("Lines that are being typed are completed alike", arguments: ["--sa", "--format ", ""])
    func completion(_ line: String) throws {
        try withRoot { (runner) throws in
            try runner.space("set", "n", "--persistent", "a", "1")
            let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
            let dump = try runner.start("space", ["---complete", "bash", "dump"] + words).finish()
            let link = try runner.start("space-dump", ["---complete", "bash"] + words).finish()
            #expect(dump.output == link.output && dump.lines.count > 1, "\(dump) \(link)")
            try runner.space("delete", "n")
        }
    }
}
