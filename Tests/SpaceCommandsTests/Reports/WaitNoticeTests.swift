import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// What a command that waits without limit says at a terminal.
@Suite("A wait that is announced", .blocking, .timeLimit(.minutes(5)))
struct WaitNoticeTests {
    /// Starts a command at a terminal, which script(1) gives it.
    private func atTerminal(_ runner: CommandRunner, _ command: String) throws -> RunningCommand {
        try runner.start("/usr/bin/script", ["-qec", command, "/dev/null"], environment: ["SHELL": "/bin/sh"])
    }

    /// The next line of a terminal, without the end that terminals give it.
    private func line(_ command: RunningCommand) throws -> String? {
        try command.readLine().map { $0.hasSuffix("\r") ? String($0.dropLast()) : $0 }
    }

    @Test("A wait for a lock names its holder, once, and only where it has no limit and no --quiet is given")
    func lock() throws {
        try withRoot { (runner) throws in
            try runner.space("own", "jobs")
            let holder = try runner.start("space", ["lock", "jobs", "deploy", "--", "cat"])
            #expect(try eventually { try runner.space("show", "jobs", "--json").output.contains("\"deploy\"") })
            // These two wait longer than the one that speaks.
            let silent = try ["lock jobs deploy --quiet", "lock jobs deploy --wait 1h"].map {
                try atTerminal(runner, "space \($0) -- echo silent")
            }
            let waits = { try runner.space("show", "jobs", "--json").output.ranges(of: "\"held\":false").count }
            #expect(try eventually { try waits() == 2 })
            let waiting = try atTerminal(runner, "space lock jobs deploy -- echo obtained")
            let told = try line(waiting) ?? ""
            let start = "space: waiting for lock \"deploy\", held by process \(holder.pid) (cat) since "
            #expect(told.hasPrefix(start) && told.dropFirst(start.count).wholeMatch(of: /[0-9: -]+/) != nil, "\(told)")
            holder.closeInput()
            #expect(try holder.wait() == .exited(0))
            #expect(try silent.map { try $0.finish().output } == ["silent\r\n", "silent\r\n"])
            #expect(try line(waiting) == "obtained")
            #expect(try waiting.finish().ending == .exited(0))
        }
    }

    @Test(
        "What else is waited for is named",
        arguments: [
            ("take jobs --wait '[\"x\",\"?\"]'", "a tuple in \"jobs\" that matches [\"x\",\"?\"]: there is none"),
            ("get jobs k --wait", "cell \"k\" in \"jobs\", which has no value"),
            ("queue jobs mail take --wait -- cat", "queue \"mail\": nothing in it is ready"),
            ("queue jobs full put 2 --wait", "room in queue \"full\" in \"jobs\""),
            ("request jobs ping --wait", "a reply to \"ping\" in \"jobs\""),
            ("barrier jobs b --parties 2", "barrier \"b\": other processes are not there yet"),
            ("read missing --wait '[1]'", "namespace \"missing\": there is none"),
            ("wait jobs --gone", "the end of namespace \"jobs\", which process \(getpid()) owns"),
        ]
    )
    func others(_ command: String, _ text: String) throws {
        try withRoot { (runner) throws in
            try runner.space("own", "jobs", "--pid", "\(getpid())")
            try runner.space("queue", "jobs", "full", "put", "1", "--bound", "1")
            let waiting = try atTerminal(runner, "space \(command)")
            #expect(try line(waiting) == "space: waiting for \(text)")
            waiting.signal(SIGKILL)
            _ = try waiting.wait()
        }
    }

    @Test("--quiet leaves out what the exit status says, and nothing else")
    func quiet() throws {
        try withRoot { (runner) throws in
            for words in [
                ["get", "jobs", "k"], ["read", "jobs", "[1]"], ["take", "jobs", "[1]"], ["count", "jobs"],
            ] {
                let loud = try runner.start("space", words).finish()
                #expect(loud.ending == .exited(69) && !loud.errors.isEmpty, "\(words)")
                let quiet = try runner.start("space", words + ["--quiet"]).finish()
                #expect(quiet.ending == .exited(69) && quiet.errors == "", "\(words)")
            }
            let holder = try runner.start("space", ["lock", "jobs", "deploy", "--", "cat"])
            #expect(try eventually { try runner.space("show", "jobs", "--json").output.contains("\"deploy\"") })
            for (words, status) in [
                (["lock", "jobs", "deploy", "--wait", "0", "--", "true"], 1),
                (["lock", "jobs", "deploy", "--wait", "0", "-E", "9", "--", "true"], 9),
                (["request", "jobs", "nobody", "--wait", "0"], 1),
            ] {
                let loud = try runner.start("space", words).finish()
                #expect(loud.status == status && !loud.errors.isEmpty, "\(words) \(loud)")
                let quiet = try runner.start("space", [words[0], "--quiet"] + words.dropFirst()).finish()
                #expect(quiet.status == status && quiet.errors == "", "\(words) \(quiet)")
            }
            let bad = try runner.space("write", "jobs", "--quiet", "[")
            #expect(bad.ending == .exited(65) && !bad.errors.isEmpty)
            holder.closeInput()
            #expect(try holder.wait() == .exited(0))
        }
    }
}
