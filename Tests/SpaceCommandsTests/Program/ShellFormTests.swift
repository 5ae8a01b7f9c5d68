import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

/// What scripts and people at a terminal want to say without ceremony.
@Suite("Forms for the shell", .blocking, .timeLimit(.minutes(5)))
struct ShellFormTests {
    @Test("Words are strings where that is asked for")
    func strings() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("set", "jobs", "-s", "k", "hello").ending == .exited(0))
            #expect(try runner.space("get", "jobs", "k").lines == [#""hello""#])
            #expect(try runner.space("set", "jobs", "--string", "n", "42").ending == .exited(0))
            #expect(try runner.space("get", "jobs", "n").lines == [#""42""#])
            #expect(try runner.space("set", "jobs", "-s", "k", "bye", "--if-equals", "hello").ending == .exited(0))
            #expect(try runner.space("set", "jobs", "-s", "k", "x", "--if-equals", "hello").ending == .exited(1))
            #expect(try runner.space("write", "jobs", "--strings", "resize", "42", "-").ending == .exited(0))
            #expect(try runner.tuples("jobs") == [#"["resize","42","-"]"#])
            #expect(try runner.space("queue", "jobs", "mail", "put", "-s", "hello", "{").ending == .exited(0))
            let items = try runner.space("queue", "jobs", "mail", "peek").output
            #expect(items.contains(#""value":"hello""#) && items.contains(#""value":"{""#), "\(items)")
            let watch = try runner.start("space", ["watch", "jobs", "--post", "p", "--max", "1"])
            _ = try watch.readLine()
            #expect(try runner.space("post", "jobs", "p", "-s", "hello").ending == .exited(0))
            #expect(try watch.readLine()?.contains(#""value":"hello""#) == true)
        }
    }

    @Test(
        "An unquoted word is refused with the way to write it",
        arguments: [
            ["set", "jobs", "k", "it's"], ["post", "jobs", "p", "it's"], ["request", "jobs", "f", "it's"],
            ["queue", "jobs", "q", "put", "it's"],
        ]
    )
    func unquoted(_ words: [String]) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let result = try runner.start("space", words).finish()
            #expect(result.ending == .exited(65))
            #expect(result.errors.contains(#"'"it'\''s"'"#) && result.errors.contains("--string"), "\(result.errors)")
        }
    }

    @Test("A namespace is created only if that is allowed, with the bounds that are given")
    func creation() throws {
        try withRoot { (runner) throws in
            for words in [
                ["write", "jobs", "[1]"], ["set", "jobs", "k", "1"], ["own", "jobs"], ["incr", "jobs", "n"],
            ] {
                let result = try runner.start("space", words + ["--no-create"]).finish()
                #expect(result.ending == .exited(69), "\(words): \(result.errors)")
            }
            #expect(try runner.space("list").output == "")
            let limited = ["write", "jobs", "--limit", "32M", "--group", "\(getgid())", "[1]"]
            #expect(try runner.start("space", limited).wait() == .exited(0))
            #expect(try runner.space("show", "jobs", "--json").output.contains(#""limit":33554432"#))
            #expect(try runner.space("write", "jobs", "--no-create", "[2]").ending == .exited(0))
            #expect(try runner.space("write", "jobs", "--limit", "64M", "[3]").ending != .exited(0))
            for bad in [
                ["--limit", "x"], ["--limit", "-1"], ["--limit", "99999999999999999999G"], ["--group", "no such"],
                ["--group", "4294967295"],
            ] {
                #expect(try runner.start("space", ["write", "other"] + bad + ["[1]"]).wait() == .exited(64), "\(bad)")
            }
        }
    }

    @Test("A watch of a part tells that part")
    func part() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "cfg", #"{"port":80,"host":"a"}"#)
            let watch = try runner.start("space", ["watch", "jobs", "--key", "cfg.port", "--max", "3"])
            _ = try watch.readLine()
            for value in [
                #"{"port":81,"host":"a"}"#, #"{"port":81,"host":"b"}"#, #"{"host":"b"}"#, "7", #"{"port":1}"#,
            ] {
                try runner.space("set", "jobs", "cfg", value)
            }
            let lines = try (0..<3).map { _ in try watch.readLine() ?? "" }
            #expect(lines[0].hasSuffix(#""event":"set","key":"cfg","part":"port","old":80,"new":81}"#), "\(lines)")
            #expect(lines[1].hasSuffix(#""event":"unset","key":"cfg","part":"port","old":81}"#), "\(lines)")
            #expect(lines[2].hasSuffix(#""event":"set","key":"cfg","part":"port","new":1}"#), "\(lines)")
            #expect(try watch.wait() == .exited(0))
        }
    }

    @Test("The cell a.b and the part b of the cell a are told apart, by bytes")
    func cellOrPart() throws {
        try withRoot { (runner) throws in
            try runner.space("own", "jobs")
            let watch = try runner.start("space", ["watch", "jobs", "--key", "a.b.c", "--max", "3"])
            _ = try watch.readLine()
            for (key, value) in [("a", #"{"b":{"c":1}}"#), ("a.b", #"{"c":2}"#), ("a.b.c", "3")] {
                try runner.space("set", "jobs", key, value)
            }
            let lines = try (0..<3).map { _ in try watch.readLine() ?? "" }
            #expect(lines[0].hasSuffix(#""event":"set","key":"a","part":"b.c","new":1}"#), "\(lines)")
            #expect(lines[1].hasSuffix(#""event":"set","key":"a.b","part":"c","new":2}"#), "\(lines)")
            #expect(lines[2].hasSuffix(#""event":"set","key":"a.b.c","new":3}"#), "\(lines)")
            #expect(try watch.wait() == .exited(0))
        }
    }

    @Test("What is no tuple or command is answered with what is meant")
    func meant() throws {
        try withRoot { (runner) throws in
            let write = try runner.space("write", "jobs", "resize", "42", "it's")
            #expect(write.ending == .exited(65))
            #expect(write.errors.contains(#"write '["resize",42,"it'\''s"]', or give --strings"#), "\(write.errors)")
            let broken = try runner.space("write", "jobs", "[1,")
            #expect(broken.ending == .exited(65) && !broken.errors.contains("--strings"), "\(broken.errors)")
            for (word, command) in [
                ("ls", "list"), ("rm", "delete"), ("wirte", "write"), ("lst", "list"), ("tkae", "take"),
                ("Read", "read"),
                ("pop", "take"), ("subscribe", "watch"),
            ] {
                let result = try runner.space(word, "jobs")
                #expect(result.ending == .exited(64))
                #expect(result.errors.contains("did you mean '\(command)'?"), "\(result.errors)")
            }
            let unknown = try runner.space("frobnicate")
            #expect(unknown.ending == .exited(64) && !unknown.errors.contains("did you mean"), "\(unknown.errors)")
        }
    }

    @Test("list counts queues and ordered sets")
    func listed() throws {
        try withRoot { (runner) throws in
            try runner.space("own", "jobs")
            for queue in ["mail", "scans", "mail"] { try runner.space("queue", "jobs", queue, "put", "1") }
            try runner.space("items", "jobs", "shelf", "append", "1")
            let titles = try runner.space("list", "--long").lines.map { $0.split(separator: " ").map(String.init) }
            #expect(titles.first?[3...4] == ["QUEUES", "SETS"] && titles.last?[3...4] == ["2", "1"], "\(titles)")
            #expect(try runner.space("list", "--json").output.contains(#""queues":2,"sets":1"#))
        }
    }

    @Test("A barrier and a latch run a command when they open")
    func commands() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let first = try runner.start(
                "space",
                ["barrier", "jobs", "b", "--parties", "2", "--", "sh", "-c", "exit 3"]
            )
            #expect(try runner.space("barrier", "jobs", "b", "--parties", "2").ending == .exited(0))
            #expect(try first.wait() == .exited(3))
            let late = ["barrier", "jobs", "b", "--parties", "2", "--wait", "0", "--", "echo", "never"]
            let none = try runner.start("space", late).finish()
            #expect(none.ending == .exited(1) && none.output == "")
            #expect(try runner.space("latch", "jobs", "l", "--count", "1", "--down").lines == ["0"])
            let open = try runner.space("latch", "jobs", "l", "--count", "1", "--", "echo", "open")
            #expect(open.ending == .exited(0) && open.lines == ["open"])
            let both = try runner.space("latch", "jobs", "l", "--count", "1", "--down", "--", "true")
            #expect(both.ending == .exited(64))
        }
    }

    @Test("read --max prints the first of several")
    func some() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "[2]", #"["x"]"#, "[3]")
            #expect(try runner.space("read", "jobs", "--max", "2", #"["?int"]"#).lines == ["[1]", "[2]"])
            let several = try runner.space("read", "jobs", "--max", "3", #"["?string"]"#, #"["?int"]"#)
            #expect(several.lines == ["[1]", "[2]", #"["x"]"#])
            #expect(try runner.space("read", "jobs", "--max", "2", "--newest", #"["?int"]"#).lines == ["[3]", "[2]"])
            #expect(try runner.space("read", "jobs", "--max", "0", #"["?int"]"#).ending == .exited(64))
            #expect(try runner.space("read", "jobs", "--max", "2", #"["none"]"#).ending == .exited(1))
        }
    }

    @Test("The root may stand before the command, and help has help")
    func before() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let listed = try runner.start("space", ["--root", runner.root, "list"]).finish()
            #expect(listed.lines == ["jobs"], "\(listed)")
            let joined = try runner.start("space", ["--timeout=1s", "--root=\(runner.root)", "read", "jobs", "[1]"])
                .finish()
            #expect(joined.lines == ["[1]"], "\(joined)")
            #expect(try runner.start("space", ["--root", runner.root]).wait() == .exited(64))
            #expect(try runner.start("space", ["--root", runner.root, "nonsense"]).wait() == .exited(64))
            let help = try runner.space("help", "help")
            #expect(help.ending == .exited(0) && help.output.contains("write"))
        }
    }

    @Test("An unknown operation of txn is named, with those that there are")
    func operations() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            for line in [#"["tak", [1]]"#, #"{"op": "tak"}"#] {
                let result = try runner.start("space", ["txn", "jobs"]).finish(input: line + "\n")
                #expect(result.ending == .exited(65))
                #expect(
                    result.errors.contains(#"no operation "tak""#) && result.errors.contains("take-all"),
                    "\(result)"
                )
            }
        }
    }

    @Test("A subscription is ended by name")
    func unsubscribing() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let watch = ["watch", "jobs", "--subscription", "audit", "--max", "1"]
            let first = try runner.start("space", watch)
            _ = try first.readLine()
            try runner.space("write", "jobs", "[2]")
            #expect(try first.wait() == .exited(0))
            #expect(try runner.space("show", "jobs").output.contains("audit"))
            #expect(try runner.space("unsubscribe", "jobs", "audit").ending == .exited(0))
            #expect(try !runner.space("show", "jobs").output.contains("audit"))
            #expect(try runner.space("unsubscribe", "jobs", "audit").ending == .exited(1))
            #expect(try runner.space("unsubscribe", "none", "audit").ending == .exited(69))
        }
    }

    @Test("show says what the processes run, and which are stopped")
    func processes() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let holder = try runner.start("space", ["lock", "jobs", "l", "--", "sh", "-c", "echo holds; read end"])
            #expect(try holder.readLine() == "holds")
            func row() throws -> String {
                try runner.space("show", "jobs").lines.first { $0.contains("\(holder.pid)") } ?? ""
            }
            #expect(try row().contains("sh -c echo holds; read end (space lock)"))
            #expect(try row().hasSuffix("runs"))
            holder.signal(SIGSTOP)
            #expect(try eventually { try row().hasSuffix("stopped") })
            holder.signal(SIGCONT)
            #expect(try eventually { try row().hasSuffix("runs") })
            try holder.send("end\n")
            #expect(try holder.wait() == .exited(0))
        }
    }

    @Test("Bytes are printed as they are with -r")
    func rawBytes() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "k", #"{"$base64":"AP8KQQ=="}"#)
            try runner.space("write", "jobs", #"["b", {"$base64":"AP8KQQ=="}]"#)
            let commands = [
                "space get jobs k -r", #"space read jobs '["b", "?"]' --field 1 -r"#,
                #"space take jobs '["b", "?"]' --field 1 -r"#,
            ]
            for command in commands {
                #expect(try runner.shell("\(command) | od -An -tx1").lines == [" 00 ff 0a 41 0a"], "\(command)")
            }
        }
    }

    @Test("A namespace for a group to which its creator does not belong is not made")
    func foreignGroup() throws {
        try withRoot { (runner) throws in
            let result = try runner.space("write", "n", "--group", "54321", "[1]")
            #expect(result.ending == .exited(77))
            #expect(result.errors.contains("does not belong to the group 54321"), "\(result.errors)")
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("A queue's item may begin with a dash")
    func dashedItem() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let put = try runner.space("queue", "n", "q", "put", "-s", "--", "-x")
            #expect(put.ending == .exited(0), "\(put.errors)")
            #expect(try runner.space("queue", "n", "q", "peek").output.contains("\"-x\""))
            try runner.space("delete", "n")
        }
    }

    @Test("A namespace that can't be looked at is shown by top with the reason")
    func failedSight() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            try runner.shell("truncate -s 100 \"$SHARED_SPACE_ROOT/n/control\"")
            let shown = try runner.space("top", "n", "--max", "1")
            #expect(shown.output.contains("n: the control file is truncated to 100 bytes"), "\(shown.output)")
            let line = try Value(json: runner.space("top", "n", "--max", "1", "--json").output)
            let sight = line["namespaces"]?.array?.first
            #expect(sight?["failed"] == .bool(true))
            #expect(sight?["error"]?.description.contains("truncated to 100 bytes") == true, "\(line)")
            try runner.space("delete", "n")
        }
    }
}
