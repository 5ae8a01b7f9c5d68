import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// A command that is ended from outside takes along the processes that it has started.
@Suite("Commands and the processes they have started", .blocking, .timeLimit(.minutes(5)))
struct CommandTreeTests {
    /// Prints its parent's PID, and those of a child, of a grandchild in a session of its own, and of an orphan; then
    /// waits.
    private static let script = """
        echo $PPID
        sleep 1000 &
        echo $!
        setsid sh -c 'echo $$; exec sleep 1000' &
        (sh -c 'echo $$; exec sleep 1000' &)
        wait
        """

    private func start(_ runner: CommandRunner, _ words: [String]) throws -> (RunningCommand, pids: [pid_t]) {
        // Its output is this test's, so remaining children would hold it open.
        let command = try runner.start("space", words + ["--", "/bin/sh", "-c", Self.script])
        let pids = try (0..<4).map { _ in
            guard let line = try command.readLine(), let pid = pid_t(line) else { throw TestFailure("no PID") }
            return pid
        }
        return (command, pids)
    }

    private func areGone(_ pids: [pid_t]) throws -> Bool {
        try eventually { pids.allSatisfy { kill($0, 0) == -1 && errno == ESRCH } }
    }

    @Test(
        "When the process that holds is killed, no process of the command goes on",
        arguments: [
            ["lock", "jobs", "n"], ["semaphore", "jobs", "n", "--permits", "1"], ["elect", "jobs", "n"],
            ["rate", "jobs", "n", "--limit", "1", "--per", "1s"],
        ]
    )
    func killed(_ words: [String]) throws {
        try withRoot { (runner) throws in
            let (command, pids) = try self.start(runner, words)
            command.signal(SIGKILL)
            #expect(try command.finish().ending == .signalled(SIGKILL))
            #expect(try self.areGone(pids))
        }
    }

    @Test("When a signal asks the process that holds to end, no process of the command goes on")
    func terminated() throws {
        try withRoot { (runner) throws in
            let (command, pids) = try self.start(runner, ["lock", "jobs", "n"])
            command.signal(SIGTERM)
            #expect(try command.finish().ending == .signalled(SIGTERM))
            #expect(try self.areGone(pids))
        }
    }

    @Test("A killed guardian takes all processes of the command along")
    func guardianKilled() throws {
        try withRoot { (runner) throws in
            let (command, pids) = try self.start(runner, ["lock", "jobs", "n"])
            #expect(pids[0] != command.pid)
            kill(pids[0], SIGKILL)
            #expect(try command.finish().ending == .exited(128 + SIGKILL))
            #expect(try self.areGone(pids))
            // The lock is free again.
            #expect(try runner.space("lock", "jobs", "--wait", "0", "n", "--", "true").ending == .exited(0))
        }
    }

    @Test("Processes that a command leaves behind when it ends by itself go on")
    func leftBehind() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(
                "space lock jobs n -- sh -c 'sleep 1000 > /dev/null 2>&1 & echo $!; exit 3'; echo $?"
            )
            #expect(result.lines.last == "3", "\(result.errors)")
            guard let line = result.lines.first, let pid = pid_t(line) else { throw TestFailure("no PID") }
            #expect(kill(pid, SIGKILL) == 0)
        }
    }

    @Test(
        "A command reads from the terminal",
        .enabled(if: access("/usr/bin/script", X_OK) == 0, "script(1) makes the terminal")
    )
    func terminal() throws {
        try withRoot { (runner) throws in
            let read = try runner.shell(
                #"echo word | script -qec "space lock jobs n -- sh -c 'read a; echo got \$a'" /dev/null"#
            )
            #expect(read.output.contains("got word"), "\(read.output)\(read.errors)")
        }
    }

    @Test("A request whose time is over ends the command that serves it, and the next one is answered")
    func hungResponder() throws {
        try withRoot { (runner) throws in
            let script = "read a; [ $a = 1 ] || exec echo $a; trap '' TERM; sleep 1000 & echo $! >&2; wait; wait"
            let responder = try runner.start("space", ["respond", "jobs", "f", "--", "/bin/sh", "-c", script])
            #expect(try runner.space("request", "jobs", "f", "2", "--wait", "1m").output == "2\n")
            #expect(try runner.space("request", "jobs", "f", "1", "--wait", "100ms").ending == .exited(1))
            #expect(try runner.space("request", "jobs", "f", "3", "--wait", "1m").output == "3\n")
            // The process that asks is killed.
            let asking = try runner.start("space", ["request", "jobs", "f", "1", "--wait"])
            #expect(try eventually { try runner.space("show", "jobs", "--json").output.contains(#""requests":[{"#) })
            asking.signal(SIGKILL)
            try asking.wait()
            #expect(try runner.space("request", "jobs", "f", "4", "--wait", "1m").output == "4\n")
            responder.signal(SIGTERM)
            let result = try responder.finish()
            #expect(result.ending == .signalled(SIGTERM))
            #expect(try self.areGone(result.errors.split(separator: "\n").compactMap { pid_t($0) }))
        }
    }

    /// The end of a command does not orphan the process group of the script that ran it, as the end of a child of a process in
    /// another group of the session does: the kernel would hang up on all of it.
    @Test(
        "A stopped process beside a command ends no script",
        arguments: ["lock jobs L", "semaphore jobs S --permits 1", "elect jobs E"]
    )
    func aStoppedProcessBesideIt(_ words: String) throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "k", "1", "--persistent")
            let script = """
                sleep 1000 & P=$!
                kill -STOP $P; until grep -q 'State:.T' /proc/$P/status; do :; done
                space \(words) -- true; echo "after $?"
                kill -KILL $P
                """
            let seen = try runner.shell("setsid --wait sh -c '\(script.replacing("'", with: "'\\''"))'")
            #expect(seen.output == "after 0\n", "\(seen)")
        }
    }
}
