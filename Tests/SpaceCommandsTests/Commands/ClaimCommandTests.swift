import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@Suite("claim", .blocking, .timeLimit(.minutes(5)))
struct ClaimCommandTests {
    private let job = #"["job","?int"]"#

    @Test("A command that succeeds removes the tuple, one that fails returns it")
    func completesOrReturns() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#, #"["job",2]"#)
            let done = try runner.space("claim", "jobs", job, "--", "/bin/sh", "-c", "cat; space count jobs")
            #expect(done.ending == .exited(0), "\(done.errors)")
            #expect(done.output == "[\"job\",1]\n1\n")
            #expect(try runner.tuples("jobs") == [#"["job",2]"#])
            for (command, status) in [("exit 3", 3), ("kill -TERM $$", 128 + SIGTERM), ("exit 1", 1)] {
                let failed = try runner.space("claim", "jobs", job, "--", "/bin/sh", "-c", command)
                #expect(failed.ending == .exited(status), "\(command)")
                #expect(try runner.tuples("jobs") == [#"["job",2]"#])
            }
            let missing = try runner.space("claim", "jobs", job, "--", "/nonexistent/command")
            #expect(missing.ending == .exited(127))
            #expect(try runner.tuples("jobs") == [#"["job",2]"#])
        }
    }

    @Test("A claim without a match is 1, or what -E says; a missing namespace is 69")
    func nothing() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("claim", "jobs", job, "--", "true").ending == .exited(69))
            #expect(try runner.space("claim", "jobs", job, "--wait", "0", "--", "true").ending == .exited(1))
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("claim", "jobs", job, "--", "true").ending == .exited(1))
            #expect(try runner.space("claim", "jobs", job, "-E", "9", "--", "true").ending == .exited(9))
            #expect(try runner.space("claim", "jobs", job, "--wait", "10ms", "--", "true").ending == .exited(1))
        }
    }

    @Test(
        "Wrong or contradictory options are 64",
        arguments: [
            ["jobs", "[]"], ["jobs", "[]", "--"], ["jobs", "[]", "true"], ["jobs", "--", "true"],
            ["jobs", "[]", "--hold", "--", "true"], ["jobs", "[]", "--hold", "--forever"],
            ["jobs", "[]", "--deadline", "0", "--", "true"], ["jobs", "[]", "--hold", "--keep"],
            ["jobs", "[]", "--tuple", "--", "true"], ["jobs", "[]", "--hold", "--owner", "none"],
        ]
    )
    func usage(_ words: [String]) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[]")
            let result = try runner.start("space", ["claim"] + words).finish()
            #expect(result.ending == .exited(64), "\(words): \(result.errors)")
            #expect(try runner.tuples("jobs") == ["[]"])
        }
    }

    @Test("A claim that outlived its deadline is 75, and another process has the tuple")
    func late() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            // The command succeeds once the tuple is visible again, and does not end when it is asked to.
            let result = try runner.space(
                "claim",
                "jobs",
                job,
                "--deadline",
                "20ms",
                "--",
                "/bin/sh",
                "-c",
                "trap '' TERM; until space read jobs '[\"job\",1]'; do :; done"
            )
            #expect(result.ending == .exited(75), "\(result.errors)")
            #expect(result.errors.contains("has returned"))
            #expect(try runner.tuples("jobs") == [#"["job",1]"#])
        }
    }

    @Test("A command that outruns its claim's deadline is ended, and the tuple returns")
    func deadline() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            let claim = try runner.space("claim", "jobs", job, "--deadline", "100ms", "--", "sleep", "1000")
            #expect(claim.ending == .exited(75), "\(claim.errors)")
            #expect(claim.errors.contains("has returned"))
            #expect(
                try runner.space("claim", "jobs", job, "--", "/bin/sh", "-c", "echo $SHARED_SPACE_DELIVERIES").output
                    == "1\n"
            )
        }
    }

    @Test("A command may ask for more time for its claim")
    func extended() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            let script = """
                deadline() { space claims jobs $SHARED_SPACE_FENCING | sed 's/.*"deadline":\\([0-9]*\\).*/\\1/'; }
                before=$(deadline); space extend jobs $SHARED_SPACE_FENCING 2h && test $(deadline) -gt $before
                """
            let claim = try runner.space("claim", "jobs", job, "--deadline", "1h", "--", "/bin/sh", "-c", script)
            #expect(claim.ending == .exited(0), "\(claim.errors)")
            #expect(try runner.tuples("jobs") == [])
        }
    }

    @Test("One tuple on which commands hang does not hold up the workers for ever")
    func poison() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",0]"#)
            try runner.space("bury", "jobs", "--after", "3")
            let script = "test $SHARED_SPACE_FIELD_1 != 0 || exec sleep 1000; echo $SHARED_SPACE_FIELD_1"
            let worker = ["claim", "jobs", "--forever", "--deadline", "100ms", job, "--", "/bin/sh", "-c", script]
            let workers = try (0..<3).map { _ in try runner.start("space", worker) }
            #expect(try eventually { try !runner.space("claims", "jobs", "--buried").output.isEmpty })
            try runner.space("write", "jobs", #"["job",1]"#, #"["job",2]"#, #"["job",3]"#)
            #expect(
                try eventually {
                    try runner.space("count", "jobs").output == "0\n" && runner.space("claims", "jobs").output.isEmpty
                }
            )
            for worker in workers { worker.signal(SIGTERM) }
            let printed = try workers.flatMap { try $0.finish().lines }
            #expect(printed.sorted() == ["1", "2", "3"])
        }
    }

    @Test("A killed claim takes its command along, and a waiter gets the tuple")
    func killed() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            let claim = try runner.start(
                "space",
                ["claim", "jobs", job, "--", "/bin/sh", "-c", "echo $$; exec sleep 1000"]
            )
            guard let line = try claim.readLine(), let command = pid_t(line) else { throw TestFailure("no PID") }
            let next = try runner.start("space", ["claim", "jobs", job, "--wait", "--", "cat"])
            try runner.awaitWaiter("jobs")
            claim.signal(SIGKILL)
            try claim.wait()
            #expect(try next.finish().output == "[\"job\",1]\n")
            let isGone = try eventually {
                // Where no process reaps orphans, the zombie stays.
                let state = try runner.shell("cat /proc/\(command)/stat 2>&-").output
                return state.isEmpty || state.contains(") Z ")
            }
            #expect(isGone)
            #expect(try runner.tuples("jobs") == [])
        }
    }

    @Test("A signal goes to the command, and the tuple returns", arguments: [SIGTERM, SIGHUP])
    func signalled(_ number: Int32) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            let claim = try runner.start(
                "space",
                ["claim", "jobs", job, "--", "/bin/sh", "-c", "echo on; exec sleep 1000"]
            )
            #expect(try claim.readLine() == "on")
            claim.signal(number)
            #expect(try claim.finish().ending == .signalled(number))
            #expect(try runner.tuples("jobs") == [#"["job",1]"#])
        }
    }

    @Test("A worker goes on, past failures, until no tuple comes")
    func forever() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#, #"["job",2]"#, #"["job",3]"#)
            let worker = try runner.space(
                "claim",
                "jobs",
                "--forever",
                "--wait",
                "1ms",
                #"["job","?1...2"]"#,
                "--",
                "/bin/sh",
                "-c",
                "read job; echo $job; space write jobs '[\"done\"]'"
            )
            #expect(worker.ending == .exited(0), "\(worker.errors)")
            #expect(worker.lines == [#"["job",1]"#, #"["job",2]"#])
            #expect(try runner.tuples("jobs") == [#"["job",3]"#, #"["done"]"#, #"["done"]"#])
            let idle = try runner.space("claim", "jobs", "--forever", "--wait", "1ms", #"["none"]"#, "--", "true")
            #expect(idle.ending == .exited(1))
            // The command fails once and is tried again.
            let failing = try runner.space(
                "claim",
                "jobs",
                "--forever",
                "--wait",
                "1ms",
                job,
                "--",
                "/bin/sh",
                "-c",
                "space setnothing 2>&-; space incr jobs tries >&2; test $(space get jobs tries) -gt 1"
            )
            #expect(failing.ending == .exited(0), "\(failing.errors)")
            #expect(failing.errors.contains("the command ended with status 1"))
            #expect(try runner.space("get", "jobs", "tries").output == "2\n")
        }
    }

    // MARK: Keeping the tuple

    @Test("A tuple that is kept returns after success too, in its old place, and was not delivered")
    func keep() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "lab", #"["gpu",0]"#, #"["gpu",1]"#)
            try runner.space("bury", "lab", "--after", "2")
            func use(_ command: String) throws -> CommandResult {
                try runner.space("claim", "lab", "--keep", #"["gpu","?int"]"#, "--", "/bin/sh", "-c", command)
            }
            for status: Int32 in [0, 0, 3, 0, 3, 0] {
                let used = try use("echo $SHARED_SPACE_ID $SHARED_SPACE_FIELD_1; space count lab; exit \(status)")
                #expect(used.ending == .exited(status), "\(used.errors)")
                #expect(used.lines == ["1 0", "1"])
            }
            #expect(try runner.tuples("lab") == [#"["gpu",0]"#, #"["gpu",1]"#])
            // Two failures in a row set it aside.
            for _ in 0..<2 { #expect(try use("exit 3").ending == .exited(3)) }
            #expect(try runner.space("claims", "lab", "--buried", "--tuple").lines == [#"["gpu",0]"#])
            #expect(try runner.dump("lab", "--check").ending == .exited(0))
        }
    }

    @Test("A process that uses one thing again and again lets the one that waits go first")
    func fair() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "lab", #"["gpu",0]"#)
            let script = "echo $$; space read lab '[\"go\"]' --wait > /dev/null"
            let user = try runner.start(
                "space",
                ["claim", "lab", "--keep", "--forever", #"["gpu","?int"]"#, "--", "/bin/sh", "-c", script]
            )
            _ = try user.readLine()
            let next = try runner.start("space", ["claim", "lab", "--keep", "--wait", #"["gpu","?"]"#, "--", "cat"])
            #expect(
                try eventually { try runner.space("show", "lab", "--json").output.contains(#""template":["gpu","?"]"#) }
            )
            try runner.space("write", "lab", #"["go"]"#)
            #expect(try next.finish().output == "[\"gpu\",0]\n")
            user.signal(SIGTERM)
            _ = try user.finish()
            #expect(try runner.space("count", "lab").output == "2\n")
        }
    }

    @Test("A command finds the tuple's fields in its environment, and none of an earlier tuple")
    func fields() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["a b",-1,{"k":[]},"n\u0000l"]"#, #"{"kind":"x","odd name":1,"n":2.5}"#)
            try runner.space("write", "jobs", "--strings", String(repeating: "x", count: 40_000))
            let script = "env | grep -E '^SHARED_SPACE_(FIELD|TUPLE|ROOT)' | LC_ALL=C sort; echo"
            let claim = try runner.start(
                "space",
                ["claim", "jobs", #""?""#, "--forever", "--wait", "1ms", "--", "/bin/sh", "-c", script],
                environment: ["SHARED_SPACE_FIELD_9": "stale"]
            ).finish()
            let root = "SHARED_SPACE_ROOT=\(runner.root)"
            #expect(
                claim.output.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) } == [
                    [
                        "SHARED_SPACE_FIELD_0=a b", "SHARED_SPACE_FIELD_1=-1", #"SHARED_SPACE_FIELD_2={"k":[]}"#, root,
                        #"SHARED_SPACE_TUPLE=["a b",-1,{"k":[]},"n\u0000l"]"#,
                    ],
                    [
                        "SHARED_SPACE_FIELD_kind=x", "SHARED_SPACE_FIELD_n=2.5", root,
                        #"SHARED_SPACE_TUPLE={"kind":"x","n":2.5,"odd name":1}"#,
                    ], [root],
                ]
            )
        }
    }

    // MARK: Held claims

    @Test("A held claim prints its tuple too, and can be completed and kept")
    func heldTuple() throws {
        try withRoot { (runner) throws in
            let script = """
                export SHARED_SPACE_OWNER=$$
                space write lab '["port",8001]' '["port",8002]'
                { read -r id; read -r tuple; } <<END
                $(space claim lab --hold --tuple '["port","?int"]')
                END
                echo "$tuple"; space count lab
                space complete lab $id --keep; echo $?
                space complete lab $id --keep 2>&-; echo $?
                space read lab --all '["port","?int"]'
                """
            let result = try runner.shell(script)
            let expected = [#"["port",8001]"#, "1", "0", "75", #"["port",8001]"#, #"["port",8002]"#]
            #expect(result.lines == expected, "\(result.errors)")
        }
    }

    @Test("Other commands end a held claim by its id")
    func held() throws {
        try withRoot { (runner) throws in
            let script = """
                export SHARED_SPACE_OWNER=$$
                space write jobs '["job",1]' '["job",2]'
                first=$(space claim jobs --hold '["job","?int"]')
                second=$(space claim jobs --hold --deadline 1h '["job","?int"]')
                space count jobs
                space claims jobs | grep -c '"tuple":'
                space claims jobs $second --tuple --field 1
                space extend jobs $second 2h; echo $?
                space complete jobs $first; echo $?
                space complete jobs $first 2>&-; echo $?
                space release jobs $second; echo $?
                space release jobs $second 2>&-; echo $?
                space extend jobs $second 1h 2>&-; echo $?
                space claims jobs $second; echo $?
                """
            let result = try runner.shell(script)
            #expect(result.lines == ["0", "2", "2", "0", "0", "75", "0", "75", "75", "1"], "\(result.errors)")
        }
    }

    @Test("A held claim returns when its owner exits")
    func ownerExits() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--persistent", #"["job",1]"#)
            let result = try runner.shell("space claim jobs --hold '[\"job\",1]'; space show jobs --json")
            let status = try Value(json: result.lines[1])
            guard case .object(let record) = status, case .array(let claims)? = record["claims"],
                case .object(let claim)? = claims.first
            else { throw TestFailure("\(status)") }
            #expect(claim["id"]?.json == result.lines[0])
            #expect(claim["pid"] != .null)
            #expect(claim["deadline"] == .null)
            // The shell has exited.
            #expect(try runner.tuples("jobs") == [#"["job",1]"#])
            let late = try runner.space("complete", "jobs", result.lines[0])
            #expect(late.ending == .exited(75))
            #expect(late.errors.contains("has returned"))
        }
    }

    @Test("A claim whose id could not be printed is not held")
    func unprinted() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            let result = try runner.shell(
                "space claim jobs --hold '[\"job\",1]' --owner $$ > /dev/full; echo $?; space count jobs"
            )
            #expect(result.lines == ["74", "1"])
        }
    }

    // MARK: Buried tuples

    @Test("Tuples are buried, listed and kicked back")
    func buryAndKick() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#, #"["job",2]"#, #"["job",3]"#)
            #expect(try runner.space("bury", "jobs", "--after", "2").ending == .exited(0))
            for _ in 0..<2 { try runner.space("claim", "jobs", job, "--", "false") }
            #expect(try runner.tuples("jobs") == [#"["job",2]"#, #"["job",3]"#])
            #expect(try runner.space("bury", "jobs", #"["job",2]"#).ending == .exited(0))
            #expect(try runner.space("bury", "jobs", #"["job",2]"#).ending == .exited(1))
            #expect(
                try runner.space("claims", "jobs", "--buried").lines == [
                    #"{"id":1,"deliveries":2,"tuple":["job",1]}"#, #"{"id":2,"deliveries":0,"tuple":["job",2]}"#,
                ]
            )
            let dump = try runner.dump("jobs", "--format", "json")
            #expect(dump.lines.count { $0.hasPrefix(#"{"kind":"buried","#) } == 2)
            #expect(
                try runner.shell("space-dump jobs --format json | space load copy --persistent").ending == .exited(0)
            )
            #expect(try runner.space("claims", "copy", "--buried", "--tuple").lines == [#"["job",1]"#, #"["job",2]"#])
            #expect(try runner.space("kick", "jobs", "2").ending == .exited(0))
            #expect(try runner.space("kick", "jobs").ending == .exited(0))
            #expect(try runner.space("kick", "jobs").ending == .exited(1))
            #expect(try runner.tuples("jobs") == [#"["job",1]"#, #"["job",2]"#, #"["job",3]"#])
            let held = try runner.shell(
                "id=$(space claim jobs '[\"job\",3]' --hold --owner $$); space bury jobs $id; space claims jobs --buried --tuple"
            )
            #expect(held.lines == [#"["job",3]"#], "\(held.errors)")
            #expect(try runner.space("bury", "jobs", "--after", "none").ending == .exited(0))
            #expect(try runner.space("bury", "jobs", "--after", "0").ending == .exited(64))
        }
    }

    /// A take that can't print delivers nothing, so the limit of deliveries buries no tuple because of it.
    @Test("A tuple that a take could not print was not delivered")
    func unprintedTakes() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#)
            try runner.space("bury", "jobs", "--after", "1")
            #expect(try runner.shell("space take jobs '[\"job\",1]' > /dev/full; echo $?").output == "74\n")
            #expect(try runner.tuples("jobs") == [#"["job",1]"#])
        }
    }
}
