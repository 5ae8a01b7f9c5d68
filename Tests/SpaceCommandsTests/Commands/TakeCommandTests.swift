import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("take", .blocking, .timeLimit(.minutes(5)))
struct TakeCommandTests {
    @Test("A take prints and removes, the oldest first")
    func takes() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "[2]", "[3]")
            #expect(try runner.space("take", "jobs", #"["?"]"#).output == "[1]\n")
            #expect(try runner.space("take", "jobs", #"["?"]"#, "--newest").output == "[3]\n")
            #expect(try runner.tuples("jobs") == ["[2]"])
            #expect(try runner.space("take", "jobs", "[5]").ending == .exited(1))
        }
    }

    @Test("A take takes several at once")
    func several() throws {
        try withRoot { (runner) throws in
            let lines = (0..<700).map { "[\($0)]" }
            try runner.space("write", "jobs", "-", input: lines.joined(separator: "\n"))
            #expect(try runner.space("take", "jobs", "--max", "2", #"["?"]"#).lines == ["[0]", "[1]"])
            #expect(try runner.space("take", "jobs", "--max", "2", "--newest", #"["?"]"#).lines == ["[699]", "[698]"])
            #expect(try runner.space("take", "jobs", "--all", #"["?"]"#).lines == Array(lines[2..<698]))
            #expect(try runner.space("count", "jobs").output == "0\n")
            #expect(try runner.space("take", "jobs", "--all", #"["?"]"#).ending == .exited(1))
            #expect(try runner.space("take", "jobs", "--all", "--max", "2", "[]").ending == .exited(64))
            #expect(try runner.space("take", "jobs", "--max", "0", "[]").ending == .exited(64))
        }
    }

    @Test("Of several templates the oldest match of any comes first")
    func anyOf() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", #"["b"]"#, #"["a",2]"#, #"["b"]"#, #"["c"]"#)
            let templates = [#"["a","?"]"#, #"["b"]"#]
            func run(_ words: String...) throws -> [String] {
                try runner.start("space", words + templates).finish().lines
            }
            #expect(try run("read", "jobs") == [#"["b"]"#])
            #expect(try run("read", "jobs", "--all") == [#"["b"]"#, #"["a",2]"#, #"["b"]"#])
            #expect(try run("take", "jobs") == [#"["b"]"#])
            #expect(try run("take", "jobs", "--max", "5", "--wait", "0") == [#"["a",2]"#, #"["b"]"#])
            #expect(try runner.tuples("jobs") == ["[1]", #"["c"]"#])
            let waiting = try runner.start("space", ["take", "jobs", "--max", "3", "--wait", "60s"] + templates)
            #expect(try eventually { try runner.space("show", "jobs").output.contains(#"["a","?"] or ["b"]"#) })
            try runner.space("write", "jobs", #"["z"]"#, #"["b"]"#, #"["a",3]"#)
            #expect(try waiting.finish().lines == [#"["b"]"#, #"["a",3]"#])
            #expect(try runner.space("take", "jobs", "--all", #"["z"]"#, #"["?"]"#).lines.count == 3)
        }
    }

    @Test("A tuple that a full device did not take stays")
    func fullDevice() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "[2]")
            for words in ["take jobs '[1]'", "take jobs --all '\"?\"'"] {
                let result = try runner.shell("space \(words) > /dev/full; echo $?")
                #expect(result.output == "74\n")
                #expect(result.errors.contains("No space left on device"))
            }
            #expect(try runner.tuples("jobs") == ["[1]", "[2]"])
            for command in ["read jobs '[1]'", "count jobs", "list", "show jobs", "incr jobs n", "take --help"] {
                #expect(try runner.shell("space \(command) > /dev/full; echo $?").output == "74\n", "space \(command)")
            }
        }
    }

    @Test("A tuple whose line was not read stays")
    func brokenPipe() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let take = try runner.start("space", ["take", "jobs", "--wait", "[2]"])
            try runner.awaitWaiter("jobs")
            take.closeOutput()
            try runner.space("write", "jobs", "[2]")
            let result = try take.finish()
            #expect(result.ending == .exited(74))
            #expect(result.errors.contains("roken pipe"))
            #expect(try runner.tuples("jobs") == ["[1]", "[2]"])
        }
    }

    @Test("With standard output closed a take fails, and no file takes its descriptor")
    func closedOutput() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.shell("space take jobs '[1]' >&-; echo $?").output == "74\n")
            #expect(try runner.shell("space write jobs '[2]' <&- >&- 2>&-; echo $?").output == "0\n")
            #expect(try runner.tuples("jobs") == ["[1]", "[2]"])
        }
    }

    @Test("Of many tuples, those whose lines went out whole are taken")
    func partlyPrinted() throws {
        try withRoot { (runner) throws in
            // More than a pipe holds (65,536 bytes), so that the take blocks in the middle of its first batch.
            let lines = (100..<300).map { "[\($0),\"\(String(repeating: "x", count: 4000))\"]" }
            try runner.space("write", "jobs", "-", input: lines.joined(separator: "\n"))
            let take = try runner.start("space", ["take", "jobs", "--all", #"["?","?"]"#])
            let first = try take.readLine()
            #expect(first == lines[0])
            take.signal(SIGTERM)
            let result = try take.finish()
            #expect(result.ending == .signalled(SIGTERM))
            let printed = result.output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
            let whole = printed.prefix { $0.hasSuffix("\"]") }
            let left = try runner.tuples("jobs")
            // No tuple is lost; the printed ones with a whole line and the remaining ones don't overlap.
            #expect(Array(whole) + left == lines)
            #expect(whole.count < lines.count)
        }
    }

    @Test(
        "A waiting take that gets a signal takes nothing, and dies of that signal",
        arguments: [SIGINT, SIGTERM, SIGHUP]
    )
    func signals(_ number: Int32) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            for command in [
                ["take", "jobs", "--wait", "[2]"], ["read", "jobs", "--wait", "[2]"], ["get", "jobs", "k", "--wait"],
            ] {
                let waiting = try runner.start("space", command)
                try runner.awaitWaiter("jobs")
                waiting.signal(number)
                let result = try waiting.finish()
                #expect(result.ending == .signalled(number), "space \(command): \(result.errors)")
                #expect(result.output == "")
                #expect(result.errors == "")
            }
            try runner.space("write", "jobs", "[2]")
            #expect(try runner.tuples("jobs") == ["[1]", "[2]"])
        }
    }

    @Test("A signal that was ignored at start stays ignored")
    func ignoredSignal() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let waiting = try runner.start("/bin/sh", ["-c", "trap '' HUP; exec space take jobs --wait '[2]'"])
            try runner.awaitWaiter("jobs")
            waiting.signal(SIGHUP)
            try runner.space("write", "jobs", "[2]")
            let result = try waiting.finish()
            #expect(result.ending == .exited(0))
            #expect(result.output == "[2]\n")
        }
    }

    @Test("A take killed between claim and print: the tuple comes back")
    func killed() throws {
        try withRoot { (runner) throws in
            let lines = (100..<300).map { "[\($0),\"\(String(repeating: "x", count: 1000))\"]" }
            try runner.space("write", "jobs", "-", input: lines.joined(separator: "\n"))
            let take = try runner.start("space", ["take", "jobs", "--all", #"["?","?"]"#])
            // The take has claimed its batch, and blocks in write(2).
            _ = try take.readLine()
            #expect(try runner.space("count", "jobs").output == "0\n")
            take.signal(SIGKILL)
            try take.wait()
            #expect(try runner.tuples("jobs") == lines)
        }
    }

    @Test("Takers share the work: each tuple goes to one")
    func sharing() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "-", input: (0..<60).map { "[\($0)]" }.joined(separator: "\n"))
            let takers = try (0..<3).map { _ in
                try runner.start("/bin/sh", ["-c", #"while space take jobs '["?int"]' --field 0; do :; done"#])
            }
            let taken = try takers.flatMap { try $0.finish().lines.compactMap { Int($0) } }
            #expect(taken.sorted() == Array(0..<60))
        }
    }
}

extension CommandRunner {
    /// Returns once a process waits in a namespace.
    func awaitWaiter(_ namespace: String) throws {
        let result = try shell(
            """
            while :; do
                case $(space show --json \(namespace)) in
                *'"waiters":[]'*) ;;
                *'"waiters":['*) exit 0 ;;
                *) exit 1 ;;
                esac
            done
            """
        )
        guard result.status == 0 else { throw TestFailure("show \(namespace): \(result.errors)") }
    }
}
