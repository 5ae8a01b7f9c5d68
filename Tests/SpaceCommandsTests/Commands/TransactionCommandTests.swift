import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("move and txn", .blocking, .timeLimit(.minutes(5)))
struct TransactionCommandTests {
    @Test("A move takes one tuple and writes another")
    func move() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1,"queued"]"#)
            let moved = try runner.space(
                "move",
                "jobs",
                #"["job","?","queued"]"#,
                #"["job",1,"running"]"#,
                "--field",
                "1"
            )
            #expect(moved.output == "1\n")
            #expect(try runner.tuples("jobs") == [#"["job",1,"running"]"#])
            #expect(try runner.space("move", "jobs", #"["none"]"#, #"["never"]"#).ending == .exited(1))
            #expect(try runner.space("move", "jobs", "-E", "4", #"["none"]"#, #"["never"]"#).ending == .exited(4))
            #expect(try runner.space("move", "jobs", #"["?"]"#, "never").ending == .exited(65))
            #expect(try runner.space("move", "none", "[]", "[]").ending == .exited(69))
            #expect(try runner.tuples("jobs") == [#"["job",1,"running"]"#])
        }
    }

    @Test("A transaction can do every operation")
    func operations() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job",1]"#, #"["job",2]"#, #"["job",3]"#, #"["a","?int"]"#)
            try runner.space("set", "jobs", "cell", "1")
            let id = try runner.shell("space claim jobs --hold --owner none '[\"job\",1]' || echo refused").lines
            #expect(id == ["refused"])
            let lines = [
                (#"["write", ["new", "?int"]]"#, "5"), (#"["take", ["job", "?int"]]"#, #"["job",1]"#),
                (#"{"op":"write","tuple":{"kind":"r"},"expires":"1h"}"#, "6"),
                (#"["take-all", ["job", "?"]]"#, #"[["job",2],["job",3]]"#),
                (#"["read", ["new", "??int"]]"#, #"["new","?int"]"#), (#"["count"]"#, "3"),
                (#"["count", ["new", "?"]]"#, "1"), (#"["set", "cell", {"a": 1}]"#, "1"),
                (#"["get", "cell"]"#, #"{"a":1}"#),
                (#"{"op":"set","key":"cell","value":2,"if_equals":{"a":1}}"#, "true"),
                (#"{"op":"set","key":"cell","value":3,"if_absent":true,"optional":true}"#, "false"),
                (#"["incr", "n", 4]"#, "4"), (#"["incr", "n"]"#, "5"), (#"["unset", "n"]"#, "5"),
                (#"{"op":"take","template":["none"],"optional":true}"#, "null"),
                (#"["move", ["new", "?"], ["old"]]"#, #"["new","?int"]"#), (#"["post", "note", 1]"#, "null"),
            ]
            let input = lines.map(\.0).joined(separator: "\n\n")
            let result = try runner.space("txn", "jobs", input: input)
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(result.lines == lines.map(\.1))
            #expect(try runner.tuples("jobs") == [#"["a","?int"]"#, #"{"kind":"r"}"#, #"["old"]"#])
            #expect(try runner.space("get", "jobs", "cell").output == "2\n")
            let none = try runner.space("txn", "jobs", input: "")
            #expect(none.ending == .exited(0))
            #expect(none.output == "")
        }
    }

    @Test(
        "A transaction does all or nothing",
        arguments: [
            (#"["take", ["none"]]"#, 1), (#"["get", "none"]"#, 1),
            (#"{"op":"set","key":"cell","value":3,"if_absent":true}"#, 1), (#"["incr", "word"]"#, 65),
            (#"["complete", 77]"#, 75), ("nonsense", 65), (#"["fly"]"#, 65), (#"["write"]"#, 65),
            (#"["write", [1], "5s", 2]"#, 65), (#"["write", 5]"#, 65), (#"["take", ["?what"]]"#, 65),
            (#"{"op":"write","tuple":[],"colour":1}"#, 65), (#"["incr", "n", "x"]"#, 65), (#"["set", 1, 1]"#, 65),
            (#"["write", [1], "long"]"#, 65), ("{}", 65), ("[]", 65), ("7", 65), (#"["set", "", 1]"#, 65),
        ]
    )
    func nothing(_ line: String, _ status: Int32) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            try runner.space("set", "jobs", "cell", "1")
            try runner.space("set", "jobs", "word", "\"w\"")
            let result = try runner.space(
                "txn",
                "jobs",
                input: "[\"write\", [2]]\n[\"take\", [1]]\n\(line)\n[\"write\", [3]]"
            )
            #expect(result.ending == .exited(status), "\(result.errors)")
            #expect(result.output == "")
            #expect(result.errors.contains("standard input, line 3"), "\(result.errors)")
            // These lines are well formed, and fail in the transaction.
            let isFoundThere = status != 65 || line.contains("word")
            #expect(!isFoundThere || result.errors.contains("nothing was changed"), "\(result.errors)")
            #expect(try runner.tuples("jobs") == ["[1]"])
        }
    }

    @Test("A held claim is completed together with its results")
    func completes() throws {
        try withRoot { (runner) throws in
            let script = """
                export SHARED_SPACE_OWNER=$$
                space write jobs '["job",1]'
                id=$(space claim jobs --hold '["job",1]')
                printf '%s\\n' "[\\"complete\\", $id]" '["write", ["done",1]]' | space txn jobs
                printf '%s\\n' '["write", ["twice"]]' "[\\"complete\\", $id]" | space txn jobs 2>&-; echo $?
                space read jobs --all '"?"'
                """
            let result = try runner.shell(script)
            #expect(result.lines == [#"["job",1]"#, "2", "75", #"["done",1]"#], "\(result.errors)")
        }
    }
}
