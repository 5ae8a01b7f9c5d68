import CommandWords
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@testable import SpaceCommands

/// What the commands do with words that look like options; how words are read in general is tested with `CommandWords`.
@Suite("Words of the commands", .blocking, .timeLimit(.minutes(5)))
struct WordsTests {
    @Test("Each command is found by its name")
    func commandNames() {
        let commands = SpaceCommand.configuration.subcommands
        #expect(commands.count > 50)
        for command in commands {
            let name = command.commandName
            let found = SpaceCommand.command(named: name)
            #expect(found.map { ObjectIdentifier($0) } == ObjectIdentifier(command), "\(name)")
        }
        #expect(SpaceCommand.command(named: "tak") == nil)
    }

    private static let dashed = [
        "-hello", "-h", "--help", "--version", "-hat.png", "-host-7", "-high", "--weit", "-rE3", "-",
    ]

    @Test("A word that begins with a dash is data where data can stand", arguments: dashed)
    func data(_ word: String) throws {
        try withRoot { (runner) throws in
            let json = Value.string(word).json
            #expect(try runner.space("write", "jobs", "--strings", "a", word).ending == .exited(0))
            #expect(try runner.tuples("jobs") == [#"["a",\#(json)]"#])
            #expect(try runner.space("set", "jobs", "k", "-s", word).ending == .exited(0))
            #expect(try runner.space("get", "jobs", "k").lines == [json])
            #expect(try runner.space("set", "jobs", word, "1").ending == .exited(0))
            #expect(try runner.space("get", "jobs", word).lines == ["1"])
            #expect(try runner.space("unset", "jobs", word).lines == ["1"])
            let put = try runner.space("queue", "jobs", "mail", "put", "-s", word, word)
            #expect(put.ending == .exited(0) && put.lines.count == 2, "\(put)")
            let items = try runner.space("queue", "jobs", "mail", "peek").lines
            #expect(items.count == 2 && items.allSatisfy { $0.hasSuffix(#""value":\#(json)}"#) }, "\(items)")
            let held = try runner.space("lock", "jobs", word, "--", "echo", "ran", "-h")
            #expect(held.ending == .exited(0) && held.lines == ["ran -h"], "\(held)")
            #expect(try runner.space("counter", "jobs", word).lines == ["1"])
            let watch = try runner.start("space", ["watch", "jobs", "--post", word, "--max", "1"])
            _ = try watch.readLine()
            #expect(try runner.space("post", "jobs", word, "-s", word).ending == .exited(0))
            #expect(try watch.readLine()?.contains(#""value":\#(json)"#) == true)
        }
    }

    @Test(
        "Where no data can stand, an unknown word that begins with a dash is refused, and nothing is done",
        arguments: [
            ["write", "-h2", "jobs", "[1]"], ["write", "--root=/r", "-h", "jobs", "[1]"],
            ["delete", "jobs", "--help"], ["delete", "jobs", "-h"], ["lock", "jobs", "n", "-h", "--", "touch", "x"],
            ["own", "jobs", "--persistnt"], ["unset", "jobs", "k", "--version"], ["set", "jobs", "k", "2", "-hello"],
            ["list", "-x"], ["list", "--help=1"], ["--json", "list"], ["reap", "--folow"],
        ]
    )
    func refused(_ words: [String]) throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "k", "1")
            let result = try runner.start("space", words).finish()
            #expect(result.ending == .exited(64) && result.output == "", "\(words): \(result)")
            #expect(try runner.space("get", "jobs", "k").lines == ["1"])
            #expect(try runner.space("count", "jobs").lines == ["0"])
        }
    }

    @Test("What may have been meant as an option is named when the command fails")
    func advice() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let mistyped = try runner.space("take", "jobs", "--weit", "[1]")
            #expect(mistyped.ending == .exited(65) && mistyped.errors.contains("'--wait'"), "\(mistyped)")
            let joined = try runner.space("take", "jobs", "[1]", "-E3")
            #expect(joined.ending == .exited(65) && joined.errors.contains("whole name"), "\(joined)")
            let command = try runner.space("tak", "jobs", "[1]")
            #expect(command.ending == .exited(64) && command.errors.contains("did you mean 'take'"), "\(command)")
            #expect(try runner.space("count", "jobs").lines == ["1"])
        }
    }

    @Test("-- ends the options of every command, and every help says so")
    func terminator() throws {
        try withRoot { (runner) throws in
            for command in SpaceCommand.configuration.subcommands.map({ $0.commandName }) {
                #expect(try runner.space(command, "-h").output.contains("\n  --   "), "\(command)")
            }
            #expect(try runner.space("write", "jobs", "--strings", "--", "--durable", "--").ending == .exited(0))
            #expect(try runner.tuples("jobs") == [#"["--durable","--"]"#])
            let put = try runner.space("queue", "jobs", "mail", "put", "-s", "a", "--", "--wait", "-h")
            #expect(put.lines.count == 3, "\(put)")
            #expect(try runner.space("queue", "jobs", "mail", "take", "-h").ending == .exited(64))
        }
    }

    @Test("A word that is not UTF-8 is refused, unless it is one of a command to run")
    func foreign() throws {
        try withRoot { (runner) throws in
            let script = """
                w=$(printf '\\377'); space set jobs k 1
                space write jobs --strings "$w"; echo $?; space write jobs --strings -- "$w"; echo $?
                space queue jobs q put -s -- "$w"; echo $?; space set jobs "$w" 1; echo $?
                space lock jobs n -- printf %s "$w" | od -An -tx1; space get jobs k
                space count jobs
                """
            let result = try runner.shell(script)
            #expect(result.lines == ["65", "65", "65", "65", " ff", "1", "0"], "\(result)")
        }
    }
}

@Suite("Durations")
struct DurationTextTests {
    @Test(
        "Texts that are durations",
        arguments: [
            ("250ms", Duration.milliseconds(250)), ("5s", .seconds(5)), ("2m", .seconds(120)), ("1h", .seconds(3600)),
            ("5", .seconds(5)), ("0", .zero), ("0.5", .milliseconds(500)), ("1.5m", .seconds(90)), ("007", .seconds(7)),
            ("0.000000001", .nanoseconds(1)), ("0.0000000001", .zero), ("1d", .seconds(86_400)),
            ("1h30m", .seconds(5400)), ("2d3h4m5s6ms", .milliseconds(183_845_006)),
            ("1h0.5s", .milliseconds(3_600_500)),
            ("365000d", .seconds(365_000 * 86_400)),
        ]
    )
    func durations(_ word: String, expected: Duration) {
        #expect(DurationText.parse(word) == expected)
    }

    @Test(
        "What is longer than a thousand years counts as a thousand years",
        arguments: ["365001d", "9999999999h", "99999999999999999999", "9223372036854775807d", "365000d1ms"]
    )
    func longest(_ word: String) {
        let expected = Duration.seconds(365_000 * 86_400)
        #expect(DurationText.parse(word) == expected)
    }

    @Test(
        "Texts that are no durations",
        arguments: [
            "", "s", "5 s", "5S", "-5", "+5", "1.", ".5", "1e3", "5sx", "٥", "1h30", "30 1h", "30m1h", "1h1h", "1hm",
            "1h-5m", "1h 5m",
        ]
    )
    func noDurations(_ word: String) {
        #expect(DurationText.parse(word) == nil)
    }
}

@Suite("Sizes on the command line")
struct SizeArgumentTests {
    @Test(
        "A size is a number of bytes with a binary unit",
        arguments: [
            ("16777216", 16_777_216), ("16M", 16_777_216), ("16m", 16_777_216), ("16MiB", 16_777_216),
            ("1GiB", 1_073_741_824), ("512K", 524_288), ("2T", 2_199_023_255_552),
        ] as [(String, Int)]
    )
    func sizes(_ word: String, _ expected: Int) { #expect(SizeArgument(argument: word)?.bytes == expected) }

    @Test(
        "Anything else is no size",
        arguments: ["", "M", "1KB", "1iB", "iB", "1.5M", "-1", "1 M", "1MM", "9223372036854775807K", "\u{661}M"]
    )
    func refused(_ word: String) { #expect(SizeArgument(argument: word) == nil) }
}
