import ArgumentParser
import Testing

@testable import SpaceCommands

@Suite("Words of a command line")
struct WordsTests {
    private func arranged(_ words: String...) throws -> [String] { try Words.arranged(words, for: .space) }

    @Test("Each option becomes one word, and data comes after --")
    func order() throws {
        #expect(
            try arranged("take", "jobs", "--root", "/r", "[1]", "--all", "-E", "3")
                == ["take", "--root=/r", "--all", "-E=3", "--", "jobs", "[1]"]
        )
    }

    /// The table of names beside the configuration has each command of it, so no command is unknown.
    @Test("Each command is found by its name")
    func commandNames() {
        let commands = SpaceCommand.configuration.groupedSubcommands.flatMap(\.subcommands)
        #expect(commands.count > 50)
        for command in commands {
            let found = SpaceCommand.command(named: command._commandName)
            #expect(found.map { ObjectIdentifier($0) } == ObjectIdentifier(command), "\(command._commandName)")
        }
        #expect(SpaceCommand.command(named: "tak") == nil)
    }

    @Test("JSON numbers are data", arguments: ["-5", "-0", "-0.5", "-1e9", "-0.5e-3", "-12E+4"])
    func numbers(_ number: String) throws {
        #expect(Words.isNumber(number))
        #expect(try arranged("set", "a", "k", number) == ["set", "--", "a", "k", number])
    }

    @Test(
        "A word that only looks like a JSON number is an option",
        arguments: ["-", "-05", "-.5", "-5.", "-1e", "-5x", "--5", "-r5"]
    )
    func noNumbers(_ word: String) {
        #expect(!Words.isNumber(word))
    }

    @Test("The value of an option may look like one")
    func optionValues() throws {
        #expect(
            try arranged("set", "a", "k", "1", "--if-equals", "-5") == ["set", "--if-equals=-5", "--", "a", "k", "1"]
        )
        #expect(try arranged("read", "a", "--field", "--x", "[]") == ["read", "--field=--x", "--", "a", "[]"])
    }

    @Test(
        "--wait takes the next word if it is a duration",
        arguments: [
            ("250ms", true), ("5", true), ("0", true), ("1.5s", true), ("[1]", false), ("-5", false), ("jobs", false),
        ]
    )
    func wait(_ word: String, isTaken: Bool) throws {
        let expected = isTaken ? ["take", "--wait=\(word)", "--", "a"] : ["take", "--wait", "--", "a", word]
        #expect(try arranged("take", "a", "--wait", word) == expected)
    }

    @Test(
        "A word that begins with a digit and is no duration is refused",
        arguments: ["5x", "1w", "3.", "0x10", "5 s"]
    )
    func noDuration(_ word: String) {
        #expect { try arranged("take", "a", "--wait", word) } throws: { ($0 as? CommandFailure)?.status == .usage }
        #expect { try arranged("take", "a", "--wait=\(word)") } throws: { ($0 as? CommandFailure)?.status == .usage }
    }

    @Test("Bare --wait may be the last word, or come before an option")
    func bareWait() throws {
        #expect(try arranged("take", "a", "[]", "--wait") == ["take", "--wait", "--", "a", "[]"])
        #expect(try arranged("take", "--wait", "--all", "a", "[]") == ["take", "--wait", "--all", "--", "a", "[]"])
        #expect(try arranged("take", "a", "--wait", "--", "5") == ["take", "--wait", "--", "a", "5"])
        #expect { try arranged("take", "a", "--wait=soon") } throws: { ($0 as? CommandFailure)?.status == .usage }
    }

    @Test("--arg has two words, whatever they begin with")
    func pairs() throws {
        #expect(try arranged("write", "a", "--arg", "x", "-r", "[$x]") == ["write", "--arg=x=-r", "--", "a", "[$x]"])
        #expect(
            try arranged("write", "a", "--argjson", "x", "--", "[]") == ["write", "--argjson=x=--", "--", "a", "[]"]
        )
        for words in [["--arg"], ["--arg", "x"], ["--arg=x", "y"], ["--arg", "1x", "y"], ["--arg", "", "y"]] {
            #expect { try Words.arranged(["write", "a"] + words, for: .space) } throws: {
                ($0 as? CommandFailure)?.status == .usage
            }
        }
    }

    @Test("Short options may stand together")
    func shortOptions() throws {
        #expect(try arranged("take", "-rE7", "a", "[]") == ["take", "-r", "-E=7", "--", "a", "[]"])
        #expect(try arranged("take", "-E=7", "a", "[]") == ["take", "-E=7", "--", "a", "[]"])
        #expect(try arranged("take", "a", "[]", "-E") == ["take", "-E", "--", "a", "[]"])
    }

    @Test("After -- everything is data")
    func terminator() throws {
        #expect(try arranged("write", "a", "--", "--all", "--") == ["write", "--", "a", "--all", "--"])
    }

    @Test("own leaves the words of its command unchanged")
    func runner() throws {
        #expect(
            try arranged("own", "a", "--root", "/r", "--", "cmd", "--wait", "5x", "-5")
                == ["own", "--root=/r", "--", "a", "cmd", "--wait", "5x", "-5"]
        )
        #expect { try arranged("own", "a", "cmd") } throws: { ($0 as? CommandFailure)?.status == .usage }
        #expect { try arranged("own", "--", "cmd") } throws: { ($0 as? CommandFailure)?.status == .usage }
    }

    @Test("watch leaves the words of its command unchanged, and says where they begin")
    func watch() throws {
        #expect(try arranged("watch", "a", "[]", "--max", "1") == ["watch", "--max=1", "--", "a", "[]"])
        #expect(
            try arranged("watch", "a", "--", "cmd", "--wait", "5x")
                == ["watch", "--command-words=3", "--", "a", "cmd", "--wait", "5x"]
        )
        for words in [["a", "b", "c"], ["a", "--"], ["--", "cmd"]] {
            #expect { try Words.arranged(["watch"] + words, for: .space) } throws: {
                ($0 as? CommandFailure)?.status == .usage
            }
        }
    }

    @Test(
        "The parser's own requests pass unchanged",
        arguments: [["--help"], ["help", "get"], ["---completion", "get", "5x"]]
    )
    func requests(_ words: [String]) throws {
        #expect(try Words.arranged(words, for: .space) == words)
    }

    @Test("The inspector has no subcommand")
    func dump() throws {
        #expect(
            try Words.arranged(["jobs", "--format", "json", "--check"], for: .dump)
                == ["--format=json", "--check", "--", "jobs"]
        )
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
        "Texts that are no durations",
        arguments: [
            "", "s", "5 s", "5S", "-5", "+5", "1.", ".5", "1e3", "5sx", "٥", "99999999999999999999",
            "9999999999h", "9223372036854775807d", "365001d", "1h30", "30 1h", "30m1h", "1h1h", "1hm", "1h-5m", "1h 5m",
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
