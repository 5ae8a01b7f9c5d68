import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("queue: one of several, and by number", .blocking, .timeLimit(.minutes(5)))
struct QueueChoiceCommandTests {
    private let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]

    private func queue(_ runner: CommandRunner, _ words: String...) throws -> CommandResult {
        try runner.start("space", ["queue", "jobs"] + words, environment: owner).finish()
    }

    @Test("Items are looked at by their numbers, in any state")
    func peek() throws {
        try withRoot { (runner) throws in
            let put = try queue(runner, "q", "put", "\"a\"", "\"b\"").lines
            let delayed = try queue(runner, "q", "put", "\"c\"", "--delay", "1h").lines
            #expect(try queue(runner, "q", "take", put[0], "--", "sh", "-c", "exit 65").ending == .exited(65))
            let seen = try queue(runner, "q", "peek", delayed[0], put[0])
            try #require(seen.ending == .exited(0) && seen.lines.count == 2, "\(seen)")
            #expect(seen.lines[0].contains(#""id":\#(delayed[0]),"state":"delayed""#), "\(seen)")
            #expect(
                seen.lines[1].contains(#""state":"buried""#) && seen.lines[1].hasSuffix(#""value":"a"}"#),
                "\(seen)"
            )

            // Those that are there are printed, also if another one isn't.
            let partly = try queue(runner, "q", "peek", "999999", put[1])
            #expect(partly.ending == .exited(1) && partly.lines.count == 1, "\(partly)")
            #expect(partly.errors.contains("item 999999 was not shown: there is none with this number"), "\(partly)")
            #expect(try queue(runner, "other", "peek", "1").ending == .exited(1))
            for wrong in [["x"], ["1", "--state", "ready"], ["1", "--max", "2"]] {
                let words = ["queue", "jobs", "q", "peek"] + wrong
                #expect(try runner.start("space", words, environment: owner).finish().ending == .exited(64), "\(wrong)")
            }
        }
    }

    @Test("A take from several queues goes by the order in which they are named")
    func order() throws {
        try withRoot { (runner) throws in
            for name in ["a", "b", "b", "c"] { _ = try queue(runner, name, "put", "\"\(name)\"") }
            let script = "cat; echo $SHARED_SPACE_QUEUE"
            let first = try queue(runner, "c", "take", "--or", "b", "--or", "a", "--", "sh", "-c", script)
            #expect(first.output == "\"c\"\nc\n" && first.ending == .exited(0), "\(first)")
            let rest = try queue(
                runner,
                "c",
                "take",
                "--forever",
                "--wait",
                "0",
                "--or",
                "b",
                "--or",
                "a",
                "--",
                "sh",
                "-c",
                script
            )
            #expect(rest.output == "\"b\"\nb\n\"b\"\nb\n\"a\"\na\n" && rest.ending == .exited(0), "\(rest)")
            let none = try queue(runner, "c", "take", "--or", "b", "--wait", "10ms", "--", "true")
            #expect(none.ending == .exited(1) && none.output == "")
            #expect(try queue(runner, "c", "take", "--or", "b", "--", "true").ending == .exited(1))
        }
    }

    @Test("A worker of several queues waits for any of them")
    func waiting() throws {
        try withRoot { (runner) throws in
            _ = try queue(runner, "a", "put", "1")
            #expect(try queue(runner, "a", "drain").output == "1\n")
            let words = [
                "queue", "jobs", "a", "take", "--or", "b", "--wait", "--", "sh", "-c", "cat; echo $SHARED_SPACE_QUEUE",
            ]
            for name in ["b", "a"] {
                let worker = try runner.start("space", words, environment: owner)
                try awaitWaiter(runner, worker.pid, queues: ["a", "b"])
                _ = try queue(runner, name, "put", "\"\(name)\"")
                let result = try worker.finish()
                #expect(result.output == "\"\(name)\"\n\(name)\n" && result.ending == .exited(0), "\(result)")
            }
        }
    }

    @Test("A signal ends the wait for several queues, and nothing is taken")
    func interrupted() throws {
        try withRoot { (runner) throws in
            _ = try queue(runner, "a", "put", "1", "--delay", "1h")
            let words = ["queue", "jobs", "a", "take", "--or", "b", "--wait", "--", "cat"]
            let worker = try runner.start("space", words, environment: owner)
            try awaitWaiter(runner, worker.pid, queues: ["a", "b"])
            worker.signal(SIGTERM)
            let result = try worker.finish()
            #expect(result.ending == .signalled(SIGTERM) && result.output == "" && result.errors == "", "\(result)")
            #expect(try queue(runner, "a", "count").output.contains(#""delayed":1"#))
        }
    }

    @Test(
        "What means nothing together with --or is refused",
        arguments: [
            ["take", "7", "--or", "b", "--", "true"], ["take", "--hold", "--or", "b"], ["put", "1", "--or", "b"],
        ]
    )
    func refused(_ words: [String]) throws {
        try withRoot { (runner) throws in
            let result = try runner.start("space", ["queue", "jobs", "a"] + words, environment: owner).finish()
            #expect(result.ending == .exited(64) && result.errors.contains("--or"), "\(result)")
        }
    }

    /// Returns once a process is seen to wait for all of some queues.
    private func awaitWaiter(_ runner: CommandRunner, _ pid: pid_t, queues: [String]) throws {
        let isThere = try eventually {
            let shown = try runner.space("show", "jobs", "--json").output
            return queues.allSatisfy { shown.contains(#""pid":\#(pid),"template":"queue \#($0)""#) }
        }
        if !isThere { throw TestFailure(try runner.space("show", "jobs", "--json").output) }
    }
}
