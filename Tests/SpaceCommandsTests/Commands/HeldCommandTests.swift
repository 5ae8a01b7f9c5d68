import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// A command that runs while its process holds something ends when the hold is lost.
@Suite("Commands that run while something is held", .blocking, .timeLimit(.minutes(5)))
struct HeldCommandTests {
    @Test("A deposed leader's command is asked to end, and its status is 75")
    func deposed() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let script = "trap 'echo asked; exit 0' TERM; echo $$; while :; do sleep 0.01; done"
            let old = try runner.start(
                "space",
                ["elect", "jobs", "e", "--grace", "50s", "--", "/bin/sh", "-c", script]
            )
            guard let line = try old.readLine(), let command = pid_t(line) else { throw TestFailure("no PID") }
            let next = try runner.start("space", ["elect", "jobs", "e", "--", "/bin/sh", "-c", "echo leads; read end"])
            #expect(try eventually { try runner.space("show", "jobs").output.contains("waits for") })
            #expect(try runner.space("elect", "jobs", "e", "--depose").ending == .exited(0))
            #expect(try next.readLine() == "leads")
            let result = try old.finish()
            #expect(result.ending == .exited(75), "\(result.errors)")
            #expect(result.lines.last == "asked")
            #expect(result.errors.contains("election"))
            #expect(kill(command, 0) == -1 && errno == ESRCH)
            // The next leader is not disturbed.
            #expect(try runner.space("elect", "jobs", "e").output.contains(#""pid":\#(next.pid),"#))
            try next.send("end\n")
            #expect(try next.wait() == .exited(0))
        }
    }

    @Test("A command that doesn't end is killed")
    func killed() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let script = "trap '' TERM; echo $$; while :; do sleep 0.01; done"
            let old = try runner.start(
                "space",
                ["elect", "jobs", "e", "--grace", "20ms", "--", "/bin/sh", "-c", script]
            )
            guard let line = try old.readLine(), let command = pid_t(line) else { throw TestFailure("no PID") }
            #expect(try runner.space("elect", "jobs", "e", "--depose").ending == .exited(0))
            #expect(try old.wait() == .exited(75))
            #expect(kill(command, 0) == -1 && errno == ESRCH)
            #expect(try runner.space("elect", "jobs", "e", "--grace", "1s").ending == .exited(64))
        }
    }

    @Test("A lock's command is asked to end once its namespace was deleted and made again")
    func deletedAndMadeAgain() throws {
        try withRoot { (runner) throws in
            let script = "trap 'echo asked; exit 0' TERM; echo holds; while :; do sleep 0.01; done"
            let old = try runner.start("space", ["lock", "jobs", "l", "--", "/bin/sh", "-c", script])
            #expect(try old.readLine() == "holds")
            #expect(try runner.space("delete", "jobs").ending == .exited(0))
            #expect(try runner.space("lock", "jobs", "l", "--", "true").ending == .exited(0))
            #expect(try runner.space("write", "jobs", "[1]").ending == .exited(0))
            #expect(try old.readLine() == "asked")
            _ = try old.wait()
        }
    }

    @Test("A queue's item that goes with its namespace was worked on")
    func deletedQueue() throws {
        try withRoot { (runner) throws in
            for (script, status) in [("space delete jobs", 0), ("space delete jobs; exit 3", 3)] {
                let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]
                try runner.space("queue", "jobs", "q", "put", "1", environment: owner)
                // With a time to wait: to repeat it, or to go on in another namespace, would be wrong.
                let words = ["queue", "jobs", "q", "take", "--wait", "1h", "--", "/bin/sh", "-c", script]
                let result = try runner.start("space", words).finish()
                #expect(result.ending == .exited(Int32(status)), "\(result.errors)")
            }
        }
    }

    @Test("eval runs a command as the other commands do")
    func eval() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("eval", "jobs", "--", "/nonexistent").ending == .exited(127))
            #expect(try runner.space("eval", "jobs", "--", "/").ending == .exited(126))
            #expect(try runner.space("eval", "jobs", "-E", "9", "--wait", "10ms", "--", "sleep", "99").status == 9)
            // The bytes of an argument are passed on as they are.
            let bytes = try runner.shell(
                #"space eval jobs -- sh -c 'echo "[$(printf %s "$1" | wc -c)]"' sh "$(printf '\377\376')""#
            )
            #expect(bytes.status == 0, "\(bytes.errors)")
            // The process that the command has started holds the pipe, and delays no other process.
            let left = try runner.start(
                "space",
                [
                    "eval", "jobs", "--", "/bin/sh", "-c",
                    "sleep 1000 2> /dev/null & echo '[3]'; echo $! > \(runner.root)/.left",
                ]
            )
            #expect(try left.wait() == .exited(0))
            try runner.shell("kill $(cat \(runner.root)/.left); rm \(runner.root)/.left")
            #expect(try runner.tuples("jobs") == ["[1]", "[2]", "[3]"])
            // eval gives its command no input, as the other commands that read none.
            #expect(try runner.space("eval", "jobs", "--", "cat", input: "[4]\n").ending == .exited(1))
        }
    }
}
