import Glibc
import SharedSpace
import SpaceTestSupport

/// Every command gets every nasty word in every place: words that look like options, requests for help or numbers, empty
/// and long ones, with control characters, and bytes that are no text.
///
/// A command ends by itself and not by a signal, and says in a sentence what it refuses. Status 0 means that the deed is
/// done: what was written is there word for word, and the command that was to run has run. Any other status means that
/// nothing was changed. No word but the first behind a command is a request for help.
struct WordsPart {
    let options: Options

    func run() -> Report {
        Rounds(part: .words, options: options).report([
            .init("data", data), .init("everywhere", everywhere), .init("runners", runners), .init("foreign", foreign),
            .init("lines", lines),
        ])
    }

    // MARK: Words

    private static let dashed = [
        "-", "-h", "-hello", "--help", "--version", "-hat.png", "-host-7", "-5", "-0", "-5x", "-rE3", "-rs", "-E3",
        "---", "---complete", "--x=y", "--weit", "-\u{301}", "-é",
    ]
    private static let others = [
        "", " ", "=", "@", "$x", "?", "??", "?int", "null", "[1]", "{", "\"", "'", "\\", "a\nb", "\t", "\r", "5x",
        "1e999",
        "9223372036854775808", "-9223372036854775809", "\u{1B}[31m", "\u{202E}abc", "\u{2066}", "\u{7F}", "\u{9B}31m",
        "e\u{301}", "\u{301}x", "🦊", "\u{FEFF}x", "a/b", "..", "../x", ".", "%s%n", "`touch x`", "$(touch x)", "*",
        "help", "none", "64M", "0", "-1",
    ]

    /// A word of the lists, one that is pieced together, or one that is almost as long as the kernel lets it be.
    private func word(_ round: Round) -> String {
        switch round.random(0..<8) {
        case 0: (0..<round.random(2..<6)).map { _ in round.one(of: Self.dashed + Self.others) }.joined()
        case 1:
            // execve(2), MAX_ARG_STRLEN: 128 KiB.
            String(repeating: round.one(of: ["-", "-h", "x", "é"]), count: round.one(of: [64, 256, 4096, 60_000]))
        case 2...4: round.one(of: Self.dashed)
        default: round.one(of: Self.others)
        }
    }

    // MARK: Calls

    /// The commands of a round, and who owns what they create.
    private struct Stage {
        let round: Round
        let runner: CommandRunner
        private let variables: [String: String]

        init(_ round: Round) throws {
            self.round = round
            runner = CommandRunner(root: round.root.path)
            // A process that lives until the round ends, and takes the namespaces with it.
            variables = ["SHARED_SPACE_OWNER": "\(try round.newcomer().pid)"]
        }

        /// Runs a command, and checks that it ended as it should; true if it says that its deed is done.
        func run(_ words: [String], input: String = "") throws -> (isDone: Bool, output: String) {
            try judge(words, try runner.start("space", words, environment: variables).finish(input: input))
        }

        /// Runs a command in which `@@` stands for bytes that are no text.
        func runForeign(_ words: [String]) throws -> (isDone: Bool, output: String) {
            let script = """
                bytes=$(printf '\\377-\\376'); for word; do
                [ "$word" != @@ ] || word=$bytes; shift; set -- "$@" "$word"; done; exec space "$@"
                """
            let result = try runner.start("/bin/sh", ["-c", script, "sh"] + words, environment: variables).finish()
            return try judge(words, result)
        }

        private func judge(_ words: [String], _ result: CommandResult) throws -> (isDone: Bool, output: String) {
            let line = words.map { $0.count > 60 ? "\($0.prefix(60))… (\($0.utf8.count) bytes)" : $0 }
            let said = result.errors.suffix(400)
            if case .exited(let status) = result.ending {
                let isRefusal = (64...77).contains(status) && status != 70 && result.errors.hasPrefix("space: ")
                round.check(
                    [0, 1].contains(status) || isRefusal || status == 3 && words.contains { $0.contains("E3") },
                    "\(line) ended with status \(status): \(said)"
                )
            } else {
                round.fault("\(line) ended with \(result.ending): \(said)")
            }
            for sign in ["Fatal error", "Stack dump", "Thread 0", "Backtrace"] where result.errors.contains(sign) {
                round.fault("\(line) crashed: \(said)")
            }
            // The first word of all, or the first behind the command.
            let isHelp = words.prefix(2).contains { ["-h", "--help", "--version"].contains($0) }
            round.check(
                isHelp || words[0] == "help" || !result.output.contains("\nUSAGE: "),
                "\(line) printed its help"
            )
            return (result.ending == .exited(0), result.output)
        }

        /// Runs a command that must be done.
        func expectDone(_ words: [String]) throws {
            if try !run(words).isDone { throw TestFailure("\(words) was not done") }
        }

        /// All that the root holds, but for the processes that use it.
        func contents() throws -> String {
            let result = try runner.start("space-dump", ["--all", "--format", "json"]).finish()
            guard result.ending == .exited(0) else { throw TestFailure("space-dump: \(result.errors)") }
            let kinds = ["\"kind\":\"owner\"", "\"kind\":\"watcher\"", "\"kind\":\"waiter\"", "\"kind\":\"change\""]
            let lines = result.lines.filter { line in !kinds.contains(where: line.contains) }
            // Of a namespace its name and its life: a watcher takes up pages, and the limit goes by the machine's memory.
            return lines.map { String($0.prefix(upTo: $0.firstRange(of: ",\"sequence\":")?.lowerBound ?? $0.endIndex)) }
                .joined(separator: "\n")
        }
    }

    /// A command that does something with a word, and the one that shows it: what that prints if the deed is done.
    private struct Deed {
        let words: [String]
        let proof: [String]
        let expected: String
    }

    // MARK: Data

    /// Words in the places of data, as they stand and behind `--`.
    private func data(_ round: Round) throws {
        let stage = try Stage(round)
        try stage.expectDone(["write", "n", "[\"kept\"]"])
        for number in 0..<2 {
            let word = word(round)
            let json = Value.string(word).json
            // Behind `--` a word is data whatever it is; in front of it, `--` and a known option are not.
            let ends = word == "--" || round.coin() ? ["--"] : []
            let deeds = [
                Deed(
                    words: ["write", "n", "--strings"] + ends + ["w\(number)", word],
                    proof: ["read", "n", "[\"w\(number)\",\"?\"]"],
                    expected: "[\"w\(number)\",\(json)]\n"
                ),
                Deed(
                    words: ["set", "n", "-s"] + ends + ["k\(number)", word],
                    proof: ["get", "n", "k\(number)"],
                    expected: "\(json)\n"
                ),
                Deed(
                    words: ["set", "n"] + ends + [word, "\(number)"],
                    proof: ["get", "n", "--", word],
                    expected: "\(number)\n"
                ),
                Deed(
                    words: ["write", "n", "--arg", "x", word, "[\"a\(number)\",$x]"],
                    proof: ["read", "n", "[\"a\(number)\",\"?\"]"],
                    expected: "[\"a\(number)\",\(json)]\n"
                ),
                Deed(
                    words: ["queue", "n", "q\(number)", "put", "-s"] + ends + [word],
                    proof: ["queue", "n", "q\(number)", "take", "--", "cat"],
                    expected: "\(json)\n"
                ),
                Deed(
                    words: ["items", "n", "s\(number)", "append"] + ends + [json],
                    proof: ["items", "n", "s\(number)"],
                    expected: "\(json)\n"
                ),
            ]
            for deed in deeds {
                // The planted fault says that it was done, and nothing was.
                let isDone = try options.plant == .lost || stage.run(deed.words).isDone
                let proof = try stage.run(deed.proof).output
                round.check(
                    (proof == deed.expected) == isDone,
                    "\(deed.words) \(isDone ? "was done" : "failed"), and \(deed.proof) printed \(proof)"
                )
            }
        }
    }

    // MARK: Everywhere

    private static let commands = [
        ["write", "n", "[1]"], ["write", "n", "--strings", "a", "b"], ["read", "n", "[\"kept\"]"],
        ["take", "n", "[\"none\"]", "--wait=0.05"], ["count", "n", "[\"?\"]"], ["set", "n", "k", "1"],
        ["set", "n", "k", "-s", "v", "--expires", "1h"], ["get", "n", "k"], ["unset", "n", "none"],
        ["incr", "n", "c", "1"],
        ["expire", "n", "k", "1h"], ["ttl", "n", "k"], ["items", "n", "s", "append", "1"],
        ["items", "n", "s", "at", "0"],
        ["claim", "n", "[\"none\"]", "--hold"], ["complete", "n", "1"], ["release", "n", "1"],
        ["extend", "n", "1", "5s"],
        ["claims", "n"], ["bury", "n", "[\"none\"]"], ["kick", "n", "[\"none\"]"], ["move", "n", "[\"none\"]", "[2]"],
        ["txn", "n"], ["latch", "n", "l", "--count", "1", "--down"], ["counter", "n", "number", "1"],
        ["queue", "n", "q", "put", "1"], ["queue", "n", "q", "peek"], ["queue", "n", "q", "count"],
        ["queue", "n", "q", "drain"], ["respond", "n", "f", "--list"], ["request", "n", "f", "1", "--wait=0.05"],
        ["watch", "n", "--wait=0.05", "--max", "1"], ["unsubscribe", "n", "none"], ["post", "n", "news", "1"],
        ["history", "n"], ["list"], ["list", "--long"], ["show", "n"], ["show", "n", "--json"],
        ["top", "n", "--max=1"],
        ["stats", "n"], ["metrics", "n"], ["own", "n"], ["wait", "n", "0.05"], ["reap"], ["load", "n"],
        ["machines"], ["elect", "n", "e"],
    ]

    /// The beginnings of those that add something each time.
    private static let adding = [
        ["write", "n"], ["incr", "n", "c"], ["counter", "n", "number"], ["queue", "n", "q", "put"],
    ]

    /// A word in front of, behind or in place of any word of a command's line.
    private func everywhere(_ round: Round) throws {
        let stage = try Stage(round)
        try stage.expectDone(["write", "n", "[\"kept\"]"])
        try stage.expectDone(["set", "n", "k", "0"])
        var before = try stage.contents()
        for _ in 0..<8 {
            let line = round.one(of: Self.commands)
            let word = word(round)
            let place = round.random(0..<line.count + 1)
            var words = line
            // Without its limit a command may rightly wait for ever; that of `wait` becomes the namespace if an option is in
            // the namespace's place.
            let keepsLimit = place < line.count && line[place].hasPrefix("--") || line[0] == "wait"
            if place < line.count, !keepsLimit, round.coin() {
                words[place] = word
            } else {
                words.insert(word, at: place)
            }
            let isDone = try stage.run(words).isDone
            let after = try stage.contents()
            let hasChanged = after != before
            before = after
            let told = "\(words.map { $0.prefix(60) })"
            if !isDone { round.check(!hasChanged, "\(told) failed, and changed something") }
            // Standard input is empty, and nothing is added to a number by 0.
            if isDone, !["-", "0", "-0"].contains(word), Self.adding.contains(where: words.starts) {
                round.check(hasChanged, "\(told) says that it was done, and nothing has changed")
            }
        }
    }

    // MARK: Runners

    private static let running = [
        ["lock", "n", "l"], ["semaphore", "n", "m", "--permits", "1"], ["elect", "n", "e"],
        ["barrier", "n", "b", "--parties", "1"], ["latch", "n", "o", "--count", "0"],
        ["rate", "n", "r", "--limit", "100", "--per", "1s"], ["own", "n"], ["claim", "n", "[\"job\",\"?\"]"],
        ["queue", "n", "q", "take"],
    ]

    /// A word in a line that runs another command: status 0 means that it has run, with its words as they are.
    private func runners(_ round: Round) throws {
        let stage = try Stage(round)
        try stage.expectDone(["write", "n", "[\"job\",1]", "[\"job\",2]"])
        try stage.expectDone(["queue", "n", "q", "put", "1", "2"])
        for _ in 0..<6 {
            let line = round.one(of: Self.running)
            var words = line
            if round.coin() {
                let place = round.random(1..<line.count + 1)
                let word = word(round)
                let isOption = place < line.count && line[place].hasPrefix("--")
                if place < line.count, !isOption, round.coin() {
                    words[place] = word
                } else {
                    words.insert(word, at: place)
                }
            }
            let told = word(round)
            let result = try stage.run(words + ["--", "printf", "%s.", told, "-h", "--"])
            // A first word that asks for help gets it, and runs nothing.
            if ["-h", "--help", "--version"].contains(words[1]) { continue }
            round.check(
                result.output == (result.isDone ? "\(told).-h.--." : ""),
                "\(words.map { $0.prefix(60) }) \(result.isDone ? "was done" : "failed") and printed \(result.output)"
            )
        }
    }

    // MARK: Bytes that are no text

    private func foreign(_ round: Round) throws {
        let stage = try Stage(round)
        try stage.expectDone(["write", "n", "[\"kept\"]"])
        let before = try stage.contents()
        for _ in 0..<6 {
            var words = round.one(of: Self.commands + Self.running)
            let place = round.random(0..<words.count + 1)
            if place < words.count, round.coin() { words[place] = "@@" } else { words.insert("@@", at: place) }
            round.check(try !stage.runForeign(words).isDone, "\(words) took bytes that are no text")
        }
        round.check(try stage.contents() == before, "a refused command changed something")
        let told = try stage.runForeign(["lock", "n", "l", "--", "sh", "-c", "printf %s \"$1\" | wc -c", "sh", "@@"])
        round.check(told.isDone && told.output.contains("3"), "a command got other bytes: \(told.output)")
    }

    // MARK: Standard input

    /// Strings on standard input: as long as no word of a command line can be, and with characters that none can have.
    private func lines(_ round: Round) throws {
        let stage = try Stage(round)
        try stage.expectDone(["write", "n", "--limit", "256M", "[\"kept\"]"])
        var texts = (0..<4).map { _ in word(round) } + ["\u{0}", "a\u{0}b\u{1F}"]
        if round.random(0..<4) == 0 {
            texts.append(String(repeating: round.one(of: ["-", "h", "é"]), count: 16 << 20))
        }
        for (number, text) in texts.enumerated() {
            let json = Value.string(text).json
            let input = "[\"l\(number)\",\(json)]\n"
            if try !stage.run(["write", "n", "-"], input: input).isDone {
                round.check(
                    try stage.run(["count", "n", "[\"l\(number)\",\"?\"]"]).output == "0\n",
                    "a refused line is there"
                )
                continue
            }
            let told = try stage.run(["take", "n", "[\"l\(number)\",\"?\"]"]).output
            round.check(told == input, "of a string of \(text.utf8.count) bytes came back \(told.prefix(200))")
        }
        for bad in ["[\"x\", \u{0}]", "[", "-h", "--help", "\u{FEFF}[1]", "[1] [2]"] {
            let before = try stage.contents()
            for command in [["write", "n", "-"], ["txn", "n"], ["load", "n"]] {
                round.check(try !stage.run(command, input: "[\"first\"]\n\(bad)\n").isDone, "\(command) took \(bad)")
                round.check(try stage.contents() == before, "\(command) with \(bad) changed something")
            }
        }
    }
}
