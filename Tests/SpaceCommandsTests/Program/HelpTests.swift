import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCommands

@Suite("Help and usage", .blocking, .timeLimit(.minutes(5)))
struct HelpTests {
    @Test(
        "Help whose reader has seen enough ends without a word",
        arguments: [
            ["help", "queue"], ["queue", "--help"], ["help"], ["help", "all"], ["help", "status"], ["--version"],
        ]
    )
    func unread(_ words: [String]) throws {
        try withRoot { (runner) throws in
            // The command begins when no process can read its output any more.
            let script = "read go; exec space \(words.joined(separator: " "))"
            let help = try runner.start("/bin/sh", ["-c", script])
            help.closeOutput()
            let result = try help.finish(input: "go\n")
            #expect(result.ending == .exited(0) && result.errors == "", "\(result.errors)")
        }
    }

    @Test("The help of commands with a worker says that CMD ends with it", arguments: ["claim", "queue"])
    func worker(_ command: String) throws {
        try withRoot { (runner) throws in
            let text = try runner.space("help", command).output.split { $0.isWhitespace }.joined(separator: " ")
            #expect(text.contains("CMD ends with its worker: if this process is killed, CMD gets SIGKILL"))
        }
    }

    private let runner = CommandRunner(root: "/nonexistent/space-root")

    static let commands = [
        "write", "read", "take", "count", "set", "get", "unset", "incr", "list", "show", "own", "disown", "persist",
        "unpersist", "delete", "wait", "reap", "load", "watch", "post", "claim",
        "complete", "release", "extend", "claims", "bury", "kick", "move", "txn", "history", "respond", "request",
        "lock", "semaphore",
        "expire", "ttl", "items", "unsubscribe", "stats", "metrics", "top", "serve", "backup", "replay",
        "elect", "barrier", "latch", "counter", "rate", "queue", "eval", "agents", "mcp",
    ]

    @Test("Every command has help with an example, on standard output", arguments: commands)
    func help(_ command: String) throws {
        let result = try runner.space(command, "--help")
        #expect(result.ending == .exited(0))
        #expect(result.errors == "")
        #expect(result.output.contains("EXAMPLE"))
        #expect(result.output.contains("--root"))
        #expect(result.output.contains("USAGE: space \(command) "))
        #expect(result.output.hasSuffix("\n\n\(ExitStatus.hint)\n"))
    }

    @Test("The topics are shown, and no command of that name", arguments: HelpTopic.allCases)
    func topics(_ topic: HelpTopic) throws {
        let result = try runner.space("help", topic.rawValue)
        #expect(result.ending == .exited(0))
        #expect(result.errors == "" && result.output == topic.text + "\n")
        #expect(try !runner.space("help", "all").output.contains("help-topic"))
        #expect(topic.text.split(separator: "\n").allSatisfy { $0.count <= 132 })
    }

    @Test("The common options may stand in a request for help, and help for help is the screen of commands")
    func helpWithOptions() throws {
        let list = try runner.space("help", "list").output
        let topic = try runner.space("help", "templates").output
        let all = try runner.space("help").output
        for (words, expected) in [
            (["--root", "/r", "help", "list"], list), (["help", "--root=/r", "list"], list),
            (["help", "list", "--root", "/r"], list), (["--timeout", "1s", "help", "templates"], topic),
            (["--root", "/r", "help"], all), (["help", "help"], all), (["help", "help", "help"], all),
            (["--help"], all), (["-h"], all), (["help", "--help"], all),
        ] {
            let result = try runner.start("space", words).finish()
            #expect(result.ending == .exited(0) && result.errors == "", "\(words) \(result.errors)")
            #expect(result.output == expected, "\(words)")
        }
        let unknown = try runner.start("space", ["--root", "/r", "help", "nonsense"]).finish()
        #expect(unknown.ending == .exited(64) && unknown.errors.contains("there is no command \"nonsense\""))
        let request = try runner.start("space", ["---completion"]).finish()
        #expect(request.ending == .exited(64) && request.errors.contains("there is no command \"---completion\""))
    }

    @Test("The version is told, and the change log begins with it")
    func version() throws {
        for program in ["space", "space-dump"] {
            let result = try runner.start(program, ["--version"]).finish()
            #expect(result.ending == .exited(0) && result.errors == "")
            #expect(result.output == "\(program) \(Space.version) (format \(ControlHeader.currentVersion))\n")
        }
        let path = "\(Repository.folder)/Sources/SharedSpace/SharedSpace.docc/ChangeLog.md"
        let log = String(decoding: try FileBytes.read(at: AT_FDCWD, path, limit: 1 << 20), as: UTF8.self)
        let first = log.split(separator: "\n").first { $0.hasPrefix("## ") && $0 != "## Overview" }
        #expect(first.map(String.init) == "## \(Space.version), format \(ControlHeader.currentVersion)")
    }

    @Test("The inspector has help too")
    func dumpHelp() throws {
        let result = try runner.dump("--help")
        #expect(result.ending == .exited(0))
        #expect(result.output.contains("EXAMPLE"))
        #expect(Self.words(result.output).contains(Self.words("EXIT STATUS: \(ExitStatus.dumpHelp)")))
        #expect(!result.output.contains(ExitStatus.hint))
    }

    /// A text without its line breaks, which the help has where the screen ends.
    private static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test("The exit statuses are listed, in one place")
    func statuses() throws {
        let help = try runner.space("help", "all").output
        #expect(Self.words(help).contains(Self.words("EXIT STATUS: \(ExitStatus.help)")))
        #expect(!help.contains(ExitStatus.hint))
        let listed = ExitStatus.help.split(separator: "\n").filter { $0.hasPrefix("  ") }.compactMap { line in
            line.split(separator: " ").first.flatMap { Int32($0) }
        }
        #expect(listed == [0, 1, 64, 65, 69, 70, 74, 75, 76, 77])
    }

    @Test("Usage errors are 64 and name the mistake, on standard error only")
    func usage() throws {
        for words in [
            [], ["nonsense"], ["help", "nonsense"], ["--nonsense"], ["get"], ["own", "a", "--"], ["eval", "a", "--"],
            ["get", "a"], ["get", "a", "b", "c"], ["get", "a", "b", "-x"],
        ] {
            let result = try runner.start("space", words).finish()
            #expect(result.ending == .exited(64), "space \(words)")
            #expect(result.output == "", "space \(words)")
            #expect(result.errors.hasPrefix("space: "), "space \(words): \(result.errors)")
        }
        let dump = try runner.dump("--format", "xml", "a")
        #expect(dump.ending == .exited(64))
        #expect(dump.errors.hasPrefix("space-dump: "))
    }

    @Test(
        "A line that is being typed is completed with what is there",
        arguments: [
            ("get n cfg.", "cfg.host cfg.port"), ("get n other", "other"), ("unset n nothing", ""), ("show ", "n"),
            ("counter n ", "hits"), ("queue n ", "mail"), ("counter missing ", ""),
            ("watch n --events ta", "take"),
        ]
    )
    func completedLines(_ line: String, _ expected: String) throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        for key in ["cfg.host", "cfg.port", "other"] { try runner.space("set", "n", "--persistent", key, "1") }
        try runner.space("counter", "n", "hits")
        try runner.space("queue", "n", "mail", "put", "1")
        let script = """
            source <(space --generate-completion-script bash)
            COMP_LINE="space $1"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($COMP_LINE); COMP_TYPE=9
            [[ $COMP_LINE != *' ' ]] || COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _space space "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
            printf '%s\\n' "${COMPREPLY[@]}" | grep -v '^-' | sort | xargs
            """
        let result = try runner.start("/bin/bash", ["-c", script, "bash", line]).finish()
        let words = result.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words == expected, "\(result.errors)")
        try runner.space("delete", "n")
    }

    @Test("Completions are generated", arguments: ["bash", "zsh", "fish"])
    func completions(_ shell: String) throws {
        let result = try runner.space("--generate-completion-script", shell)
        #expect(result.ending == .exited(0))
        #expect(result.output.contains("space"))
    }
}
