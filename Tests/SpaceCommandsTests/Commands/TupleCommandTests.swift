import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("write, read, count", .blocking, .timeLimit(.minutes(5)))
struct TupleCommandTests {
    @Test("Tuples are read as written, the oldest first")
    func roundTrip() throws {
        try withRoot { (runner) throws in
            let written = try runner.space("write", "jobs", #"["a", 1, 1.0, null, true]"#, #"{"kind":"note","n":-5}"#)
            #expect(written.ending == .exited(0))
            #expect(written.output == "")
            #expect(written.errors.hasPrefix("space: created \"jobs\"; it goes when process "), "\(written.errors)")
            #expect(try runner.space("write", "jobs", "--expires", "0", "[0]").errors == "")
            #expect(try runner.space("read", "jobs", "\"?\"").output == "[\"a\",1,1.0,null,true]\n")
            #expect(try runner.space("read", "jobs", "\"?\"", "--newest").output == "{\"kind\":\"note\",\"n\":-5}\n")
            #expect(try runner.tuples("jobs") == [#"["a",1,1.0,null,true]"#, #"{"kind":"note","n":-5}"#])
            #expect(try runner.space("count", "jobs").output == "2\n")
            #expect(try runner.space("count", "jobs", #"["b"]"#).output == "0\n")
        }
    }

    @Test("Templates match as documented")
    func templates() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["cat", 5]"#, #"["?x", 0.5]"#, #"{"a": {"b": 1, "c": 2}}"#, "[]")
            func count(_ template: String, _ options: String...) throws -> String {
                try runner.start("space", ["count", "jobs", template] + options).finish().output
            }
            #expect(try count(#"["?", "?"]"#) == "2\n")
            #expect(try count(#"["?/^c/", "?1...9"]"#) == "1\n")
            #expect(try count(#"["?string", "?double"]"#) == "1\n")
            #expect(try count(#"["??x", "?"]"#) == "1\n")
            #expect(try count(#"["?x", 0.5]"#, "--literal") == "1\n")
            #expect(try count(#"{"a": {"b": 1}}"#) == "1\n")
            #expect(try count(#"{"a": {"b": 1}}"#, "--exact") == "0\n")
            #expect(try count(#"["$base64"]"#) == "0\n")
        }
    }

    @Test("The status tells a missing match from a missing namespace")
    func statuses() throws {
        try withRoot { (runner) throws in
            let missing = try runner.space("read", "jobs", "[]")
            #expect(missing.ending == .exited(69))
            #expect(missing.errors.contains("jobs"))
            #expect(try runner.space("count", "jobs").ending == .exited(69))
            #expect(try runner.space("take", "jobs", "[]", "-E", "3").ending == .exited(69))
            try runner.space("write", "jobs", "[1]")
            let nothing = try runner.space("read", "jobs", "[]")
            #expect(nothing.ending == .exited(1))
            #expect(nothing.errors == "")
            #expect(try runner.space("read", "jobs", "[]", "-E", "3").ending == .exited(3))
            #expect(try runner.space("take", "jobs", "[]", "-E=3").ending == .exited(3))
            #expect(try runner.space("read", "jobs", "[]", "--all").ending == .exited(1))
        }
    }

    @Test(
        "Bad data is 65, and the error names the mistake",
        arguments: [
            ["write", "a", "nonsense"], ["write", "a", "7"], ["write", "a", #"{"x":1,"x":2}"#],
            ["write", "a", #"["\ud800"]"#],
            ["write", "a", "[9223372036854775808]"], ["read", "a", #"["?nonsense"]"#], ["read", "a", #"["?/(/"]"#],
            ["write", "a/b", "[]"], ["write", "", "[]"], ["write", "..", "[]"], ["set", "a", "k", "nonsense"],
            ["write", "a", "--argjson", "x", "{", "[$x]"], ["write", "a", "[$missing]"], ["write", "a", "--", "--all"],
        ]
    )
    func badData(_ words: [String]) throws {
        try withRoot { (runner) throws in
            let result = try runner.start("space", words).finish()
            #expect(result.ending == .exited(65), "\(result.errors)")
            #expect(result.errors.hasPrefix("space: "))
            #expect(result.output == "")
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("Writing is all or nothing, and an error names the line")
    func allOrNothing() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let bad = try runner.space("write", "jobs", "-", input: "[1]\n\n[2]\n[3\n[4]\n")
            #expect(bad.ending == .exited(65))
            #expect(bad.errors.contains("line 4"))
            #expect(try runner.space("write", "jobs", "[1]", "nonsense").ending == .exited(65))
            #expect(try runner.space("write", "jobs", "-", input: "[1]\n[\"\u{0}\"").ending == .exited(65))
            #expect(try runner.tuples("jobs") == ["[0]"])
            // The last line needs no line end, and the command line's other tuples keep their places.
            #expect(try runner.space("write", "jobs", "[1]", "-", "[4]", input: "[2]\r\n \t\n[3]").ending == .exited(0))
            #expect(try runner.tuples("jobs") == ["[0]", "[1]", "[2]", "[3]", "[4]"])
            #expect(try runner.space("write", "jobs", "-", "-").ending == .exited(64))
        }
    }

    @Test("Bytes that are not UTF-8 are refused")
    func invalidUTF8() throws {
        try withRoot { (runner) throws in
            let result = try runner.shell(#"printf '[1]\n["\377"]\n' | space write jobs -; echo $?"#)
            #expect(result.output == "65\n")
            #expect(result.errors.contains("line 2"))
        }
    }

    @Test("Many lines are written at once")
    func manyLines() throws {
        try withRoot { (runner) throws in
            let lines = (0..<2000).map { "[\($0),\"\(String(repeating: "x", count: 50))\"]" }
            #expect(try runner.space("write", "jobs", "-", input: lines.joined(separator: "\n")).ending == .exited(0))
            #expect(try runner.tuples("jobs") == lines)
        }
    }

    @Test("Tokens of --arg and --argjson are values, never formals")
    func arguments() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--arg", "f", "?int", "--argjson", "n", "-5", #"["$f", $f, $n]"#)
            #expect(try runner.tuples("jobs") == [#"["$f","?int",-5]"#])
            #expect(try runner.space("count", "jobs", "--arg", "f", "?int", #"["?", $f, "?"]"#).output == "1\n")
            #expect(try runner.space("count", "jobs", "--arg", "f", "?", #"["?", $f, "?"]"#).output == "0\n")
            #expect(
                try runner.space("write", "jobs", "--arg", "x", "1", "--argjson", "x", "1", "[$x]").ending
                    == .exited(64)
            )
            // Standard input is other people's data: it has no tokens.
            #expect(try runner.space("write", "jobs", "--arg", "f", "x", "-", input: "[$f]").ending == .exited(65))
        }
    }

    @Test("Strings are printed raw, and single fields")
    func printing() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["a b", 7, {"x": "y"}]"#, #"{"name": "n\u0001", "0": 1}"#)
            func read(_ template: String, _ options: String...) throws -> CommandResult {
                try runner.start("space", ["read", "jobs", template] + options).finish()
            }
            #expect(try read(#"["?","?","?"]"#, "--field", "0").output == "\"a b\"\n")
            #expect(try read(#"["?","?","?"]"#, "--field", "0", "-r").output == "a b\n")
            #expect(try read(#"["?","?","?"]"#, "--field", "1", "-r").output == "7\n")
            #expect(try read(#"["?","?","?"]"#, "--field", "2").output == "{\"x\":\"y\"}\n")
            #expect(try read("{}", "--field", "name", "-r").output == "n\u{1}\n")
            #expect(try read("{}", "--field", "0").output == "1\n")
            #expect(try read(#"["?","?","?"]"#, "--field", "3").ending == .exited(65))
            #expect(try read(#"["?","?","?"]"#, "--field", "-1").ending == .exited(65))
            #expect(try read(#"["?","?","?"]"#, "--field", "name").ending == .exited(65))
            // A tuple without the field can't be printed, so it is not taken.
            let take = try runner.space("take", "jobs", #"["?","?","?"]"#, "--field", "9")
            #expect(take.ending == .exited(65))
            #expect(try runner.space("count", "jobs").output == "2\n")
        }
    }

    @Test("Ids, and tuples that expire at once")
    func identifiers() throws {
        try withRoot { (runner) throws in
            let ids = try runner.space("write", "jobs", "--print-id", "[1]", "[2]").lines.compactMap { Int($0) }
            #expect(ids.count == 2)
            #expect(ids == ids.sorted())
            #expect(try runner.space("write", "jobs", "--expires", "0", "[3]").ending == .exited(0))
            #expect(try runner.space("write", "jobs", "--expires", "1h", "[4]").ending == .exited(0))
            #expect(try runner.space("write", "jobs", "--expires", "never", "[5]").ending == .exited(64))
            #expect(try runner.tuples("jobs") == ["[1]", "[2]", "[4]"])
        }
    }

    @Test("The mode is fixed when a namespace is created")
    func modes() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("write", "jobs", "--guarded", "[1]").ending == .exited(0))
            #expect(try runner.space("write", "jobs", "[2]").ending == .exited(0))
            let other = try runner.space("write", "jobs", "--durable", "[3]")
            #expect(other.ending == .exited(69))
            #expect(try runner.space("write", "x", "--durable", "--guarded", "[3]").ending == .exited(64))
            #expect(try runner.tuples("jobs") == ["[1]", "[2]"])
        }
    }

    @Test("--root goes before the variable")
    func root() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "a", "[1]")
            let other = CommandRunner(root: "/nonexistent/root")
            #expect(try other.space("count", "a", "--root", runner.root).output == "1\n")
            #expect(try other.space("write", "a", "[1]").ending != .exited(0))
            #expect(
                try runner.shell(
                    #"chmod 777 "$SHARED_SPACE_ROOT"; space list; echo $?; chmod 700 "$SHARED_SPACE_ROOT""#
                )
                .output == "77\n"
            )
        }
    }
}
