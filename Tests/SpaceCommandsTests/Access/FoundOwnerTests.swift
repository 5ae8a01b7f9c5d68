import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// One of the usual ways to call a command.
private struct Way: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let script: String

    init(_ name: String, _ script: String) {
        testDescription = name
        self.script = script
    }

    /// `PUT` stands for a command that makes a namespace.
    ///
    /// A `:` behind a command keeps the shell that calls it: without, some shells become the last command.
    static let all = [
        Way("the shell itself", "PUT"),
        Way("a subshell", "( PUT; : )"),
        Way("a loop behind a pipe", "echo 1 | while read -r n; do PUT; done"),
        Way("xargs", "echo mail | xargs -I QUEUE space queue jobs QUEUE put 1"),
        Way("find -exec", #"find / -maxdepth 0 -exec PUT \;"#),
        Way("timeout", "timeout 1h PUT"),
        Way("time", "$(command -v time || echo env) PUT"),
        Way("sh -c", "sh -c 'PUT; true'"),
        Way("a subprocess of Python", #"python3 -c 'import subprocess; subprocess.run("PUT".split(), check=True)'"#),
        Way("a trap at the exit", "bash -c 'trap \"PUT\" EXIT; true'"),
        Way("make", #"printf 'all:\n\t@PUT; :\n' | make -s -f -"#),
        Way("flock", #"flock "$SHARED_SPACE_ROOT/.lock" PUT"#),
        Way("env", "env A=b PUT"),
        Way("nohup", "nohup PUT"),
        Way("setsid", "setsid --wait PUT"),
        Way("bash -c", "bash -c 'PUT'"),
        Way("a command substitution", "id=$(PUT; :)"),
        Way("the background", "PUT & wait"),
        Way("a function", "f() { PUT; }; f"),
        Way("eval", "eval 'PUT'"),
        Way("a loop over lines", "while read -r n; do PUT; done <<< 1"),
        Way("nice", "nice PUT"),
    ].map { Way($0.testDescription, $0.script.replacing("PUT", with: "space queue jobs mail put 1")) }
}

/// The owner of a command that was told none: the session leader, or the parent.
@Suite("The owner that is found", .blocking, .timeLimit(.minutes(5)))
struct FoundOwnerTests {
    @Test("What was put stays when the helper that called the command has ended", arguments: Way.all)
    private func stays(_ way: Way) throws {
        try withRoot { (runner) throws in
            // The shell leads the session, as a terminal's does.
            let script =
                "mkdir -p \"$SHARED_SPACE_ROOT\"; { \(way.script); } > /dev/null; space queue jobs mail take -- cat; :"
            let result = try runner.start("/bin/bash", ["-c", script]).finish()
            #expect(result.output == "1\n", "\(result.errors)")
            #expect(try runner.space("list").output == "")
        }
    }

    /// Expects that a namespace made by a script has one owner, the process whose PID the script has printed first.
    private func expectOwner(_ result: CommandResult) throws {
        let shell = try #require(result.lines.first, "\(result.errors)")
        #expect(result.output.ranges(of: "\"pid\":").count == 1, "\(result.output)\(result.errors)")
        #expect(result.output.contains("\"pid\":\(shell),"), "\(result.output)\(result.errors)")
    }

    @Test("A command that leads its session belongs to its parent")
    func leading() throws {
        try withRoot { (runner) throws in
            try expectOwner(try runner.shell("echo $$; setsid space set jobs k 1; space show jobs --json"))
        }
    }

    @Test("Where the leader has exited, the parent is the owner")
    func ended() throws {
        try withRoot { (runner) throws in
            // The leader ends at once; its child waits for that. A leader whose parent has not waited for it is a zombie.
            let result = try runner.shell(
                """
                ( while read -r _ _ state _ < /proc/$$/stat && [ "$state" != Z ]; do :; done
                exec sh -c 'echo $$; space set jobs k 1; space show jobs --json' ) &
                """
            )
            try expectOwner(result)
        }
    }

    /// The command has found the leader, and waits for the namespace's door when the leader exits.
    @Test("If the leader exits between the look and the enrolment, the parent is the owner")
    func exiting() throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let owner = try Agent(root, "jobs")
        let opening = try Agent()
        try opening.run("arm stop doorTaken")
        try opening.send("open \(root.path) jobs")
        try opening.waitUntilStopped()
        let script = "echo $$; space set jobs k 1 --timeout 10m & echo $!; wait $!; echo $?; read -r end"
        let leader = try runner.start("/bin/sh", ["-c", "exec 3<&0; sh -c '\(script)' <&3 & wait"])
        let parent = try #require(try leader.readLine())
        let command = try #require(try leader.readLine())
        #expect(
            try eventually {
                String(decoding: try bytes(ofFile: "/proc/\(command)/wchan"), as: UTF8.self).contains("futex")
            }
        )
        leader.signal(SIGKILL)
        #expect(try leader.wait() == .signalled(SIGKILL))
        opening.resume()
        #expect(try opening.line()?.hasPrefix("ok") == true)
        #expect(try leader.readLine() == "0")
        // No other owner is left, and what was put is there.
        try opening.kill()
        try owner.kill()
        let shown = try runner.space("show", "jobs", "--json").output
        #expect(shown.ranges(of: "\"pid\":").count == 1 && shown.contains("\"pid\":\(parent),"), "\(shown)")
        #expect(try runner.space("get", "jobs", "k", "--owner", "none").output == "1\n")
        leader.closeInput()
        #expect(try eventually { try runner.space("list").output == "" })
    }

    @Test("Where the leader is another user's, the parent is the owner", .enabled(if: geteuid() == 0, "setpriv"))
    func foreign() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(
                """
                chmod 711 "$SHARED_SPACE_ROOT" && export SHARED_SPACE_ROOT="$SHARED_SPACE_ROOT/other"
                mkdir -m 700 "$SHARED_SPACE_ROOT" && chown 12345:12345 "$SHARED_SPACE_ROOT"
                setpriv --reuid 12345 --regid 12345 --clear-groups \
                    sh -c 'echo $$; space set jobs k 1; space show jobs --json'
                rm -r "$SHARED_SPACE_ROOT"
                """
            )
            try expectOwner(result)
        }
    }

    @Test("A namespace that is made for an owner that was found is told of, once, with its end")
    func told() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(
                "echo $$; for command in 'write jobs [1]' 'set jobs k 1' 'own jobs'; do space $command; done; :"
            )
            let shell = try #require(result.lines.first)
            let line =
                "space: created \"jobs\"; it goes when process \(shell) (sh) has ended; see 'space help environment'\n"
            #expect(result.errors == line)
            for command in [
                "own jobs", "incr jobs n", "queue jobs mail put 1", "lock jobs l -- true", "items jobs list append 1",
            ] {
                #expect(try runner.shell("space \(command); :").errors.contains("created \"jobs\""), "\(command)")
            }
        }
    }

    @Test(
        "A caller that has named the owner, or wants no word, gets none",
        arguments: [
            "space write jobs '[1]' --quiet", "space write jobs '[1]' --owner $$", "space own jobs -- true",
            "export SHARED_SPACE_OWNER=$$; space write jobs '[1]'",
            "space write jobs '[1]' --persistent; space delete jobs",
            "space own jobs --pid $$",
        ]
    )
    func silent(_ script: String) throws {
        try withRoot { (runner) throws in
            let result = try runner.shell("\(script); :")
            #expect(result.ending == .exited(0) && result.errors == "")
        }
    }

    /// script(1) gives the shell a terminal.
    @Test("At a terminal the interactive shell is known as the owner; a script that leads the session is not")
    func atTerminal() throws {
        try withRoot { (runner) throws in
            let interactive = try runner.shell(
                "script -qec 'bash --norc --noprofile -i' /dev/null",
                input: """
                    space write jobs '[1]'; sh -c 'space set jobs k 1; :'; echo done | while read n; do space set o $n 1 ; done
                    space count jobs; space get o done
                    setsid --wait space write other '[1]'
                    exit

                    """
            )
            let text = interactive.output
            #expect(text.contains("created \"other\"; it goes when process "), "\(text)")
            #expect(!text.contains("created \"jobs\"") && !text.contains("created \"o\""), "\(text)")
            #expect(text.contains("1\r\n1\r\n"), "\(text)")
            let script = try runner.shell("script -qec \"space write jobs '[1]'; :\" /dev/null").output
            #expect(script.ranges(of: "created \"jobs\"; it goes when process ").count == 1, "\(script)")
        }
    }
}
