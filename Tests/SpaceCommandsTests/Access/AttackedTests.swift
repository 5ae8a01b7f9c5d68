import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Promises that an attack from outside found broken; each test is what broke one.
@Suite("What an attack broke", .blocking, .timeLimit(.minutes(5)))
struct AttackedTests {
    private func ok(_ result: CommandResult) -> String {
        #expect(result.ending == .exited(0), "\(result.errors)")
        return result.output
    }

    // MARK: Output that fails

    @Test("A cell that unset can't print keeps its expiry, and the process that it ends with")
    func unset() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("set", "n", "e", "1", "--expires", "1h", "--persistent"))
            #expect(try runner.shell("space unset n e > /dev/full").status == 74)
            guard case .int(let left) = try Value(json: ok(try runner.space("ttl", "n", "e"))) else {
                Issue.record("the cell no longer expires")
                return
            }
            #expect((3_000_000...3_600_000).contains(left))

            let owner = try runner.start("/bin/sleep", ["1000"])
            _ = ok(try runner.space("set", "n", "s", "1", "--session", "--owner", "\(owner.pid)"))
            #expect(try runner.shell("space unset n s > /dev/full").status == 74)
            #expect(ok(try runner.space("get", "n", "s")) == "1\n")
            owner.signal(SIGKILL)
            _ = try owner.wait()
            #expect(try eventually { try runner.space("get", "n", "s").status == 1 })
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test("A tuple that move can't print stays in its place, as it was", arguments: ["> /dev/full", "--field 7"])
    func move(_ fault: String) throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "--expires", "1h", #"["j",1]"#, #"["j",2]"#))
            // Times are told on the wall clock, to a millisecond more or less.
            func tuples() throws -> [String] {
                try runner.dump("n", "--format", "json").lines.filter { $0.contains(#""kind":"tuple""#) }
                    .map { $0.replacing(/"expires":[0-9]+/, with: "expires") }
            }
            let before = try tuples()
            let status = try runner.shell(#"space move n '["j",1]' '["k",1]' \#(fault)"#).status
            #expect(status == (fault.hasPrefix(">") ? 74 : 65))
            #expect(try tuples() == before)
            #expect(before.count == 2)
            #expect(ok(try runner.space("move", "n", #"["j",1]"#, #"["k",1]"#)) == #"["j",1]"# + "\n")
            #expect(try runner.tuples("n") == [#"["j",2]"#, #"["k",1]"#])
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test("Watchers are told of a move as a take and a write, committed together")
    func toldMove() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            let watcher = try runner.start("space", ["watch", "n", "--max", "2"])
            #expect(try watcher.readLine()?.contains("ready") ?? false)
            _ = ok(try runner.space("move", "n", "[1]", "[2]"))
            let events = try watcher.finish().lines.compactMap { (try? Value(json: $0))?["event"]?.string }
            #expect(Set(events.filter { $0 != "ready" }) == ["take", "write"])
            _ = ok(try runner.space("delete", "n"))
        }
    }

    // MARK: Subscriptions

    @Test("A watch whose subscription is ended ends, and says why")
    func unsubscribed() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            let watcher = try runner.start("space", ["watch", "n", "--subscription", "s"])
            #expect(try watcher.readLine()?.contains("ready") ?? false)
            _ = ok(try runner.space("unsubscribe", "n", "s"))
            _ = ok(try runner.space("write", "n", "[2]"))
            let result = try watcher.finish()
            #expect(result.status == 69)
            #expect(result.errors.contains("the subscription was ended"), "\(result.errors)")
            #expect(!result.output.contains("gap"))
            _ = ok(try runner.space("delete", "n"))
        }
    }

    // MARK: Responders

    @Test("A handler that asks the next responder twice asks the same one")
    func nextTwice() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            var responders: [RunningCommand] = []
            let twice = #"x=$(space request --next); y=$(space request --next); echo "[$x,$y]""#
            for (key, script) in [("a", "echo 1"), ("b", "echo 2"), ("c", twice)] {
                let words = ["respond", "n", "t", "--key", key, "--", "sh", "-c", script]
                responders.append(try runner.start("space", words))
                let count = responders.count
                #expect(
                    try eventually {
                        try Value(json: try runner.space("show", "n", "--json").output)["responders"]?.array?.count
                            == count
                    }
                )
            }
            #expect(ok(try runner.space("request", "n", "t", "--wait", "60s")) == "[2,2]\n")
            responders[1].signal(SIGTERM)
            _ = try responders[1].finish()
            #expect(ok(try runner.space("request", "n", "t", "--wait", "60s")) == "[1,1]\n")
            for responder in [responders[0], responders[2]] {
                responder.signal(SIGTERM)
                _ = try responder.finish()
            }
            _ = ok(try runner.space("delete", "n"))
        }
    }

    // MARK: Dump and load

    @Test("A load brings back limits, deliveries, origins, and that the namespace stays")
    func load() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "--limit", "64M", #"["x"]"#, #"["y"]"#))
            #expect(try runner.space("claim", "n", #"["x"]"#, "--", "false").status == 1)
            _ = ok(try runner.space("bury", "n", "--after", "2"))
            let dump = ok(try runner.dump("n", "--format", "json"))
            #expect(dump.contains(#""delivery_limit":2"#))
            _ = ok(try runner.space("load", "m", input: dump))
            let copy = try Value(json: ok(try runner.space("show", "m", "--json")))
            #expect(copy["persistent"] == true && copy["limit"] == .int(64 << 20) && copy["delivery_limit"] == 2)
            func tuples(_ dump: String) -> [Substring] {
                dump.split(separator: "\n").filter { $0.contains(#""tuple""#) }
            }
            #expect(tuples(ok(try runner.dump("m", "--format", "json"))) == tuples(dump))
            #expect(try runner.space("claim", "m", #"["x"]"#, "--", "false").status == 1)
            #expect(try runner.tuples("m") == [#"["y"]"#])
            for name in ["n", "m"] { _ = ok(try runner.space("delete", name)) }
        }
    }

    @Test(
        "A load refuses what can't be, and leaves out what has expired",
        arguments: [
            (
                #"{"kind":"item","queue":"q","id":1,"state":"bogus","priority":0,"ready":null,"group":null,"deliveries":0,"value":1}"#,
                65
            ),
            (#"{"kind":"cell","key":"k","value":1,"session":"no"}"#, 65),
            (#"{"kind":"tuple","id":1,"tuple":[1],"expires":null,"deliveries":-1}"#, 65),
            (#"{"kind":"tuple","id":1,"tuple":[1],"expires":null,"deliveries":0,"written":1,"writer":-5}"#, 65),
            (#"{"kind":"cell","key":"k","value":1,"expires":-9223372036854775808}"#, 0),
        ]
    )
    func badLoad(_ line: String, _ status: Int32) throws {
        try withRoot { (runner) throws in
            let head = #"{"kind":"namespace","name":"n","mode":"fast"}"#
            let queue = #"{"kind":"queue","name":"q","deliveries":0,"bound":0,"count":1}"#
            let result = try runner.space("load", "n", "--persistent", input: "\(head)\n\(queue)\n\(line)\n")
            #expect(result.status == status, "\(result.errors)")
            if status == 0 {
                #expect(try runner.space("get", "n", "k").status == 1)
                _ = ok(try runner.space("delete", "n"))
            }
        }
    }

    // MARK: Words that exclude each other, or mean nothing

    @Test("A transaction's set has one condition")
    func conditions() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("set", "n", "k", "9", "--persistent"))
            let both = #"{"op":"set","key":"k","value":1,"if_absent":true,"if_equals":9}"#
            let result = try runner.space("txn", "n", input: both)
            #expect(result.status == 65)
            #expect(result.errors.contains("excludes if_equals"), "\(result.errors)")
            #expect(try runner.space("txn", "n", input: #"["set","k",1,null,true]"#).status == 1)
            #expect(ok(try runner.space("get", "n", "k")) == "9\n")
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test("A claim that isn't there is not buried, and sets no limit")
    func unknownClaim() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            #expect(try runner.space("bury", "n", "5", "--after", "1").status == 75)
            #expect(try Value(json: ok(try runner.space("show", "n", "--json")))["delivery_limit"] == .null)
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test(
        "What isn't there is not created to be removed",
        arguments: ["counter n c --remove", "latch n l --count 1 --remove"]
    )
    func removing(_ command: String) throws {
        try withRoot { (runner) throws in
            #expect(try runner.shell("space \(command)").status == 69)
            #expect(ok(try runner.space("list")) == "")
        }
    }

    @Test(
        "An option that means nothing for a queue's action is refused",
        arguments: [
            "put 1 --ttr 1s", "put 1 --forever", "take --state ready -- true", "count --max 3", "drain --group g",
        ]
    )
    func queueOptions(_ words: String) throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("queue", "n", "q", "put", "1", "--persistent"))
            let result = try runner.shell("space queue n q \(words)")
            #expect(result.status == 64, "\(result.output)")
            #expect(ok(try runner.space("queue", "n", "q", "count")).contains(#""ready":1"#))
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test("A claimed tuple that ends with a process is shown with it")
    func sessions() throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("/bin/sleep", ["1000"])
            let words = ["--persistent", "--session", "--owner", "\(owner.pid)", #"["t"]"#]
            _ = try runner.start("space", ["write", "n"] + words).finish()
            _ = ok(try runner.space("claim", "n", "--hold", "--owner", "\(owner.pid)", #"["t"]"#))
            #expect(ok(try runner.space("claims", "n", "--json")).contains(#""session":\#(owner.pid)"#))
            owner.signal(SIGKILL)
            _ = try owner.wait()
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test("A namespace whose folder of sessions is something else is refused in words, and goes on when it is back")
    func noSessions() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            _ = ok(try runner.shell("cd $SHARED_SPACE_ROOT/n && mv sessions aside && echo > sessions"))
            try refuse(
                runner,
                ["show n --json", "get n k", "write n [2]", "claims n"],
                74,
                says: "the folder of sessions"
            )
            _ = ok(try runner.shell("cd $SHARED_SPACE_ROOT/n && rm sessions && mv aside sessions"))
            #expect(try runner.tuples("n") == ["[1]"])
            _ = ok(try runner.space("delete", "n"))
        }
    }

    /// Runs a script, which ends with a status and an error that has a text.
    private func refuse(_ runner: CommandRunner, _ scripts: [String], _ status: Int32, says text: String = "space: ")
        throws
    {
        for script in scripts {
            let result = try runner.shell("space \(script)")
            #expect(result.status == status && result.errors.contains(text), "\(script): \(result.errors)")
        }
    }

    @Test("A message has no control characters of the words that it quotes")
    func controls() throws {
        try withRoot { (runner) throws in
            let word = "\u{1b}[31mx"
            for words in [
                ["count", "n", "[1]", "--bog\(word)"], ["write", "n", "[1]", "--expires", word],
                ["queue", "n", "q", word],
            ] {
                let result = try runner.start("space", words).finish()
                #expect(result.ending == .exited(64), "\(words)")
                #expect(
                    result.errors.contains(#"\u001b[31mx"#) && !result.errors.contains("\u{1b}"),
                    "\(result.errors)"
                )
            }
        }
    }

    @Test("A value that begins with a dash is stored as it stands")
    func dashes() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            for words in [["-s"], ["--string"], ["-s", "--"]] {
                _ = ok(try runner.start("space", ["set", "n", "k"] + words + ["--x"]).finish())
                #expect(ok(try runner.space("get", "n", "k")) == "\"--x\"\n")
                _ = ok(try runner.space("unset", "n", "k"))
            }
            _ = ok(try runner.space("delete", "n"))
        }
    }

    @Test("A closed standard input is an error, and with a closed standard output nothing is done")
    func closed() throws {
        try withRoot { (runner) throws in
            _ = ok(try runner.space("write", "n", "--persistent", "[1]"))
            try refuse(runner, ["txn n <&-", "write n - <&-", "load q <&-"], 74)
            try refuse(runner, ["incr n k >&-", "queue n q put 1 >&-", "write n --print-id [2] >&-"], 74)
            #expect(ok(try runner.space("count", "n")) == "1\n")
            #expect(try runner.space("get", "n", "k").status == 1)
            #expect(ok(try runner.space("list")) == "n\n")
            #expect(!ok(try runner.space("show", "n")).contains("queue"))
            _ = ok(try runner.space("delete", "n"))
        }
    }
}
