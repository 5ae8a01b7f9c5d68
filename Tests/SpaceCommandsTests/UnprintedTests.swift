import SpaceTestSupport
import SpaceTesting
import Testing

/// A command that can't print a result does not remove it.
@Suite("Results that can't be printed", .blocking, .timeLimit(.minutes(5)))
struct UnprintedTests {
    @Test("A cell, and a tuple that was moved", arguments: ["> /dev/full", ">&-", ""])
    func stays(_ output: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["a",1]"#)
            try runner.space("set", "jobs", "k", "7")
            for command in ["unset jobs k", #"move jobs '["a","?"]' '["b"]'"#] {
                let shell = try runner.start("/bin/sh", ["-c", "read start; exec space \(command) \(output)"])
                // Without a redirection the output is a pipe that breaks before the command begins.
                if output.isEmpty { shell.closeOutput() }
                try shell.send("now\n")
                #expect(try shell.finish().ending == .exited(74), "\(command)")
            }
            #expect(try runner.space("get", "jobs", "k").output == "7\n")
            #expect(try runner.tuples("jobs") == [#"["a",1]"#])
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
