import SpaceTestSupport
import SpaceTesting
import Testing

/// A command that can't print a result does not remove it.
@Suite("Results that can't be printed", .blocking, .timeLimit(.minutes(5)))
struct UnprintedTests {
    /// Opens a pipe without a reader as 4.
    ///
    /// It is the shell's own, so that no process of another test has its reading end.
    private static let brokenPipe =
        #"f=$(mktemp -u) && mkfifo "$f" && exec 3<>"$f" && exec 4>"$f" 3<&- && rm "$f" && "#

    @Test("A cell, and a tuple that was moved", arguments: ["> /dev/full", ">&-", ">&4"])
    func stays(_ output: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["a",1]"#)
            try runner.space("set", "jobs", "k", "7")
            for command in ["unset jobs k", #"move jobs '["a","?"]' '["b"]'"#] {
                let shell = try runner.start("/bin/sh", ["-c", "\(Self.brokenPipe)exec space \(command) \(output)"])
                #expect(try shell.finish().ending == .exited(74), "\(command)")
            }
            #expect(try runner.space("get", "jobs", "k").output == "7\n")
            #expect(try runner.tuples("jobs") == [#"["a",1]"#])
        }
    }

    @Test("Counts, and what is removed from a queue", arguments: [">&-", ">&4"])
    func counts(_ output: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            try runner.space("counter", "jobs", "c", "5")
            try runner.space("latch", "jobs", "l", "--count", "2", "--down")
            try runner.space("queue", "jobs", "q", "put", "1")
            for command in [
                "counter jobs c", "latch jobs l --count 2 --down", "queue jobs q drain", "queue jobs q kick",
                "claim jobs --hold '[1]'", "request jobs r --wait 0",
            ] {
                let shell = try runner.start("/bin/sh", ["-c", "\(Self.brokenPipe)exec space \(command) \(output)"])
                #expect(try shell.finish().ending == .exited(74), "\(command)")
            }
            #expect(try runner.space("counter", "jobs", "c", "0").output == "5\n")
            #expect(try runner.space("latch", "jobs", "l", "--count", "2", "--down").output == "0\n")
            #expect(try runner.space("queue", "jobs", "q", "count").output.contains(#""ready":1,"#))
            #expect(try runner.tuples("jobs") == ["[1]"])
        }
    }

    @Test("A tuple that can't be moved for want of room is not printed, and stays")
    func moveWithoutRoom() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--limit", "16M", #"["a"]"#)
            let large = #"["b","\#(String(repeating: "x", count: 100_000))"]"#
            while try runner.space("write", "jobs", large).status == 0 {}
            let moved = try runner.space("move", "jobs", #"["a"]"#, large)
            #expect(moved.ending == .exited(74))
            #expect(moved.output == "")
            #expect(try runner.tuples("jobs", #"["a"]"#) == [#"["a"]"#])
        }
    }

    @Test("What is printed is moved, also if another process fills the namespace meanwhile")
    func moveIntoFullNamespace() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--limit", "16M", #"["a"]"#)
            let large = #"["b","\#(String(repeating: "x", count: 100_000))"]"#
            // The pipe is full when the move begins, so it waits with its line.
            let script = "head -c 65536 /dev/zero; exec space move jobs '[\"a\"]' '\(large)'"
            let move = try runner.start("/bin/sh", ["-c", script])
            #expect(
                try eventually {
                    let words = String(decoding: try bytes(ofFile: "/proc/\(move.pid)/cmdline"), as: UTF8.self)
                    let place = String(decoding: try bytes(ofFile: "/proc/\(move.pid)/wchan"), as: UTF8.self)
                    return words.hasPrefix("space\0") && place.contains("pipe_write")
                }
            )
            for size in [100_000, 1000, 10] {
                let more = #"["c","\#(String(repeating: "x", count: size))"]"#
                while try runner.space("write", "jobs", more).status == 0 {}
            }
            #expect(try runner.space("write", "jobs", large).status == 74)
            let moved = try move.finish()
            #expect(moved.ending == .exited(0), "\(moved.errors)")
            #expect(moved.output.hasSuffix("\0[\"a\"]\n"))
            #expect(try runner.space("count", "jobs", #"["b","?"]"#).output == "1\n")
            #expect(try runner.space("count", "jobs", #"["a"]"#).output == "0\n")
        }
    }

    @Test("If the moved tuple lacks the field to print, the tuple stays where it is")
    func lackingField() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["a"]"#)
            #expect(try runner.space("move", "jobs", #"["?"]"#, "[1,2]", "--field", "3").ending == .exited(65))
            #expect(try runner.tuples("jobs") == [#"["a"]"#])
        }
    }

    @Test("A transaction whose results can't be read is not begun")
    func transaction() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let script = #"echo '["take",[1]]' | space txn jobs >&-; echo $? >&2"#
            #expect(try runner.shell(script).errors.hasSuffix("74\n"))
            #expect(try runner.tuples("jobs") == ["[1]"])
        }
    }
}
