import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Circles of commands: which of them are deadlocks, and which may end by themselves.
@Suite("Circles of commands", .blocking, .timeLimit(.minutes(5)))
struct CircleTests {
    private func show(_ runner: CommandRunner, _ namespace: String = "n", _ options: String...) throws -> String {
        let result = try runner.start("space", ["show", namespace] + options).finish()
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.output
    }

    /// Runs a lock's holder in each namespace of a list, which then runs a script; returns once all hold theirs.
    private func holders(
        _ runner: CommandRunner,
        _ scripts: [(namespace: String, lock: String, script: String)],
        program: String = "space",
        padding: String = ""
    ) throws -> [RunningCommand] {
        try scripts.map { namespace, lock, script in
            let words = ["lock", namespace, lock, "--", "sh", "-c", "echo held; read go; \(script)", "sh", padding]
            let command = try runner.start(program, words)
            #expect(try command.readLine() == "held")
            return command
        }
    }

    /// Runs a test with a namespace `n` that keeps its changes, and deletes it.
    private func withNamespace(_ test: (CommandRunner) throws -> Void) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.space("history", "n", "1000")
            try test(runner)
            try runner.space("delete", "n")
        }
    }

    /// Waits until the history has one deadlock.
    private func isToldOnce(_ runner: CommandRunner) throws -> Bool {
        try eventually { try runner.space("history", "n", "--deadlocks").lines.count == 1 }
    }

    private func end(_ commands: [RunningCommand]) throws {
        for command in commands { command.signal(SIGTERM) }
        for command in commands { _ = try command.finish() }
    }

    /// The number of places in queues that wait.
    private func waiting(_ runner: CommandRunner, _ namespaces: String...) throws -> Int {
        try namespaces.reduce(0) { sum, namespace in
            let holds = try Value(json: show(runner, namespace, "--json"))["holds"]?.array ?? []
            return sum + holds.count { $0["held"] == .bool(false) }
        }
    }

    @Test("A deadlock is in the history, as text and as JSON, and a watcher is told")
    func history() throws {
        try withNamespace { (runner) throws in
            #expect(try runner.space("history", "n", "--deadlocks").output == "")
            let watch = try runner.start("space", ["watch", "n", "--events", "deadlock", "--max", "1"])
            #expect(try watch.readLine()?.contains("ready") == true)
            let commands = try holders(
                runner,
                [("a", "b"), ("b", "c"), ("c", "a")].map { ("n", $0, "exec space lock n \($1) -- true") }
            )
            for command in commands { try command.send("go\n") }
            let line = try #require(try watch.readLine())
            let change = try Value(json: line)
            #expect(change["event"] == "deadlock" && change["key"] == nil && change["name"] == nil)
            let circle = try #require(change["new"]?["circle"]?.array)
            #expect(circle.count == 6)
            // Each step names what it waits for; that of a holder is the program that it runs.
            let shown = try Value(json: show(runner, "n", "--json"))["deadlocks"]?.array?.first?.array
            for steps in [circle, shown ?? []] {
                #expect(steps.count { $0["type"] == "lock" } == 3)
                #expect(steps.filter { $0["type"] == "command" }.map { $0["name"] } == ["sh", "sh", "sh"])
            }
            let text = try #require(change["new"]?["text"]?.string)
            for (name, command) in zip(["a", "b", "c"], commands) {
                #expect(text.contains("waits for the lock \"\(name)\" of \(command.pid)"), "\(text)")
            }
            try end(commands)
            // After the fact.
            let told = try runner.space("history", "n", "--deadlocks")
            #expect(told.lines.count == 1 && told.output.hasSuffix("Z  deadlock: \(text)\n"), "\(told.output)")
            #expect(try runner.space("history", "n", "--deadlocks", "--json").lines == [line])
            #expect(try runner.space("history", "n", "--deadlocks", "5").status == 64)
            #expect(try runner.space("history", "n", "--json").status == 64)
            _ = try watch.finish()
        }
    }

    @Test(
        "Circles of semaphores, of elections, and of requests with locks are told",
        arguments: [
            ("semaphore n x --permits 1", "semaphore n y --permits 1", "semaphore"),
            ("elect n x", "elect n y", "election"),
            ("lock n x", "semaphore n y --permits 1", "lock"),
            ("elect n x", "lock n y", "election"),
        ]
    )
    func kinds(_ first: String, _ second: String, _ kind: String) throws {
        try withNamespace { (runner) throws in
            let commands = try [(first, second), (second, first)].map { (held, asked) throws in
                let script = "echo held; read go; exec space \(asked) -- true"
                let words = held.split(separator: " ").map(String.init) + ["--", "sh", "-c", script]
                let command = try runner.start("space", words)
                #expect(try command.readLine() == "held")
                return command
            }
            for command in commands { try command.send("go\n") }
            #expect(try isToldOnce(runner))
            let told = try runner.space("history", "n", "--deadlocks").output
            #expect(told.contains("waits for the \(kind) \"x\" of \(commands[0].pid)"), "\(told)")
            for command in commands { #expect(told.contains("\(command.pid) waits for its command"), "\(told)") }
            try end(commands)
        }
    }

    @Test("A circle through an answer is told, unless the request has a time-out")
    func requests() throws {
        try withNamespace { (runner) throws in
            // The responder's command needs the lock of the process that asks.
            let command = ["--", "sh", "-c", "exec space lock n a -- true"]
            let responder = try runner.start("space", ["respond", "n", "r"] + command)
            #expect(try eventually { try show(runner).contains("1 responder") })
            let brief = try holders(runner, [("n", "a", "exec space request n r --wait 10m")])
            try brief[0].send("go\n")
            #expect(try eventually { try show(runner).contains("a circle that ends by itself in ") })
            try end(brief)
            #expect(try eventually { try waiting(runner, "n") == 0 })
            #expect(try runner.space("history", "n", "--deadlocks").output == "")

            let asker = try holders(runner, [("n", "a", "exec space request n r --wait")])
            try asker[0].send("go\n")
            #expect(try isToldOnce(runner))
            let told = try runner.space("history", "n", "--deadlocks").output
            #expect(told.contains("waits for the answer to \"r\" from \(responder.pid)"), "\(told)")
            #expect(told.contains("waits for the lock \"a\" of \(asker[0].pid)"), "\(told)")
            try end(asker + [responder])
        }
    }

    @Test("A circle through one that only stands before another in a queue names it, and ends when it gives up")
    func behind() throws {
        try withNamespace { (runner) throws in
            let script = ["--", "sh", "-c", "echo held; read go; exec space lock n b -- true"]
            let sharer = try runner.start("space", ["lock", "n", "--shared", "a"] + script)
            #expect(try sharer.readLine() == "held")
            let holder = try holders(runner, [("n", "b", "exec space lock n --shared a -- true")])[0]
            let between = try runner.start("space", ["lock", "n", "a", "--", "true"])
            #expect(try eventually { try waiting(runner, "n") == 1 })
            try holder.send("go\n")
            #expect(try eventually { try waiting(runner, "n") == 2 })
            try sharer.send("go\n")
            #expect(try isToldOnce(runner))
            let told = try runner.space("history", "n", "--deadlocks").output
            #expect(told.contains("waits for the lock \"a\" behind \(between.pid)"), "\(told)")
            #expect(try runner.space("history", "n", "--deadlocks", "--json").output.contains("\"behind\":true"))
            #expect(try show(runner, "n", "--json").contains("\"behind\":true"))
            // No other process need end.
            between.signal(SIGTERM)
            for command in [between, holder, sharer] { _ = try command.finish() }
            #expect(try waiting(runner, "n") == 0)
        }
    }

    @Test("A responder's command ends with its request, and so does a circle through it")
    func requestInHand() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            // The command of the request in hand waits for the lock of the process whose request comes next.
            let command = ["--", "sh", "-c", "echo up >&3; exec space lock n a -- true"]
            let responder = try runner.start(
                "/bin/sh",
                ["-c", "exec 3>&1; exec space respond n r \"$@\"", "sh"] + command
            )
            #expect(try eventually { try show(runner).contains("1 responder") })
            let holder = try holders(runner, [("n", "a", "exec space request n r 2 --wait")])
            let first = try runner.start("space", ["request", "n", "r", "1", "--wait", "10m"])
            #expect(try responder.readLine() == "up")
            try holder[0].send("go\n")
            #expect(try eventually { try show(runner).contains("a circle that ends by itself in ") })
            let status = try Value(json: show(runner, "n", "--json"))
            #expect(status["deadlocks"]?.array == [])
            first.signal(SIGTERM)
            _ = try first.finish()
            try end(holder + [responder])
            try runner.space("delete", "n")
        }
    }

    @Test("A command that is ended after a time makes a circle that may end by itself")
    func timeToRun() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.space("queue", "n", "q", "put", "1")
            let commands = try holders(
                runner,
                [
                    ("n", "a", "exec space queue n q take --ttr 10m -- sh -c 'exec space lock n b -- true'"),
                    ("n", "b", "exec space lock n a -- true"),
                ]
            )
            for command in commands { try command.send("go\n") }
            #expect(try eventually { try waiting(runner, "n") == 2 })
            let shown = try show(runner)
            #expect(shown.contains(" ends when a time has passed, with "), "\(shown)")
            #expect(!shown.contains("\ndeadlock: "), "\(shown)")
            #expect(try runner.space("metrics", "n").output.contains(#"shared_space_deadlocks{namespace="n"} 0"#))
            try end(commands)
            try runner.space("delete", "n")
        }
    }

    @Test(
        "A circle in a command that is ended after a time is no deadlock",
        arguments: [["space", "queue", "n", "q", "take", "--ttr", "10m", "--"], ["timeout", "600"]]
    )
    func limitedFromOutside(_ limiter: [String]) throws {
        try withNamespace { (runner) throws in
            try runner.space("queue", "n", "q", "put", "1")
            let other = try holders(runner, [("n", "b", "exec space lock n a -- true")])
            let inner = ["space", "lock", "n", "a", "--", "sh", "-c", "exec space lock n b -- true"]
            let limited = try runner.start("/usr/bin/env", limiter + inner)
            #expect(try eventually { try waiting(runner, "n") == 1 })
            try other[0].send("go\n")
            #expect(try eventually { try waiting(runner, "n") == 2 })
            let shown = try show(runner)
            #expect(shown.contains("a circle that \(limited.pid) ends when a time has passed"), "\(shown)")
            #expect(!shown.contains("\ndeadlock: "), "\(shown)")
            #expect(try runner.space("metrics", "n").output.contains(#"shared_space_deadlocks{namespace="n"} 0"#))
            // Only the deadlock beside this circle is told.
            let others = try holders(
                runner,
                [("n", "c", "exec space lock n d -- true"), ("n", "d", "exec space lock n c -- true")]
            )
            for command in others { try command.send("go\n") }
            #expect(try isToldOnce(runner))
            #expect(try runner.space("history", "n", "--deadlocks").output.contains("\(others[0].pid)"))
            try end(others + other + [limited])
        }
    }

    @Test(
        "What only looks like a limit leaves a deadlock one",
        arguments: [["space", "eval", "n", "--"], ["space", "eval", "--wait", "n", "--"], ["timeout", "0"]]
    )
    func noLimit(_ limiter: [String]) throws {
        try withNamespace { (runner) throws in
            let other = try holders(runner, [("n", "b", "exec space lock n a -- true")])
            let inner = ["space", "lock", "n", "a", "--", "sh", "-c", "exec space lock n b -- true"]
            let unlimited = try runner.start("/usr/bin/env", limiter + inner)
            #expect(try eventually { try waiting(runner, "n") == 1 })
            try other[0].send("go\n")
            #expect(try eventually { try show(runner).contains("\ndeadlock: ") })
            #expect(try isToldOnce(runner))
            try end(other + [unlimited])
        }
    }

    @Test("A time limit for all processes of a circle leaves it a deadlock")
    func limitForAll() throws {
        try withNamespace { (runner) throws in
            let script = """
                space lock n a -- sh -c 'echo one; read go < "$0"; exec space lock n b -- true' "$SHARED_SPACE_ROOT/.1" &
                space lock n b -- sh -c 'echo two; read go < "$0"; exec space lock n a -- true' "$SHARED_SPACE_ROOT/.2" &
                wait
                """
            for name in [".1", ".2"] { #expect(mkfifo("\(runner.root)/\(name)", 0o600) == 0) }
            let job = try runner.start("/usr/bin/env", ["timeout", "600", "sh", "-c", script])
            #expect(Set([try job.readLine(), try job.readLine()]) == ["one", "two"])
            #expect(try runner.shell("echo go > $SHARED_SPACE_ROOT/.1; echo go > $SHARED_SPACE_ROOT/.2").status == 0)
            #expect(try eventually { try show(runner).contains("\ndeadlock: ") })
            #expect(try isToldOnce(runner))
            job.signal(SIGTERM)
            _ = try job.finish()
        }
    }

    @Test("A command that waits in the background makes a circle that may end by itself")
    func background() throws {
        try withNamespace { (runner) throws in
            let commands = try holders(
                runner,
                [("a", "b"), ("b", "a")].map {
                    ("n", $0, "space lock n \($1) -- true & read end; space lock n \($1) -- true")
                }
            )
            for command in commands { try command.send("go\n") }
            #expect(try eventually { try waiting(runner, "n") == 2 })
            let shown = try show(runner)
            #expect(shown.contains("perhaps a deadlock: ") && shown.contains("may go on by itself"), "\(shown)")
            let status = try Value(json: show(runner, "n", "--json"))
            #expect(status["deadlocks"]?.array == [])
            #expect(status["doubtful"]?.array?.first?["circle"]?.array?.count == 4)
            #expect(status["doubtful"]?.array?.first?["ends"] == .null)
            #expect(try runner.space("metrics", "n").output.contains(#"shared_space_deadlocks{namespace="n"} 0"#))
            // Once the shells only wait for their children, it is one.
            for command in commands { try command.send("end\n") }
            #expect(try eventually { try show(runner).contains("\ndeadlock: ") })
            #expect(try isToldOnce(runner))
            try end(commands)
        }
    }

    @Test("A circle with a time-out is shown with its end, and is no deadlock")
    func timeOut() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let commands = try holders(
                runner,
                [("a", "b --wait 10m"), ("b", "a")].map { ("n", $0, "exec space lock n \($1) -- true") }
            )
            for command in commands { try command.send("go\n") }
            #expect(try eventually { try waiting(runner, "n") == 2 })
            let shown = try show(runner)
            #expect(shown.contains("a circle that ends by itself in ") && !shown.contains("deadlock"), "\(shown)")
            let status = try Value(json: show(runner, "n", "--json"))
            #expect(status["deadlocks"]?.array == [])
            guard case .int(let end)? = status["doubtful"]?.array?.first?["ends"],
                case .int(let since)? = status["waiters"]?.array?.first?["since"]
            else { throw TestFailure(shown) }
            #expect((500_000...700_000).contains(end - since))
            #expect(try runner.space("top", "--max", "1").output.contains("n: a circle that ends by itself in "))
            try self.end(commands)
            try runner.space("delete", "n")
        }
    }

    @Test("A circle through two namespaces is named by top and metrics, with the namespaces")
    func spanning() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n1", "[1]")
            try runner.space("write", "--persistent", "n2", "[1]")
            let commands = try holders(
                runner,
                [
                    ("n1", "a", "exec space lock n2 b -- true"), ("n2", "b", "exec space lock n1 a -- true"),
                ]
            )
            for command in commands { try command.send("go\n") }
            #expect(try eventually { try waiting(runner, "n1", "n2") == 2 })
            #expect(try !show(runner, "n1").contains("deadlock"))
            let top = try runner.space("top", "--max", "1").output
            #expect(top.hasPrefix("deadlock: "), "\(top)")
            #expect(top.contains("waits for the lock \"b\" in \"n2\" of \(commands[1].pid)"), "\(top)")
            #expect(top.contains("waits for the lock \"a\" in \"n1\" of \(commands[0].pid)"), "\(top)")
            let object = try Value(json: runner.space("top", "--max", "1", "--json").output)
            #expect(object["deadlocks"]?.array?.count == 1)
            #expect(object["namespaces"]?.array?.allSatisfy { $0["deadlocks"]?.array == [] } == true)
            let metrics = try runner.space("metrics").output
            #expect(metrics.contains("\nshared_space_spanning_deadlocks 1\n"), "\(metrics)")
            #expect(metrics.contains(#"shared_space_deadlocks{namespace="n1"} 0"#))
            try end(commands)
            #expect(try runner.space("metrics").output.contains("\nshared_space_spanning_deadlocks 0\n"))
            for name in ["n1", "n2"] { try runner.space("delete", name) }
        }
    }

    @Test("A long command line, and a link of another name, hide no deadlock", arguments: [false, true])
    func names(_ isLinked: Bool) throws {
        try withRoot { (runner) throws in
            let link = "\(runner.root)-locker"
            symlink(CommandRunner.path("space"), link)
            defer { unlink(link) }
            try runner.space("write", "--persistent", "n", "[1]")
            let commands = try holders(
                runner,
                [("a", "b"), ("b", "a")].map { ("n", $0, "exec space lock n \($1) -- true") },
                program: isLinked ? link : "space",
                padding: isLinked ? "" : String(repeating: "x", count: 50_000)
            )
            for command in commands { try command.send("go\n") }
            #expect(try eventually { try waiting(runner, "n") == 2 })
            let shown = try show(runner)
            #expect(shown.contains("\ndeadlock: "), "\(shown)")
            #expect(shown.contains("sh -c echo held; read go"), "\(shown)")
            try end(commands)
            try runner.space("delete", "n")
        }
    }
}
