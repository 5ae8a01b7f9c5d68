import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Who waits for whom, as `show` tells it.
@Suite("Who waits for whom", .blocking, .timeLimit(.minutes(5)))
struct WaitGraphTests {
    private func show(_ runner: CommandRunner, _ options: String...) throws -> String {
        let result = try runner.start("space", ["show", "n"] + options).finish()
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.output
    }

    /// Runs a lock's holder that asks for a second lock when it is told to; returns once it holds the first.
    private func holder(_ runner: CommandRunner, _ first: String, then second: String) throws -> RunningCommand {
        let script = "echo held; read go; exec space lock n \(second) -- true"
        let command = try runner.start("space", ["lock", "n", first, "--", "sh", "-c", script])
        #expect(try command.readLine() == "held")
        return command
    }

    @Test("Three processes that lock in a circle are named as a deadlock, in each form")
    func circle() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let commands = try [("a", "b"), ("b", "c"), ("c", "a")].map { try holder(runner, $0, then: $1) }
            #expect(try !show(runner).contains("deadlock"))
            #expect(try show(runner, "--graph") == "no process waits for another\n")
            for command in commands.dropLast() { try command.send("go\n") }
            #expect(try eventually { try show(runner).split(separator: " for ").count >= 3 })
            #expect(try !show(runner).contains("deadlock"))
            try commands[2].send("go\n")
            #expect(try eventually { try show(runner).contains("deadlock: ") })

            for output in [try show(runner), try show(runner, "--graph")] {
                for (name, holder) in zip(["a", "b", "c"], commands) {
                    #expect(output.contains("waits for the lock \"\(name)\" of \(holder.pid)"), "\(output)")
                }
            }
            let status = try Value(json: show(runner, "--json"))
            let circles = status["deadlocks"]?.array ?? []
            #expect(circles.count == 1)
            let steps = circles.first?.array ?? []
            #expect(steps.count == 6)
            for index in steps.indices { #expect(steps[index]["waits_for"] == steps[(index + 1) % steps.count]["pid"]) }
            let waiting = (status["holds"]?.array ?? []).filter { $0["held"] == .bool(false) }
            #expect(waiting.count == 3)
            let holders = Set(commands.map { Value.int(Int($0.pid)) })
            #expect(Set(waiting.compactMap { $0["waits_for"]?.array?.first }) == holders)

            let dot = try show(runner, "--dot")
            #expect(dot.hasPrefix("digraph waits {\n") && dot.contains("label=\"lock a\", color=red"))
            let svg = try show(runner, "--svg")
            // The circle's six processes are two bands of at most four, on a picture that a screen shows.
            let check = """
                import sys, xml.etree.ElementTree as t
                root = t.parse(sys.stdin).getroot(); print(root.tag, int(root.get("width")) < 1500)
                boxes = {b.get("y") for b in root.iter("{http://www.w3.org/2000/svg}rect") if b.get("y")}; print(len(boxes))
                """
            let parsed = try runner.start("/usr/bin/env", ["python3", "-c", check]).finish(input: svg)
            #expect(parsed.output == "{http://www.w3.org/2000/svg}svg True\n2\n", "\(parsed.errors)")
            #expect(svg.contains(">lock a</text>") && svg.contains(">\(commands[0].pid)</text>"))

            for command in commands { command.signal(SIGTERM) }
            for command in commands { _ = try command.finish() }
            #expect(try eventually { try show(runner, "--graph") == "no process waits for another\n" })
            try runner.space("delete", "n")
        }
    }

    @Test("A tree shows who waits for a holder, and that several readers hold it")
    func tree() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let script = "echo held; read go"
            let readers = try (0..<2).map { _ in
                let reader = try runner.start("space", ["lock", "n", "a", "--shared", "--", "sh", "-c", script])
                #expect(try reader.readLine() == "held")
                return reader
            }
            let writer = try runner.start("space", ["lock", "n", "a", "--", "true"])
            #expect(try eventually { try show(runner).contains("waits for \(readers[0].pid), \(readers[1].pid)") })
            let tree = try show(runner, "--graph")
            for reader in readers { #expect(tree.contains("\(reader.pid)  sh -c ")) }
            #expect(tree.contains("└─ \(writer.pid)  true (space lock)  waits for the lock \"a\""), "\(tree)")
            for reader in readers { try reader.send("go\n") }
            for reader in readers { #expect(try reader.finish().ending == .exited(0)) }
            #expect(try writer.finish().ending == .exited(0))
            try runner.space("delete", "n")
        }
    }

    @Test("Waiters say what they wait for, and a leader is none of them")
    func kinds() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let leader = try runner.start("space", ["elect", "n", "boss", "--", "sh", "-c", "echo leads; read go"])
            #expect(try leader.readLine() == "leads")
            let candidate = try runner.start("space", ["elect", "n", "boss", "--", "true"])
            let taker = try runner.start("space", ["take", "n", "[\"x\"]", "--wait"])
            let cell = try runner.start("space", ["get", "n", "?", "--wait"])
            func kinds() throws -> [Int32: String] {
                let waiters = try Value(json: show(runner, "--json"))["waiters"]?.array ?? []
                return Dictionary(
                    waiters.compactMap { waiter in
                        guard case .int(let pid)? = waiter["pid"], let kind = waiter["kind"]?.string else { return nil }
                        return (Int32(pid), kind)
                    },
                    uniquingKeysWith: { first, _ in first }
                )
            }
            let expected = [candidate.pid: "election", taker.pid: "tuple", cell.pid: "cell"]
            let areThere = try eventually { try kinds() == expected }
            let shown = try show(runner)
            #expect(areThere, "\(shown)")
            let dumped = try runner.dump("n", "--format", "json").lines.filter { $0.contains("\"kind\":\"waiter\"") }
            #expect(Set(dumped.compactMap { try? Value(json: $0)["type"]?.string }) == Set(expected.values))
            try leader.send("go\n")
            for command in [taker, cell] { command.signal(SIGTERM) }
            for command in [leader, candidate, taker, cell] { _ = try command.finish() }
            try runner.space("delete", "n")
        }
    }

    @Test("A process that waits for what it holds itself is named, and counted in the metrics")
    func ownWait() throws {
        try withRoot { (runner) throws in
            let lock = try Space(root: runner.root).namespace("n").lock("a")
            let hold = try lock.acquire(timeout: watchdog).inTime()
            let waiter = Task { try await lock.acquire().release() }
            let text = "\(getpid()) waits for the lock \"a\" of \(getpid()), itself"
            #expect(try eventually { try show(runner).contains("perhaps a deadlock: \(text)") })
            let metrics = try runner.space("metrics").lines
            #expect(metrics.contains(#"shared_space_own_waits{namespace="n"} 1"#))
            #expect(metrics.contains(#"shared_space_deadlocks{namespace="n"} 0"#))
            try hold.release()
            #expect(try eventually { try show(runner, "--graph") == "no process waits for another\n" })
            withExtendedLifetime(waiter) {}
        }
    }

    @Test("Only one form at a time")
    func forms() throws {
        try withRoot { (runner) throws in
            let result = try runner.space("show", "n", "--graph", "--svg")
            #expect(result.status == 64)
            #expect(result.errors.contains("exclude each other"))
        }
    }
}
