import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Completion in the shells themselves, on a terminal: a word is typed, then TAB, then Enter.
///
/// The keys come from other processes. A shell must offer them as data, and evaluate no part of them.
@Suite("Completion in shells", .blocking, .timeLimit(.minutes(5)))
struct CompletionTests {
    /// The shells of this machine that have completions.
    private static let shells = ["bash", "zsh", "fish"].filter { shell in
        ["/bin/", "/usr/bin/"].contains { access($0 + shell, X_OK) == 0 }
    }

    /// Starts an interactive shell that reads no file of its user's, loads the completions, and types lines.
    ///
    /// The script prints what the terminal shows. The words after the shell and its home are what is typed.
    private static let script = #"""
        import fcntl, os, pty, struct, sys, termios
        shell, home, *lines = sys.argv[1:]
        words, load = {
            "bash": (["bash", "--norc", "--noprofile", "-i"], "source <(space --generate-completion-script bash)"),
            "zsh": (["zsh", "-f", "-i"],
                    "autoload -U compinit; compinit -u -D; source <(space --generate-completion-script zsh)"),
            "fish": (["fish", "--no-config", "-i"], "space --generate-completion-script fish | source"),
        }[shell]
        os.environ.update(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, PS1="> ")
        os.environ["TERM"] = "xterm" if shell == "fish" else "dumb"
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(home)
            os.execvp(words[0], words)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
        data = b""
        def until(wanted):
            global data
            while wanted not in data:
                more = os.read(terminal, 65536)
                if not more: sys.exit("the shell has ended")
                data += more
        os.write(terminal, f"{load}; echo LOA''DED\r".encode())
        until(b"LOADED")
        for number, line in enumerate(lines):
            os.write(terminal, line.encode() + f"\recho DO''NE-{number}\r".encode())
            until(f"DONE-{number}".encode())
        sys.stdout.buffer.write(data)
        """#

    /// What a terminal shows after lines were typed.
    private func type(_ lines: [String], in shell: String, _ runner: CommandRunner, home: String) throws -> String {
        let words = ["python3", "-c", Self.script, shell, home] + lines
        let result = try runner.start("/usr/bin/env", words).finish()
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.output
    }

    @Test("A key reaches the command line as it is", arguments: shells)
    func keys(_ shell: String) throws {
        try withRoot { (runner) throws in
            let home = try TemporaryRoot()
            let keys = ["plain", "a b", "it's", #"back\slash"#, "x;touch MADE", "colon:ed", #""q""#, "*", "x > MADE"]
            for (number, key) in keys.enumerated() {
                try runner.space("set", "n\(number)", "--persistent", key, "\(4200 + number)")
            }
            let shown = try type(keys.indices.map { "space get n\($0) \t" }, in: shell, runner, home: home.path)
            for (number, key) in keys.enumerated() {
                #expect(shown.contains("\(4200 + number)\r\n"), "\(key): \(shown)")
            }
            #expect(access("\(home.path)/MADE", F_OK) != 0)
        }
    }

    @Test("The names of ordered sets are completed", arguments: shells)
    func sets(_ shell: String) throws {
        try withRoot { (runner) throws in
            let home = try TemporaryRoot()
            try runner.space("items", "n", "--persistent", "shelf", "append", "4242")
            let shown = try type(["space items n she\t"], in: shell, runner, home: home.path)
            #expect(shown.contains("4242\r\n"), "\(shown)")
        }
    }

    @Test("The namespace may be typed with quotes or backslashes", arguments: shells)
    func quoted(_ shell: String) throws {
        try withRoot { (runner) throws in
            let home = try TemporaryRoot()
            let typed = [#"a\ b"#, #""a b""#, "'a b'", #"a" b""#]
            try runner.space("set", "a b", "--persistent", "key", "4242")
            let shown = try type(typed.map { "space get \($0) k\t" }, in: shell, runner, home: home.path)
            #expect(shown.ranges(of: "4242\r\n").count == typed.count, "\(shown)")
        }
    }

    @Test("No part of a key is evaluated, at the completion or when the line is run", arguments: shells)
    func hostile(_ shell: String) throws {
        try withRoot { (runner) throws in
            let home = try TemporaryRoot()
            let keys = [
                "$(touch MADE)", "`touch MADE`", "`>MADE`", "${x:=$(touch MADE)}", "~/x", "';touch MADE;'",
                "a$(touch MADE)b",
            ]
            for (number, key) in keys.enumerated() {
                try runner.space("set", "n\(number)", "--persistent", key, "1")
            }
            _ = try type(keys.indices.map { "space get n\($0) \t" }, in: shell, runner, home: home.path)
            #expect(access("\(home.path)/MADE", F_OK) != 0)
        }
    }

    @Test("A key with control characters is not offered", arguments: shells)
    func controls(_ shell: String) throws {
        try withRoot { (runner) throws in
            let home = try TemporaryRoot()
            for key in ["k\u{1B}]0;title\u{7}", "k\nline", "k\u{202E}"] {
                try runner.space("set", "n", "--persistent", key, "1")
            }
            try runner.space("set", "n", "kept", "4242")
            let shown = try type(["space get n k\t"], in: shell, runner, home: home.path)
            #expect(shown.contains("4242\r\n"), "\(shown)")
        }
    }
}
