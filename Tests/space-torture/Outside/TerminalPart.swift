import Glibc
import SharedSpace
import SpaceTestSupport

/// Commands that run another, on a real terminal, whose keys are pressed, which hangs up, and whose processes are
/// killed.
///
/// The command that is run tells each signal that it gets. Each must reach it exactly once, whether the terminal sent it
/// to all or a process to `space` alone. No command outlives its `space`, nothing that it held stays held, and the shell
/// gets the terminal back as it was.
struct TerminalPart {
    let options: Options

    func run() -> Report {
        Rounds(part: .terminal, options: options).report([
            .init("finished") { try play($0, "finished") }, .init("early") { try play($0, "early") },
            .init("hangUp") { try play($0, "hangUp") }, .init("killed") { try play($0, "killed") },
            .init("guardianKilled") { try play($0, "guardianKilled") },
            .init("groupKilled") { try play($0, "groupKilled") },
        ])
    }

    private static let wrappers = [
        "lock n l", "semaphore n s --permits 1", "elect n e", "claim n [1]", "queue n q take", "eval n", "own n",
    ]

    private func play(_ round: Round, _ end: String) throws {
        let runner = CommandRunner(root: round.root.path)
        let wrapper = round.one(of: Self.wrappers)
        try runner.space("write", "n", "--persistent", "[1]")
        try runner.space("queue", "n", "q", "put", "1")
        let words = ["python3", "-c", Self.script, end, "\(round.random(0..<Int.max))", "space"]
        let result = try runner.start(
            "/usr/bin/env",
            words + wrapper.split(separator: " ").map(String.init),
            environment: ["PLANT": options.plant == .doubled ? "doubled" : ""]
        ).finish()
        if result.errors.contains("python3: No such file") || result.status == 127 {
            throw Rounds.Skipped(reason: "there is no python3")
        }
        round.check(
            result.ending == .exited(0) && result.output == "good\n",
            "\(wrapper): \(result.ending), \(result.output)\(result.errors.suffix(400))"
        )
        // What was held is free again, at the latest after a tick.
        if !["eval n", "own n"].contains(wrapper) {
            let next = wrapper.split(separator: " ").map(String.init) + ["--wait", "60s", "--", "true"]
            let held = try runner.start("space", next).finish()
            round.check(held.ending == .exited(0), "\(wrapper), the next: \(held.ending), \(held.errors)")
        }
        let check = try runner.dump("--check", "--all")
        round.check(check.ending == .exited(0), "the check: \(check.output)\(check.errors)")
        try runner.space("delete", "n")
    }

    /// Plays one round: its arguments are how it ends, a seed, and the words of the command.
    ///
    /// Processes tell what happens through one pipe, a line each. The session's leader is a small shell with job control.
    private static let script =
        SignalCounter.python
            + #"""
            import random, time
            end, seed, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
            random.seed(seed)
            told, telling = os.pipe()
            orders, ordering = os.pipe()
            os.set_inheritable(telling, True)
            start = """
            # What it starts has left the group, and tells nothing, before anything is told: execve(2) closes the pipe.
            begun, begins = os.pipe()
            rest = os.fork()
            if rest == 0:
                os.setsid()
                os.close(TOLD)
                os.execvp("sleep", ["sleep", "1000"])
            os.close(begins)
            os.read(begun, 1)
            """
            # A key may come while the command begins. Python forgets an interrupt that comes while it imports a module, so
            # there it is a shell, which an interrupt ends until the trap is set. It sleeps by `wait`, as pause() would
            # sleep after a signal that came right before it.
            shellCounter = """
            sleep 100 4>&- & trap "echo 2 >&4" 2; trap "kill $!; echo 15 >&4; exit 3" 15
            echo "ready $$" >&4; while :; do wait; done
            """.replace("4>", "%d>" % telling).replace(">&4", ">&%d" % telling)
            if end == "early": words += ["--", "sh", "-c", shellCounter]
            else: words += ["--", sys.executable, "-S", "-E", "-c", counter(telling, (1, 2, 3, 15, 18), start)]

            def shell():
                for number in signal.SIGTTOU, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP:
                    signal.signal(number, signal.SIG_IGN)
                modes = termios.tcgetattr(0)
                job = os.fork()
                if job == 0:
                    os.setpgid(0, 0)
                    os.tcsetpgrp(0, os.getpid())
                    for number in signal.SIGTTOU, signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP:
                        signal.signal(number, signal.SIG_DFL)
                    os.write(telling, b"job %d\n" % os.getpid())
                    os.execvp(words[0], words)
                while True:
                    _, status = os.waitpid(job, os.WUNTRACED)
                    os.tcsetpgrp(0, os.getpgrp())
                    if not os.WIFSTOPPED(status): break
                    os.write(telling, b"stopped\n")
                    os.read(orders, 1)
                    os.tcsetpgrp(0, job)
                    os.killpg(job, signal.SIGCONT)
                kept = termios.tcgetattr(0) == modes
                os.write(telling, b"ended %d %d\n" % (os.waitstatus_to_exitcode(status), kept))
                os.write(telling, b"typed " + os.read(0, 100))
                os._exit(0)

            def fail(text):
                print(text, "after", did, "seed", seed, flush=True)
                os.killpg(job, signal.SIGKILL)
                os._exit(1)

            buffer = b""
            def line():
                global buffer
                while b"\n" not in buffer:
                    if not select.select([told], [], [], 60)[0]: fail("nothing is told")
                    buffer += os.read(told, 4096)
                found, buffer = buffer.split(b"\n", 1)
                return found.decode()
            def expect(wanted):
                found = line()
                if found != wanted: fail("told %r instead of %r" % (found, wanted))
            def watch(pid):
                try: return os.pidfd_open(pid)
                except ProcessLookupError: return None
            def await_end(descriptor, what):
                if descriptor is not None and not select.select([descriptor], [], [], 60)[0]: fail(what + " goes on")
            def state(pid):
                with open("/proc/%d/stat" % pid) as file: return file.read().rsplit(")", 1)[1].split()[0]
            def poll(condition, otherwise):
                start = time.monotonic()
                while not condition():
                    if time.monotonic() - start > 60: fail(otherwise)
                    time.sleep(0.001)
            def await_stop(pid): poll(lambda: state(pid) == "T", "a command does not stop")
            def is_pending(pid, number):
                with open("/proc/%d/status" % pid) as file:
                    masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigPnd", "ShdPnd"))]
                return any(mask >> (number - 1) & 1 for mask in masks)

            did = []
            leader, terminal = pty.fork()
            if leader == 0: shell()
            os.set_inheritable(telling, False)
            job = 0
            job = int(line().split()[1])
            space = watch(job)

            def finish(allowed):
                """After the job's end the shell has the terminal, and can read a line."""
                found = line().split()
                if found[0] != "ended" or int(found[1]) not in allowed: fail("told %r" % found)
                if found[2] != "1": fail("the terminal's modes differ")
                os.write(terminal, b"hello\n")
                expect("typed hello")

            if end == "early":
                time.sleep(random.random() * 0.12)
                did.append("early key")
                os.write(terminal, b"\x03")
                if os.environ["PLANT"]: os.kill(job, signal.SIGINT)
                heard = 0
                while True:
                    found = line()
                    if found.startswith("ready"): pass
                    elif found == "2":
                        heard += 1
                        os.kill(job, signal.SIGTERM)
                    elif found == "15": pass
                    elif found.startswith("ended"): break
                    else: fail("told %r" % found)
                if heard > 1: fail("heard the key %d times" % heard)
                code = int(found.split()[1])
                # As early as that, the key may have come before the command could be told. Of two signals that space has not
                # taken yet, the later is handled first.
                if code not in (-2, 1, 3) and not (heard and code == -15): fail("ended %d" % code)
                os.write(terminal, b"hello\n")
                expect("typed hello")
                if os.environ["PLANT"] and heard == 0: print("planted", flush=True)
                else: print("good", flush=True)
                os._exit(0)

            ready = line().split()
            command, guardian, rest = map(int, ready[1:])
            isOwn = command == job
            watched = [(watch(command), "the command"), (None if isOwn else watch(rest), "what it has started")]
            sent = []
            def press(key, number):
                did.append("key %d" % number)
                os.write(terminal, key)
                expect(str(number))
                sent.append(number)
                # signal(7): the next one would be lost in one that space has not taken yet.
                poll(lambda: not is_pending(job, number), "space does not take a signal")
                if os.environ["PLANT"]:
                    os.kill(command, number)
            def send(number):
                did.append("signal %d" % number)
                os.kill(job, number)
                expect(str(number))
                sent.append(number)
            def suspend():
                did.append("stop")
                os.write(terminal, b"\x1a")
                expect("stopped")
                await_stop(command)
                os.write(ordering, b"x")
                expect("18")
            for _ in range(random.randrange(6)):
                random.choice([
                    lambda: press(b"\x03", 2), lambda: press(b"\x1c", 3), suspend, lambda: send(2), lambda: send(1),
                    lambda: send(3),
                ])()
            if os.environ["PLANT"]: press(b"\x03", 2)
            did.append(end)
            # What is sent now comes after all that is still on its way.
            if end == "finished":
                send(15)
                # The command has dealt with all signals: its status counts.
                finish([3])
            elif end == "hangUp":
                os.close(terminal)
                expect("1")
                os.kill(job, signal.SIGTERM)
                # The kernel lets the group go on, in case that it is stopped: setpgid(2), exit(2).
                found = line()
                if found == "18": found = line()
                if found != "15": fail("told %r after a hang-up" % found)
            elif end == "killed":
                os.kill(job, signal.SIGKILL)
                finish([-9])
            elif end == "guardianKilled":
                os.kill(command if isOwn else guardian, signal.SIGKILL)
                finish([-9, 1, 65, 137] + [-number for number in sent])
            elif end == "groupKilled":
                os.killpg(job, signal.SIGKILL)
                finish([-9])
            await_end(space, "space")
            for descriptor, what in watched: await_end(descriptor, what)
            if isOwn:
                try: os.kill(rest, signal.SIGKILL)
                except ProcessLookupError: pass
            os.close(telling)
            if buffer: fail("told %r at the end" % buffer)
            print("good", flush=True)
            """#
}
