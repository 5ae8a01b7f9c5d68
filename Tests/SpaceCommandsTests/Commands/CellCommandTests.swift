import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("set, get, unset, incr", .blocking, .timeLimit(.minutes(5)))
struct CellCommandTests {
    @Test("Cells hold values")
    func cells() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("get", "jobs", "k").ending == .exited(69))
            #expect(try runner.space("unset", "jobs", "k").ending == .exited(69))
            let set = try runner.space("set", "jobs", "k", #"{"a": ["b", -5, 1.0]}"#)
            #expect(set.ending == .exited(0))
            #expect(set.output == "")
            #expect(try runner.space("get", "jobs", "k").output == "{\"a\":[\"b\",-5,1.0]}\n")
            #expect(try runner.space("set", "jobs", "k", "-5").ending == .exited(0))
            #expect(try runner.space("get", "jobs", "k").output == "-5\n")
            let old = try runner.space("unset", "jobs", "k")
            #expect(old.output == "-5\n")
            #expect(try runner.space("unset", "jobs", "k").ending == .exited(1))
            #expect(try runner.space("unset", "jobs", "k", "-E", "8").ending == .exited(8))
            #expect(try runner.space("get", "jobs", "k").ending == .exited(1))
        }
    }

    @Test("get --keys prints the cells whose names match")
    func matchingCells() throws {
        try withRoot { (runner) throws in
            for key in ["a.x", "a.y", "b", "-c"] { try runner.space("set", "jobs", "--", key, "[\"\(key)\",1]") }
            let some = try runner.space("get", "jobs", "--keys", "a.*")
            #expect(some.ending == .exited(0) && some.errors == "")
            #expect(
                some.output == #"{"key":"a.x","value":["a.x",1]}"# + "\n" + #"{"key":"a.y","value":["a.y",1]}"# + "\n"
            )
            #expect(
                try runner.space("get", "jobs", "--keys=*", "--max", "1").output == #"{"key":"-c","value":["-c",1]}"#
                    + "\n"
            )
            #expect(try runner.space("get", "jobs", "--keys", "*").output.split(separator: "\n").count == 4)
            #expect(try runner.space("get", "jobs", "--keys", "z*").ending == .exited(1))
            #expect(try runner.space("get", "nope", "--keys", "*").ending == .exited(69))
            for words in [
                ["k", "--keys", "*"], ["k", "--max", "1"], ["--keys", "*", "--max", "0"], ["--keys", "*", "-r"],
            ] {
                #expect(try runner.start("space", ["get", "jobs"] + words).finish().ending == .exited(64), "\(words)")
            }
        }
    }

    @Test("Strings raw, tokens, and strings that look like formals")
    func strings() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "k", "--arg", "v", "a \"b\"\n?", "$v")
            #expect(try runner.space("get", "jobs", "k").output == #""a \"b\"\n?""# + "\n")
            #expect(try runner.space("get", "jobs", "k", "-r").output == "a \"b\"\n?\n")
            try runner.space("set", "jobs", "k", "\"?int\"")
            #expect(try runner.space("unset", "jobs", "k", "-r").output == "?int\n")
        }
    }

    @Test("A failed condition is status 1 and changes nothing")
    func conditions() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("set", "jobs", "k", "1", "--if-equals", "null").ending == .exited(1))
            #expect(try runner.space("set", "jobs", "k", "1", "--if-absent").ending == .exited(0))
            #expect(try runner.space("set", "jobs", "k", "2", "--if-absent").ending == .exited(1))
            #expect(try runner.space("set", "jobs", "k", "2", "--if-equals", "1.0").ending == .exited(1))
            #expect(try runner.space("get", "jobs", "k").output == "1\n")
            #expect(try runner.space("set", "jobs", "k", "-2", "--if-equals", "1").ending == .exited(0))
            #expect(try runner.space("set", "jobs", "k", "3", "--if-equals", "-2", "-E", "5").ending == .exited(0))
            #expect(try runner.space("set", "jobs", "k", "4", "--if-equals", "-2", "-E", "5").ending == .exited(5))
            #expect(try runner.space("get", "jobs", "k").output == "3\n")
            #expect(try runner.space("set", "jobs", "k", "4", "--if-equals", "1", "--if-absent").ending == .exited(64))
        }
    }

    @Test("A condition on the version fails also after a change to the same value")
    func versions() throws {
        try withRoot { (runner) throws in
            func version() throws -> String {
                let line = try runner.space("get", "jobs", "k", "--with-version").output
                let seen = line.wholeMatch(of: /\{"version":([0-9]+),"value":"a"\}\n/)
                return String(try #require(seen, "\(line)").1)
            }
            #expect(try runner.space("get", "jobs", "k", "--with-version").ending == .exited(69))
            // 0 stands for a cell that holds none.
            #expect(
                try runner.space("set", "jobs", "k", "--persistent", "\"a\"", "--if-version", "0").ending == .exited(0)
            )
            #expect(try runner.space("set", "jobs", "k", "\"b\"", "--if-version", "0").ending == .exited(1))
            #expect(try runner.space("get", "jobs", "other", "--with-version").ending == .exited(1))
            let first = try version()
            try runner.space("set", "jobs", "k", "\"a\"")
            #expect(try version() != first)
            #expect(try runner.space("set", "jobs", "k", "\"b\"", "--if-version", first).ending == .exited(1))
            #expect(try runner.space("set", "jobs", "k", "\"b\"", "--if-version", try version()).ending == .exited(0))
            #expect(try runner.space("get", "jobs", "k").output == "\"b\"\n")

            // A wait for the cell prints the version too.
            let waiting = try runner.start("space", ["get", "jobs", "late", "--with-version", "--wait"])
            #expect(
                try eventually {
                    try runner.space("show", "jobs", "--json").output.contains(#""pid":\#(waiting.pid),"#)
                }
            )
            try runner.space("set", "jobs", "late", "1")
            #expect(try waiting.finish().output.contains(#","value":1}"#))
            for wrong in [["--if-absent"], ["--if-equals", "1"], ["--if-version", "-1"], ["--if-version", "x"]] {
                let words = ["set", "jobs", "k", "1", "--if-version", "1"] + wrong
                #expect(try runner.start("space", words).finish().ending == .exited(64), "\(wrong)")
            }
            #expect(try runner.space("get", "jobs", "k", "--with-version", "-r").ending == .exited(64))
            try runner.space("delete", "jobs")
        }
    }

    @Test("incr counts, and refuses a value that is no integer")
    func increments() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("incr", "jobs", "n").output == "1\n")
            #expect(try runner.space("incr", "jobs", "n", "41").output == "42\n")
            #expect(try runner.space("incr", "jobs", "n", "-50").output == "-8\n")
            #expect(try runner.space("incr", "jobs", "n", "x").ending == .exited(64))
            try runner.space("set", "jobs", "s", "\"x\"")
            #expect(try runner.space("incr", "jobs", "s").ending == .exited(65))
            try runner.space("set", "jobs", "m", "9223372036854775807")
            #expect(try runner.space("incr", "jobs", "m").ending == .exited(65))
            #expect(try runner.space("get", "jobs", "m").output == "9223372036854775807\n")
        }
    }

    @Test("Processes that count at the same time lose no increment")
    func counting() throws {
        try withRoot { (runner) throws in
            // Each shell owns the namespace only while it runs.
            try runner.space("own", "jobs")
            let counters = try (0..<3).map { _ in
                try runner.start(
                    "/bin/sh",
                    ["-c", "for i in 1 2 3 4 5 6 7 8 9 10; do space incr jobs n > /dev/null; done"]
                )
            }
            for counter in counters { #expect(try counter.finish().ending == .exited(0)) }
            #expect(try runner.space("get", "jobs", "n").output == "30\n")
        }
    }

    @Test("What is left of a cell or a tuple can be read, set and lifted")
    func lasting() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("set", "jobs", "k", "1", "--expires", "100s").ending == .exited(0))
            let left = try runner.space("ttl", "jobs", "k").output
            #expect((90_000...100_000).contains(Int(left.dropLast()) ?? 0))
            #expect(try runner.space("expire", "jobs", "k", "1h30m").ending == .exited(0))
            #expect((Int(try runner.space("ttl", "jobs", "k").output.dropLast()) ?? 0) > 5_300_000)
            #expect(try runner.space("expire", "jobs", "k", "--never").ending == .exited(0))
            #expect(try runner.space("ttl", "jobs", "k").output == "null\n")
            #expect(try runner.space("expire", "jobs", "k", "0").ending == .exited(0))
            #expect(try runner.space("get", "jobs", "k").ending == .exited(1))
            #expect(try runner.space("ttl", "jobs", "k").ending == .exited(1))
            #expect(try runner.space("expire", "jobs", "k", "1s").ending == .exited(1))
            let id = try runner.space("write", "jobs", "[1]", "--expires", "100s", "--print-id").output.dropLast()
            #expect(
                (90_000...100_000).contains(Int(try runner.space("ttl", "jobs", String(id)).output.dropLast()) ?? 0)
            )
            #expect(try runner.space("expire", "jobs", String(id), "--never").ending == .exited(0))
            #expect(try runner.space("ttl", "jobs", String(id)).output == "null\n")
            // A cell whose name has digits only.
            try runner.space("set", "jobs", "77", "1")
            #expect(try runner.space("ttl", "jobs", "77").ending == .exited(1))
            #expect(try runner.space("ttl", "jobs", "77", "--cell").output == "null\n")
            for words in [
                ["expire", "jobs", "k"], ["expire", "jobs", "k", "5s", "--never"], ["expire", "jobs", "k", "soon"],
            ] {
                #expect(try runner.start("space", words).finish().ending == .exited(64))
            }
            #expect(try runner.space("ttl", "nothing", "k").ending == .exited(69))
        }
    }

    @Test("--session binds a cell and a tuple to the owner")
    func session() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "keeps", "1")
            let script = """
                export SHARED_SPACE_OWNER=$$
                space set jobs member/a 1 --session && space write jobs '["member"]' --session
                space get jobs member/a && space count jobs
                """
            let member = try runner.shell(script)
            #expect(member.output == "1\n1\n")
            #expect(try eventually { try runner.space("get", "jobs", "member/a").ending == .exited(1) })
            #expect(try eventually { try runner.space("count", "jobs").output == "0\n" })
            #expect(try runner.space("get", "jobs", "keeps").output == "1\n")
            #expect(try runner.space("set", "jobs", "k", "1", "--session", "--owner", "none").ending == .exited(64))
        }
    }

    @Test("A dump keeps when a cell expires, and leaves out what belongs to a process")
    func dump() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "k", "1", "--expires", "100s")
            try runner.space("set", "jobs", "mine", "1", "--session")
            try runner.space("write", "jobs", #"["mine"]"#, #"["mine too"]"#, "--session")
            try runner.space("write", "jobs", #"["lasts"]"#, "--expires", "100s")
            for template in [#"["mine"]"#, #"["lasts"]"#] {
                #expect(try runner.space("claim", "jobs", template, "--hold").ending == .exited(0))
            }
            try runner.space("bury", "jobs", #"["mine too"]"#)
            let dump = try runner.dump("jobs", "--format", "json").output
            #expect(dump.contains(#""session":"#) && dump.contains(#""expires":"#))
            try runner.space("load", "copy", input: dump)
            #expect((Int(try runner.space("ttl", "copy", "k").output.dropLast()) ?? 0) > 90_000)
            #expect(try runner.space("get", "copy", "mine").ending == .exited(1))
            #expect(try runner.tuples("copy") == [#"["lasts"]"#])
            #expect((Int(try runner.space("ttl", "copy", "1").output.dropLast()) ?? 0) > 90_000)
            #expect(try runner.dump("jobs", "--check").ending == .exited(0))
            #expect(try runner.dump("jobs", "--salvage").output.contains(#""key":"k""#))
        }
    }

    @Test("A tuple that is loaded from a dump expires when the dumped one does, to the millisecond")
    func loadedExpiry() throws {
        try withRoot { (runner) throws in
            // The clocks are read anew for each, so that some would differ.
            let tuples = (0..<500).map { "[\($0)]" }.joined(separator: "\n")
            try runner.space("write", "jobs", "-", "--expires", "100s", input: tuples)
            let dump = try runner.dump("jobs", "--format", "json").output
            try runner.space("load", "copy", input: dump)
            func expiries(_ dump: String) -> [Substring] { dump.matches(of: /"expires":[0-9]+/).map(\.output) }
            #expect(expiries(dump).count == 500)
            #expect(try expiries(runner.dump("copy", "--format", "json").output) == expiries(dump))
        }
    }
}
