import Glibc
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Signals to a command's process group, and to `space`: which processes end, in each order in which they may notice it.
///
/// A process is stopped while the signals come. So all signals are pending before it goes on, and chance has no say in
/// their order.
@Suite("Commands and signals", .blocking, .timeLimit(.minutes(5)))
struct CommandSignalTests {
    /// A command that runs under a guardian.
    private struct Started {
        let space: RunningCommand
        let guardian: pid_t
        let command: pid_t
        /// A process that the command has started, in a session of its own.
        let descendant: pid_t

        func hasEnded(_ pid: pid_t) -> Bool {
            // proc(5): the state of a process that has ended and was not waited for is Z.
            kill(pid, 0) == -1 && errno == ESRCH || state(of: pid) == "Z"
        }

        /// Stops a process, and returns once it has stopped.
        func stop(_ pid: pid_t) throws {
            #expect(kill(pid, SIGSTOP) == 0)
            #expect(try eventually { state(of: pid) == "T" })
        }

        private func state(of pid: pid_t) -> Substring? {
            let text = text(of: pid, "stat")
            guard let end = text.lastIndex(of: ")") else { return nil }
            return text[end...].split(separator: " ").dropFirst().first
        }

        /// Whether a signal is pending for the process.
        func isPending(_ number: Int32, _ pid: pid_t) -> Bool {
            // proc(5): the signals that are pending for the process as a whole, as a mask.
            let line = text(of: pid, "status").split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
            let mask = line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
            return mask & 1 << UInt64(number - 1) != 0
        }

        func text(of pid: pid_t, _ file: String) -> String {
            let bytes = try? FileBytes.read(at: AT_FDCWD, "/proc/\(pid)/\(file)", limit: 1 << 16)
            return String(decoding: bytes ?? [], as: UTF8.self)
        }
    }

    private func start(_ runner: CommandRunner, _ words: [String] = ["lock", "jobs", "n"]) throws -> Started {
        let script = """
            echo $PPID
            echo $$
            setsid sleep 1000 > /dev/null 2>&1 &
            echo $!
            wait
            """
        let space = try runner.start("space", words + ["--", "/bin/sh", "-c", script])
        let pids = try (0..<3).map { _ in
            guard let line = try space.readLine(), let pid = pid_t(line) else { throw TestFailure("no PID") }
            return pid
        }
        let started = Started(space: space, guardian: pids[0], command: pids[1], descendant: pids[2])
        // From here on `space` only waits. Earlier, it would wait for the stopped guardian.
        #expect(try eventually { started.text(of: started.guardian, "comm") == "space-guardian\n" })
        return started
    }

    @Test("A salvage, which looks at all before it prints, does not hold a signal back")
    func lookingAtAll() throws {
        try withRoot { (runner) throws in
            let lines = (0..<3000).map { "[\($0), \"\(String(repeating: "x", count: 60))\"]" }.joined(separator: "\n")
            try runner.space("write", "n", "-", "--owner", "none", "--persistent", input: lines)
            let dump = try runner.start("space-dump", ["--salvage", "n"])
            #expect(try dump.readLine() != nil)
            // What it prints does not fit into the pipe, so it is still there. proc(5): the signals with a handler, as a mask.
            let status = try FileBytes.read(at: AT_FDCWD, "/proc/\(dump.pid)/status", limit: 1 << 16)
            let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("SigCgt:") }
            let caught = try #require(line?.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) })
            for number in [SIGTERM, SIGINT, SIGHUP] { #expect(caught & 1 << UInt64(number - 1) == 0) }
            kill(dump.pid, SIGTERM)
            #expect(try dump.finish().ending == .signalled(SIGTERM))
        }
    }

    @Test("A guardian that sees a signal and the command's end at once leaves nothing", arguments: [SIGTERM, SIGHUP])
    func passedOnLate(_ number: Int32) throws {
        try withRoot { (runner) throws in
            let started = try self.start(runner)
            try started.stop(started.guardian)
            started.space.signal(number)
            // space has passed it on: such signals are queued.
            #expect(try eventually { started.isPending(__libc_current_sigrtmin() + 4, started.guardian) })
            // The command ends by the same signal before its guardian passes it on.
            #expect(kill(started.command, number) == 0)
            #expect(try eventually { started.hasEnded(started.command) })
            #expect(kill(started.guardian, SIGCONT) == 0)
            #expect(try started.space.wait() == .signalled(number))
            #expect(try eventually { started.hasEnded(started.descendant) })
        }
    }

    @Test(
        "A signal to the whole process group leaves no process behind, whichever sees it first",
        arguments: [SIGINT, SIGTERM, SIGQUIT]
    )
    func wholeGroup(_ number: Int32) throws {
        try withRoot { (runner) throws in
            let started = try self.start(runner)
            // The guardian sees the command's end, and afterwards `space` sees the signal.
            try started.stop(started.space.pid)
            #expect(kill(-started.space.pid, number) == 0)
            #expect(try eventually { started.hasEnded(started.command) })
            started.space.signal(SIGCONT)
            #expect(try started.space.wait() == .signalled(number))
            #expect(try eventually { started.hasEnded(started.descendant) })
        }
    }

    @Test("A command killed together with space leaves no process behind")
    func killedTogether() throws {
        try withRoot { (runner) throws in
            let started = try self.start(runner)
            try started.stop(started.guardian)
            #expect(kill(-started.space.pid, SIGKILL) == 0)
            #expect(try started.space.wait() == .signalled(SIGKILL))
            #expect(try eventually { started.hasEnded(started.command) })
            #expect(kill(started.guardian, SIGCONT) == 0)
            #expect(try eventually { started.hasEnded(started.descendant) })
        }
    }

    @Test("A deposed leader's command that ends before its guardian looks leaves no process behind")
    func deposed() throws {
        try withRoot { (runner) throws in
            let started = try self.start(runner, ["elect", "jobs", "n", "--grace", "1h"])
            try started.stop(started.guardian)
            #expect(try runner.space("elect", "jobs", "n", "--depose").ending == .exited(0))
            // `space` has noticed that it was deposed: its SIGTERM to the guardian is pending.
            #expect(try eventually { started.isPending(SIGTERM, started.guardian) })
            #expect(kill(started.command, SIGTERM) == 0)
            #expect(try eventually { started.hasEnded(started.command) })
            #expect(kill(started.guardian, SIGCONT) == 0)
            #expect(try started.space.wait() == .exited(75))
            #expect(try eventually { started.hasEnded(started.descendant) })
        }
    }

    @Test("Each signal is passed on, also after one that the command has survived")
    func eachSignal() throws {
        try withRoot { (runner) throws in
            let script = """
                for n in INT HUP; do trap "echo $n" $n; done
                trap 'count=1$count; echo TERM $count; [ $count = 11 ] && exit 3' TERM
                echo ready
                while :; do sleep 0.01; done
                """
            let space = try runner.start("space", ["lock", "jobs", "n", "--", "/bin/sh", "-c", script])
            #expect(try space.readLine() == "ready")
            for (number, answer) in [
                (SIGINT, "INT"), (SIGHUP, "HUP"), (SIGTERM, "TERM 1"), (SIGINT, "INT"), (SIGTERM, "TERM 11"),
            ] {
                space.signal(number)
                #expect(try space.readLine() == answer)
            }
            // The command has dealt with all of them: its status counts.
            #expect(try space.wait() == .exited(3))
        }
    }

    /// Runs words with a command that ends with a status when it gets SIGTERM, and sends it to `space`.
    private func ended(_ runner: CommandRunner, _ words: String, by status: Int32) throws -> Ending {
        let script = "trap 'kill $!; exit \(status)' TERM; sleep 1000 & echo ready; wait"
        let words = words.split(separator: " ").map(String.init) + ["--", "/bin/sh", "-c", script]
        let space = try runner.start("space", words)
        #expect(try space.readLine() == "ready")
        space.signal(SIGTERM)
        return try space.finish().ending
    }

    @Test(
        "The status of a command that ends by itself after a signal counts",
        arguments: [
            ("lock jobs n", 0), ("lock jobs n", 7), ("semaphore jobs s --permits 2", 7), ("elect jobs e", 7),
            ("rate jobs r --limit 9 --per 1m", 7), ("claim jobs [1]", 0), ("claim jobs [1]", 7),
            ("queue jobs q take", 0), ("queue jobs q take", 7), ("queue jobs q take", 65),
        ] as [(String, Int32)]
    )
    func statusAfterASignal(_ words: String, _ status: Int32) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "--persistent")
            try runner.space("queue", "jobs", "q", "put", "1")
            #expect(try ended(runner, words, by: status) == .exited(status))
            // What it had is done, there again or buried, as the status says.
            #expect(try runner.tuples("jobs") == (words.hasPrefix("claim") && status == 0 ? [] : ["[1]"]))
            let counts = try runner.space("queue", "jobs", "q", "count").output
            let isTaken = words.hasPrefix("queue") && status != 7
            #expect(counts.contains(isTaken ? #""ready":0,"# : #""ready":1,"#), "\(counts)")
            #expect(counts.contains(status == 65 ? #""buried":1"# : #""buried":0"#), "\(counts)")
        }
    }

    @Test("A worker that goes on for ever is ended by the signal", arguments: ["claim jobs [1]", "queue jobs q take"])
    func forever(_ words: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "--persistent")
            try runner.space("queue", "jobs", "q", "put", "1")
            #expect(try ended(runner, "\(words) --forever", by: 0) == .signalled(SIGTERM))
            #expect(try runner.tuples("jobs").isEmpty == words.hasPrefix("claim"))
        }
    }

    @Test("A command that a signal prevented, or that can't be started, is no delivery")
    func neverRan() throws {
        try withRoot { (runner) throws in
            let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]
            func space(_ words: String...) throws -> CommandResult {
                try runner.start("space", words, environment: owner).finish()
            }
            #expect(try space("queue", "jobs", "q", "put", "1", "--deliveries", "1").status == 0)
            #expect(try space("write", "jobs", "[1]").status == 0)
            #expect(try space("bury", "jobs", "--after", "1").status == 0)
            for words in ["queue jobs q take --deliveries 1", "claim jobs '[1]'"] {
                // The signal is pending when `space` begins, so `space` notes it before it takes an item.
                let asked = try runner.start(
                    "/usr/bin/env",
                    [
                        "--block-signal=INT", "/bin/sh", "-c",
                        "kill -INT $$; exec space \(words) -- sh -c 'echo ran; exit 1'",
                    ],
                    environment: owner
                ).finish()
                #expect(asked.ending == .signalled(SIGINT))
                #expect(asked.output == "")
                let missing = try runner.shell("exec space \(words) -- /no/such/command", environment: owner)
                #expect(missing.status == 127)
            }
            #expect(try space("queue", "jobs", "q", "count").output.contains(#""ready":1,"#))
            #expect(try space("queue", "jobs", "q", "buried").output == "")
            #expect(try space("claims", "jobs", "--buried").output == "")
            #expect(try runner.tuples("jobs") == ["[1]"])
            // A command that ran counts as a delivery.
            #expect(try space("queue", "jobs", "q", "take", "--deliveries", "1", "--", "false").status == 1)
            #expect(try space("queue", "jobs", "q", "buried").output != "")
            #expect(try space("claim", "jobs", "[1]", "--", "false").status == 1)
            #expect(try space("claims", "jobs", "--buried").output != "")
        }
    }
}
