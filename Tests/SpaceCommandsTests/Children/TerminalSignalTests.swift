import SpaceTestSupport
import SpaceTesting
import Testing

/// Keys on a real terminal, and its hang-up: how often each signal reaches the command that `space` runs.
@Suite("Signals of a terminal", .blocking, .timeLimit(.minutes(5)))
struct TerminalSignalTests {
    /// Commands that run another, up to `--`; `own` becomes the other.
    static let wrappers = [
        "lock n l", "semaphore n s --permits 2", "elect n e", "claim n [1]", "queue n q take", "eval n", "own n",
        "rate n r --limit 9 --per 1s", "respond n r --once",
    ]

    /// What the scripts below have in common: a command that tells each signal that it gets.
    ///
    /// SIGTERM always comes from a process; what was sent before it has arrived before it.
    private static let common =
        SignalCounter.python
            + #"""
            told, telling = os.pipe()
            os.set_inheritable(telling, True)
            words = sys.argv[1:] + ["--", sys.executable, "-c", counter(telling, (1, 2, 3, 15))]
            source = os.fdopen(told)
            def line(): return source.readline().strip()
            def kill(pid, number): os.kill(pid, number)
            # In a session's leader: starts a job, as a shell does, and tells its PID.
            def start_job(is_foreground):
                signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                if os.fork() != 0: return
                os.setpgid(0, 0)
                if is_foreground: os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                os.write(telling, b"%d\n" % os.getpid())
                os.execvp(words[0], words)

            """#

    /// How `space` ends: with the status of the command that has dealt with the signals, as `own` does, which becomes it.
    ///
    /// A responder's commands answer requests, and their statuses are the requests'.
    private static func ending(_ wrapper: String, by number: Int) -> Int { wrapper.hasPrefix("respond") ? -number : 3 }

    private func expect(_ output: String, of script: String, _ wrapper: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.space("queue", "n", "q", "put", "1")
            let requests =
                wrapper.hasPrefix("respond") ? try runner.start("space", ["request", "n", "r", "--wait"]) : nil
            let words =
                ["python3", "-c", Self.common + script, "space"] + wrapper.split(separator: " ").map(String.init)
            let result = try runner.start("/usr/bin/env", words).finish()
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(result.output == output, "\(wrapper)")
            requests?.signal(9)
            try runner.space("delete", "n")
        }
    }

    @Test("A key reaches the command once, and a signal to space too", arguments: wrappers)
    func keys(_ wrapper: String) throws {
        try expect(
            "2 3 2 15\n\(Self.ending(wrapper, by: 2))\n",
            of: #"""
                pid, terminal = pty.fork()
                if pid == 0: os.execvp(words[0], words)
                os.close(telling)
                command = int(line().split()[1])
                heard = []
                for key, number in (b"\x03", 2), (b"\x1c", 3):
                    # While it is stopped, space can't pass the signal on: what the command hears comes from the terminal.
                    if pid != command:
                        kill(pid, signal.SIGSTOP)
                        os.waitpid(pid, os.WUNTRACED)
                    os.write(terminal, key)
                    heard.append(line())
                    kill(pid, signal.SIGCONT)
                # signal(7): of a standard signal one at most is pending, so the next would be lost with it.
                def isPending():
                    with open(f"/proc/{pid}/status") as status:
                        return any(int(row.split()[1], 16) for row in status if row[:6] in ("SigPnd", "ShdPnd"))
                while isPending(): os.sched_yield()
                kill(pid, signal.SIGINT)
                heard.append(line())
                kill(pid, signal.SIGTERM)
                heard += source.read().split()
                print(*heard)
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
                # Two that are pending are handled in any order.
                print(-2 if code == -3 else code)
                """#,
            wrapper
        )
    }

    @Test("A hang-up reaches the command of the session's leader once", arguments: wrappers)
    func hangUpOfLeader(_ wrapper: String) throws {
        try expect(
            "1 15\n\(Self.ending(wrapper, by: 1))\n",
            of: #"""
                pid, terminal = pty.fork()
                if pid == 0: os.execvp(words[0], words)
                os.close(telling)
                command = int(line().split()[1])
                os.close(terminal)
                heard = [line()]
                kill(pid, signal.SIGTERM)
                heard += source.read().split()
                print(*heard)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                """#,
            wrapper
        )
    }

    @Test("A hang-up that ends a shell reaches the command in the foreground once", arguments: wrappers)
    func hangUpOfShell(_ wrapper: String) throws {
        try expect(
            "1 15\n",
            of: #"""
                leader, terminal = pty.fork()
                if leader == 0:
                    start_job(True)
                    while True: signal.pause()
                os.close(telling)
                pid = int(line())
                line()
                space = os.pidfd_open(pid)
                os.close(terminal)
                heard = [line()]
                kill(pid, signal.SIGTERM)
                heard += source.read().split()
                print(*heard)
                os.waitpid(leader, 0)
                select.select([space], [], [])
                """#,
            wrapper
        )
    }

    @Test("A key reaches a command that has left the process group, because space passes it on")
    func otherGroup() throws {
        try expect(
            "2 15\n3\n",
            of: #"""
                words = [word.replace("import os", "import os; os.setpgid(0, 0); import os") for word in words]
                pid, terminal = pty.fork()
                if pid == 0: os.execvp(words[0], words)
                os.close(telling)
                line()
                os.write(terminal, b"\x03")
                heard = [line()]
                kill(pid, signal.SIGTERM)
                heard += source.read().split()
                print(*heard)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                """#,
            "lock n l"
        )
    }

    @Test("A signal to space reaches the command also behind a key that the guardian got and has not taken yet")
    func behindKeyOfGuardian() throws {
        try expect(
            "2 15\n",
            of: #"""
                import fcntl
                leader, terminal = pty.fork()
                if leader == 0:
                    start_job(False)
                    os.close(telling)
                    while True: signal.pause()
                os.close(telling)
                pid = int(line())
                guardian = int(line().split()[2])
                def status(pid):
                    with open(f"/proc/{pid}/status") as rows:
                        return {name: value.strip() for name, _, value in (row.partition(":") for row in rows)}
                def isPending(pid): return int(status(pid)["ShdPnd"], 16) != 0
                kill(guardian, signal.SIGSTOP)
                while status(guardian)["State"][0] != "T": os.sched_yield()
                # As from a key before the guardian left the terminal's group: the signal comes from the kernel.
                reading, writing = os.pipe()
                fcntl.fcntl(reading, fcntl.F_SETOWN, guardian)
                fcntl.fcntl(reading, fcntl.F_SETSIG, signal.SIGINT)
                fcntl.fcntl(reading, fcntl.F_SETFL, os.O_ASYNC)
                os.write(writing, b"x")
                while not isPending(guardian): os.sched_yield()
                kill(pid, signal.SIGINT)
                # It has passed the signal on when it sleeps again.
                while isPending(pid) or status(pid)["State"][0] != "S": os.sched_yield()
                kill(guardian, signal.SIGCONT)
                kill(pid, signal.SIGTERM)
                print(*source.read().split())
                kill(leader, signal.SIGKILL)
                """#,
            "lock n l"
        )
    }

    @Test("An alarm that was set before it ends a command, and reaches the one that it runs")
    func alarm() throws {
        try withRoot { (runner) throws in
            let set = "import os, signal, sys; signal.alarm(1); os.execvp(sys.argv[1], sys.argv[1:])"
            let waiting = try runner.start(
                "/usr/bin/env",
                ["python3", "-c", set, "space", "take", "n", "--wait", "[1]"]
            )
            #expect(try waiting.finish().ending == .signalled(14))
            let script = "trap 'echo alarm; exit 4' ALRM; echo ready; while :; do sleep 0.01; done"
            let holding = try runner.start("space", ["lock", "n", "l", "--", "sh", "-c", script])
            #expect(try holding.readLine() == "ready")
            holding.signal(14)
            #expect(try holding.readLine() == "alarm")
            #expect(try holding.wait() == .exited(4))
        }
    }
}
