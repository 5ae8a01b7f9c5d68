import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// `space top` on a terminal that it does not keep: it is stopped, quit, or the terminal goes.
@Suite("A screen that is given back", .blocking, .timeLimit(.minutes(5)))
struct TopTerminalTests {
    /// What the scripts below have in common: a terminal of 100 columns and 30 rows, and waits for a text on it.
    private static let common = #"""
        import fcntl, os, pty, signal, struct, sys, termios
        data = b""
        def until(wanted):
            global data
            start = len(data)
            while wanted not in data[start:]: data += os.read(terminal, 65536)
        def rest():
            global data
            while True:
                try: more = os.read(terminal, 65536)
                except OSError: break
                if not more: break
                data += more
        def size():
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))

        """#

    /// Runs a script that starts `space top` on a terminal, in a root with a namespace, and looks at what it prints.
    private func expect(_ output: String, of script: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let words = ["python3", "-c", Self.common + script, "space", "top", "--interval", "1h"]
            let result = try runner.start("/usr/bin/env", words).finish()
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(result.output == output)
            try runner.space("delete", "n")
        }
    }

    @Test("On a dumb terminal it prints lines")
    func dumb() throws {
        try expect(
            "lines\n",
            of: #"""
                os.environ["TERM"] = "dumb"
                pid, terminal = pty.fork()
                if pid == 0: os.execvp(sys.argv[1], sys.argv[1:] + ["--max", "1"])
                rest()
                os.waitpid(pid, 0)
                print("lines" if b"NAMESPACE" in data and b"\x1b" not in data else data)
                """#
        )
    }

    /// A shell with job control, which tells at each stop and at the end how it got the terminal back.
    ///
    /// Before it lets the command go on, it sets the terminal as it needs it itself.
    private static let shell = #"""
        pid, terminal = pty.fork()
        if pid == 0:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            modes = termios.tcgetattr(0)
            job = os.fork()
            if job == 0:
                os.setpgid(0, 0)
                os.tcsetpgrp(0, os.getpid())
                signal.signal(signal.SIGTTOU, signal.SIG_DFL)
                os.execvp(sys.argv[1], sys.argv[1:])
            while True:
                _, status = os.waitpid(job, os.WUNTRACED)
                os.tcsetpgrp(0, os.getpgrp())
                found = termios.tcgetattr(0)[3] & (termios.ICANON | termios.ECHO)
                whole = "whole" if found == modes[3] & (termios.ICANON | termios.ECHO) else "raw"
                print("\nSTOPPED" if os.WIFSTOPPED(status) else "\nENDED", whole, flush=True)
                if not os.WIFSTOPPED(status): os._exit(0)
                termios.tcsetattr(0, termios.TCSANOW, modes)
                os.tcsetpgrp(0, job)
                os.killpg(job, signal.SIGCONT)
        size()

        """#

    @Test("A stop gives the screen back, and after it keys and screen are the command's again")
    func stop() throws {
        try expect(
            "left True\nentered True\n['STOPPED', 'whole'] ['ENDED', 'whole']\n",
            of: Self.shell + #"""
                until(b"q ends")
                before = len(data)
                os.write(terminal, b"\x1a")
                until(b"STOPPED")
                stop = data.index(b"STOPPED")
                print("left", b"\x1b[?25h\x1b[?1049l" in data[before:stop])
                if data.find(b"q ends", stop) < 0: until(b"q ends")
                print("entered", b"\x1b[?1049h\x1b[?25l" in data[stop:])
                os.write(terminal, b"q")
                rest()
                print(data[stop:].decode().split()[:2], data.decode().split()[-2:])
                """#
        )
    }

    @Test("After a stop by another process, keys need no Enter")
    func stopFromOutside() throws {
        try expect(
            "['ENDED', 'whole']\n",
            of: Self.shell + #"""
                until(b"q ends")
                before = len(data)
                os.killpg(os.tcgetpgrp(terminal), signal.SIGSTOP)
                until(b"STOPPED")
                if data.find(b"q ends", before) < 0: until(b"q ends")
                os.write(terminal, b"q")
                rest()
                print(data.decode().split()[-2:])
                """#
        )
    }

    @Test("SIGQUIT ends the command, after the screen was given back")
    func quit() throws {
        try expect(
            "-3 True\n",
            of: #"""
                import resource
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                begin = os.pipe()
                pid, terminal = pty.fork()
                if pid == 0:
                    os.read(begin[0], 1)
                    os.execvp(sys.argv[1], sys.argv[1:])
                size()
                before = termios.tcgetattr(terminal)[3]
                os.write(begin[1], b"x")
                until(b"q ends")
                os.write(terminal, b"\x1c")
                until(b"\x1b[?25h\x1b[?1049l")
                status = os.waitpid(pid, 0)[1]
                print(os.waitstatus_to_exitcode(status), termios.tcgetattr(terminal)[3] == before)
                """#
        )
    }

    @Test(
        "A command that ignores SIGHUP ends when its terminal has gone",
        arguments: ["0", "os.open('/dev/null', os.O_RDONLY)"]
    )
    func hangup(_ input: String) throws {
        try expect(
            "74\n",
            of: #"""
                pid, terminal = pty.fork()
                if pid == 0:
                    signal.signal(signal.SIGHUP, signal.SIG_IGN)
                    os.dup2(\#(input), 0)
                    os.execvp(sys.argv[1], sys.argv[1:])
                size()
                until(b"q ends")
                os.close(terminal)
                print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                """#
        )
    }

    @Test("On a small screen both lists have room, the rest is counted, and a long name does not hide the columns")
    func small() throws {
        try withRoot { (runner) throws in
            let long = String(repeating: "L", count: 200)
            let names = [long] + (10..<22).map { "n\($0)" }
            for name in names { try runner.space("write", "--persistent", name, "[1]") }
            let holder = try runner.start("space", ["lock", "n15", "the-lock", "--", "sh", "-c", "echo held; read go"])
            #expect(try holder.readLine() == "held")
            let script =
                Self.common + #"""
                    pid, terminal = pty.fork()
                    if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
                    size()
                    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 14, 100, 0, 0))
                    # The first screen may be of another size; a key brings the next one.
                    until(b"q ends")
                    os.write(terminal, b"n")
                    until(b"q ends")
                    before = len(data)
                    os.write(terminal, b"q")
                    rest()
                    screen = data[data.rindex(b"\x1b[H", 0, data.rindex(b"q ends")):].split(b"\x1b[J")[0]
                    print(screen.decode())
                    """#
            let words = ["python3", "-c", script, "space", "top", "--interval", "1h"]
            let result = try runner.start("/usr/bin/env", words).finish()
            #expect(result.ending == .exited(0), "\(result.errors)")
            let shown = result.output
            #expect(shown.contains(String(repeating: "L", count: 39) + "…  1 "), "\(shown)")
            #expect(shown.contains("namespaces more") && shown.contains("lock the-lock"), "\(shown)")
            #expect(shown.split(separator: "\r\n").count <= 14, "\(shown)")
            try holder.send("go\n")
            _ = try holder.finish()
            for name in names { try runner.space("delete", name) }
        }
    }
}
