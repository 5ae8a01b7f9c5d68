import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// A take of the shell claims, prints and completes; watchers are told of one take.
@Suite("What watchers are told of a take of the shell", .blocking, .timeLimit(.minutes(5)))
struct ToldTakeTests {
    /// A watcher that has begun to watch.
    private func watcher(_ runner: CommandRunner, _ words: String...) throws -> RunningCommand {
        let command = try runner.start("space", ["watch", "n"] + words)
        let first = try command.readLine()
        #expect(first?.contains("\"ready\"") ?? false, "\(first ?? "nothing")")
        return command
    }

    private func events(_ result: CommandResult) -> [String] {
        result.lines.compactMap { (try? Value(json: $0))?["event"]?.string }.filter { $0 != "ready" }
    }

    @Test("One take for each tuple, whatever the mode", arguments: [[], ["--guarded"]])
    func oneTake(_ mode: [String]) throws {
        try withRoot { (runner) throws in
            _ = try runner.start("space", ["write", "--persistent"] + mode + ["n", "[0]"]).finish()
            let all = try watcher(runner, "--max", "5")
            let takes = try watcher(runner, "--events", "take", "--max", "3")
            try runner.space("write", "n", "[1]", "[2]")
            #expect(try runner.space("take", "n", "[1]").output == "[1]\n")
            #expect(try runner.space("take", "n", "[\"?\"]", "--all").output == "[0]\n[2]\n")
            #expect(try events(all.finish()) == ["write", "write", "take", "take", "take"])
            #expect(try events(takes.finish()) == ["take", "take", "take"])
            try runner.space("delete", "n")
        }
    }

    @Test("Of a take whose output fails nobody is told")
    func failedTake() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[0]")
            let all = try watcher(runner, "--max", "2")
            #expect(try runner.shell("space take n '[0]' > /dev/full").status == 74)
            #expect(try runner.space("take", "n", "[0]").output == "[0]\n")
            try runner.space("write", "n", "[1]")
            #expect(try events(all.finish()) == ["take", "write"])
            try runner.space("delete", "n")
        }
    }

    /// Starts a take that is stuck in its output, because no process reads it.
    private func stuckTake(_ runner: CommandRunner) throws -> RunningCommand {
        let large = "[\"\(String(repeating: "x", count: 300_000))\"]"
        try runner.space("write", "--persistent", "n", "-", input: large)
        let taker = try runner.start("space", ["take", "n", "[\"?\"]"])
        #expect(try eventually { try runner.space("count", "n").output == "0\n" })
        return taker
    }

    @Test("For who begins to watch in the middle of a take the tuple is there, until the take is done")
    func inTheMiddle() throws {
        try withRoot { (runner) throws in
            var taker = try stuckTake(runner)
            var watching = try watcher(runner, "--initial", "--max", "2")
            #expect(try taker.finish().ending == .exited(0))
            #expect(try events(watching.finish()) == ["write", "take"])

            taker = try stuckTake(runner)
            watching = try watcher(runner, "--initial", "--max", "2")
            taker.signal(SIGKILL)
            _ = try taker.wait()
            #expect(try eventually { try runner.space("count", "n").output == "1\n" })
            try runner.space("take", "n", "[\"?\"]")
            #expect(try events(watching.finish()) == ["write", "take"])
            try runner.space("delete", "n")
        }
    }
}
