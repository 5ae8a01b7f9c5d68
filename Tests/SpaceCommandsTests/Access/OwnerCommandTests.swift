import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("Owners", .blocking, .timeLimit(.minutes(5)))
struct OwnerCommandTests {
    @Test("The session leader owns the namespaces that are created, and when it exits they are deleted")
    func caller() throws {
        try withRoot { (runner) throws in
            let shell = try runner.shell("space write jobs '[1]'; space count jobs; echo done")
            #expect(shell.output == "1\ndone\n")
            #expect(try runner.space("list").output == "")
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("list").output == "jobs\n")
        }
    }

    @Test("The variable names another owner than the session leader")
    func variable() throws {
        try withRoot { (runner) throws in
            let without = try runner.shell("sh -c \"space write jobs '[1]'; :\"; space count jobs")
            #expect(without.output == "1\n")
            let with = try runner.shell(
                """
                sh -c "export SHARED_SPACE_OWNER=\\$\\$; space write jobs '[1]'; space count jobs"
                space count jobs; echo $?
                """
            )
            #expect(with.output == "1\n69\n")
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("--owner goes before the variable")
    func option() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(
                """
                sleep 1000 & keeper=$!
                sh -c 'SHARED_SPACE_OWNER=$PPID exec space write jobs --owner '$keeper' "[1]"'
                kill $keeper; wait $keeper 2> /dev/null
                space count jobs; echo $?
                """
            )
            #expect(result.output == "69\n")
        }
    }

    @Test("Without an owner nothing is created, and the refusal names the remedies")
    func refusal() throws {
        try withRoot { (runner) throws in
            for command in ["write jobs '[1]'", "set jobs k 1", "incr jobs n"] {
                let result = try runner.shell("space \(command) --owner none; echo $?")
                #expect(result.output == "64\n", "space \(command)")
                for remedy in ["--owner", "SHARED_SPACE_OWNER", "--persistent"] {
                    #expect(result.errors.contains(remedy), "space \(command)")
                }
            }
            #expect(try runner.space("list").output == "")
            #expect(try runner.space("write", "kept", "--owner", "none", "--persistent", "[1]").ending == .exited(0))
            try runner.space("own", "jobs")
            #expect(try runner.space("write", "jobs", "--owner", "none", "[1]").ending == .exited(0))
            #expect(try runner.space("read", "jobs", "--owner", "none", "[1]").ending == .exited(0))
            #expect(try runner.space("own", "jobs", "--owner", "none").ending == .exited(64))
        }
    }

    @Test("Neither leader nor parent: refused where it would create, not enrolled elsewhere")
    func orphaned() throws {
        try withRoot { (runner) throws in
            // The two shells exit at once; the child waits until it has another parent and no session leader, and
            // becomes the command.
            func orphan(_ command: String) throws -> (parent: Int, errors: String) {
                let result = try runner.shell(
                    """
                    sh -c '( while read -r a b c parent e < /proc/self/stat; [ $parent = $$ ]; do :; done
                        while read -r a b state e < /proc/'$$'/stat && [ $state != Z ]; do :; done
                        echo $parent; exec \(command) ) & :'
                    :
                    """
                )
                return (result.lines.first.flatMap { Int($0) } ?? 0, result.errors)
            }
            let refused = try orphan("space write jobs \"[1]\"")
            // A subreaper (prctl(2)) adopts as PID 1 does, and can't be told from a caller.
            guard refused.parent == 1 else { return }
            for remedy in ["--owner", "SHARED_SPACE_OWNER", "--persistent"] { #expect(refused.errors.contains(remedy)) }
            #expect(try runner.space("list").output == "")
            #expect(try orphan("space own jobs").errors.contains("--owner"))
            try runner.space("own", "jobs")
            #expect(try orphan("space write jobs \"[1]\"").errors == "")
            #expect(try orphan("space write kept --persistent \"[2]\"").errors == "")
            #expect(try runner.tuples("jobs") == ["[1]"])
            #expect(try runner.tuples("kept") == ["[2]"])
            #expect(try runner.space("disown", "jobs").ending == .exited(0))
            #expect(try runner.space("list").output == "kept\n")
        }
    }

    @Test(
        "A process that can't be an owner is refused",
        arguments: ["0", "1", "-5", "x", "", "4294967297", "none2"]
    )
    func badOwners(_ owner: String) throws {
        try withRoot { (runner) throws in
            #expect(
                try runner.start("space", ["write", "jobs", "[1]", "--owner", owner]).finish().ending == .exited(64)
            )
            if !owner.isEmpty {
                let result = try runner.space("write", "jobs", "[1]", environment: ["SHARED_SPACE_OWNER": owner])
                #expect(result.ending == .exited(64))
                #expect(result.errors.contains("SHARED_SPACE_OWNER"))
            }
            #expect(try runner.start("space", ["own", "jobs", "--pid", owner]).finish().ending == .exited(64))
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("In a PID namespace of its own, PID 1 is an owner like any other", .enabled(if: geteuid() == 0, "unshare"))
    func firstOfItsNamespace() throws {
        try withRoot { (runner) throws in
            let script = """
                space write jobs '[1]'; echo $$ $?
                export SHARED_SPACE_OWNER=$$
                space write jobs '[1]'; space count jobs
                space own jobs --pid 1; echo $?
                space show jobs --json | grep -o '"pid":1,'
                space disown jobs
                space list
                """
            let words = ["-p", "-f", "--mount-proc", "/bin/sh", "-c", script]
            let result = try runner.start("/usr/bin/unshare", words).finish()
            #expect(result.output == "1 0\n2\n0\n\"pid\":1,\n", "\(result.errors)")
        }
    }

    @Test("A process that has exited can't be an owner")
    func deadOwner() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell("sh -c 'exit 0' & p=$!; wait $p; space write jobs '[1]' --owner $p; echo $?")
            #expect(result.output == "64\n")
            #expect(result.errors.contains("exited"))
        }
    }

    @Test("own --pid and disown")
    func ownAndDisown() throws {
        try withRoot { (runner) throws in
            let keeper = try runner.start("/bin/cat", [])
            #expect(try runner.space("own", "jobs", "--pid", "\(keeper.pid)").ending == .exited(0))
            #expect(try runner.space("list").output == "jobs\n")
            #expect(try runner.space("disown", "jobs").ending == .exited(1))
            #expect(try runner.space("own", "jobs").ending == .exited(0))
            #expect(try runner.space("disown", "jobs", "--pid", "\(keeper.pid)").ending == .exited(0))
            #expect(try runner.space("list").output == "jobs\n")
            // When the last owner leaves, the namespace is deleted.
            #expect(try runner.space("disown", "jobs").ending == .exited(0))
            #expect(try runner.space("list").output == "")
            #expect(try runner.space("disown", "jobs").ending == .exited(69))
            #expect(try runner.space("own", "jobs", "--pid", "5", "--owner", "6").ending == .exited(64))
        }
    }

    @Test("own NS -- CMD becomes the command: its PID, its status, its signals")
    func ownCommand() throws {
        try withRoot { (runner) throws in
            let owning = try runner.start(
                "space",
                ["own", "jobs", "--", "/bin/sh", "-c", "echo $$ $SHARED_SPACE_OWNER; read line; echo $line; exit 7"]
            )
            #expect(try owning.readLine() == "\(owning.pid) \(owning.pid)")
            #expect(try runner.space("list").output == "jobs\n")
            try owning.send("hello\n")
            #expect(try owning.readLine() == "hello")
            #expect(try owning.wait() == .exited(7))
            #expect(try runner.space("list").output == "")
            let killed = try runner.start("space", ["own", "jobs", "--", "/bin/sh", "-c", "echo; exec cat"])
            _ = try killed.readLine()
            killed.signal(SIGTERM)
            #expect(try killed.wait() == .signalled(SIGTERM))
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("own gives the command the usual disposition of SIGPIPE")
    func ownBrokenPipe() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell("{ space own jobs -- sh -c 'yes; :'; echo $? >&2; } | head -1; :")
            // A shell reports SIGPIPE as 141; with the signal ignored, `yes` would complain and exit with 1.
            #expect(!result.errors.contains("roken pipe"))
        }
    }

    @Test("The command gets its words unchanged, UTF-8 or not")
    func ownWords() throws {
        try withRoot { (runner) throws in
            let words = #"$(printf 'a\377b')"#
            let result = try runner.shell(#"space own jobs -- printf '%s|' -5 --wait 5x -- "" "\#(words)" | od -An -c"#)
            #expect(result.output.filter { $0 != " " && $0 != "\n" } == #"-5|--wait|5x|--||a377b|"#)
            #expect(try runner.shell(#"space write "\#(words)" '[1]'; echo $?"#).output == "65\n")
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("A command that can't be run is 127 or 126, and no namespace is left")
    func cannotRun() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("own", "jobs", "--", "/nonexistent/command").ending == .exited(127))
            #expect(try runner.space("own", "jobs", "--", "no-such-command-anywhere").ending == .exited(127))
            #expect(try runner.space("own", "jobs", "--", "/etc/passwd").ending == .exited(126))
            #expect(try runner.space("own", "jobs", "cat").ending == .exited(64))
            #expect(try runner.space("own", "jobs", "--pid", "5", "--", "cat").ending == .exited(64))
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("Commands that only look enrol no owner")
    func lookers() throws {
        try withRoot { (runner) throws in
            let keeper = try runner.start("/bin/cat", [])
            try runner.space("own", "jobs", "--pid", "\(keeper.pid)")
            for command in ["count jobs", "list --json", "show jobs", "wait jobs"] {
                #expect(try runner.shell("space \(command)").status == 0)
            }
            try runner.dump("jobs")
            #expect(try runner.space("disown", "jobs").ending == .exited(1))
            for command in ["read jobs '[1]'", "take jobs '[1]'", "get jobs k", "unset jobs k"] {
                let words = ["-c", "space \(command); space disown jobs --pid $$; echo $?"]
                #expect(try runner.start("/bin/sh", words).finish().output == "0\n", "space \(command)")
            }
        }
    }

    @Test("Creation options that an existing namespace lacks are refused, and the error names the command for them")
    func optionsOfOneThatExists() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(
                """
                space write jobs '[1]'
                for options in --persistent '--history 10'; do
                    for command in "write jobs [2]" "set jobs k 1" "own jobs"; do
                        space $command $options; echo $?
                    done
                done
                space persist jobs && space history jobs 10
                space write jobs --persistent --history 10 '[2]' && space write jobs --persistent --history 10 '[3]'
                space write jobs --history 9 '[4]'; echo $?
                space count jobs
                space unpersist jobs
                """
            )
            #expect(result.output == String(repeating: "69\n", count: 7) + "3\n", "\(result.errors)")
            #expect(result.errors.contains("space persist jobs") && result.errors.contains("space history jobs 10"))
            #expect(result.errors.contains("space history jobs 9"))
        }
    }

    @Test("persist keeps a namespace without owners, unpersist deletes it")
    func persistence() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("persist", "jobs").ending == .exited(69))
            #expect(try runner.shell("space write jobs '[1]'; space persist jobs").status == 0)
            #expect(try runner.space("list").output == "jobs\n")
            #expect(try runner.tuples("jobs") == ["[1]"])
            #expect(try runner.space("disown", "jobs").ending == .exited(0))
            #expect(try runner.space("unpersist", "jobs").ending == .exited(0))
            #expect(try runner.space("list").output == "")
        }
    }
}
