import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("Names that are equal in Swift, and different in the database", .blocking, .timeLimit(.minutes(5)))
struct TwinNameCommandTests {

    private let one = TwinNames.composed
    private let two = TwinNames.decomposed

    private func lines(_ result: CommandResult, _ expected: [String]) -> Bool {
        TwinNames.areSame(result.lines, expected)
    }

    @Test("Namespaces, in the order of their bytes")
    func namespaces() throws {
        try withRoot { (runner) throws in
            try runner.space("write", one, "[1]")
            try runner.space("write", two, "[2]")
            try runner.space("write", "f", "[3]")
            let names = try runner.space("list", "--json").lines.map { (line) -> Value? in
                guard case .object(let namespace) = try Value(json: line) else { return nil }
                return namespace["name"]
            }
            #expect(names == [.string(two), "f", .string(one)])
            #expect(try runner.tuples(one) == ["[1]"] && runner.tuples(two) == ["[2]"])
            #expect(try runner.space("delete", one).ending == .exited(0))
            #expect(try runner.tuples(two) == ["[2]"])
        }
    }

    @Test("Arguments, values that begin with a combining mark, and objects")
    func arguments() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[$a, $b]", "--arg", "a", one, "--arg", "b", two)
            #expect(
                lines(try runner.space("read", "jobs", "[$a, \"?\"]", "--arg", "a", one), ["[\"\(one)\",\"\(two)\"]"])
            )
            #expect(try runner.space("read", "jobs", "[$a, \"?\"]", "--arg", "a", two).status == 1)
            let mark = "\u{301}x"
            #expect(try runner.space("write", "jobs", "[$a]", "--arg", "a", mark).ending == .exited(0))
            #expect(lines(try runner.space("read", "jobs", "[$a]", "--arg", "a", mark), ["[\"\(mark)\"]"]))
            #expect(try runner.space("write", "jobs", "{\"\(one)\":1,\"\(two)\":2}").ending == .exited(0))
            #expect(lines(try runner.space("take", "jobs", "{\"\(two)\":2}"), ["{\"\(two)\":2,\"\(one)\":1}"]))
            #expect(try runner.space("write", "jobs", "{\"\(one)\":1,\"\(one)\":2}").status == 65)
        }
    }

    @Test("Cells, transactions and their changes")
    func transactions() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", one, "1")
            let watch = try runner.start("space", ["watch", "jobs", "--key", two, "--max", "1"])
            #expect(try eventually { try runner.space("show", "jobs").output.contains("key") })
            let steps = "[\"set\", \"\(one)\", 2]\n[\"set\", \"\(two)\", 3]\n"
            #expect(try runner.space("txn", "jobs", input: steps).ending == .exited(0))
            let told = try watch.finish()
            #expect(told.output.contains("\"new\":3") && !told.output.contains("\"old\":1"), "\(told.output)")
            for (name, value) in [(one, "2"), (two, "3")] {
                #expect(try runner.space("get", "jobs", name).lines == [value])
            }
        }
    }

    @Test("Queues, groups, dumps and loads")
    func dumps() throws {
        try withRoot { (runner) throws in
            for name in [one, two] {
                try runner.space("queue", "jobs", "q", "put", "1", "--group", name)
                try runner.space("queue", "jobs", name, "put", "2")
                try runner.space("set", "jobs", name, "1")
            }
            #expect(try runner.dump("--check", "jobs").output == "")
            let dump = try runner.dump("--format", "json", "jobs")
            #expect(dump.ending == .exited(0))
            #expect(try runner.space("load", "copy", input: dump.output).ending == .exited(0))
            let copy = try runner.dump("--format", "json", "copy")
            // A loaded item gets a new number.
            let (before, after) = (Self.contents(dump), Self.contents(copy))
            #expect(before.count { $0.contains("\"kind\":\"cell\"") } == 2)
            #expect(TwinNames.areSame(after, before), "\(after) \(before)")
            #expect(try runner.dump("--check", "copy").output == "")
        }
    }

    @Test("A waiter sees the holder of its own name")
    func holders() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let held = try [one, two].map { name in
                let command = try runner.start(
                    "space",
                    ["lock", "jobs", name, "--", "/bin/sh", "-c", "echo has; read end"]
                )
                #expect(try command.readLine() == "has")
                return command
            }
            let waiter = try runner.start("space", ["lock", "jobs", one, "--", "true"])
            let line = try #require(try watched(runner))
            #expect(line.contains("waits for \(held[0].pid)") && !line.contains("\(held[1].pid)"), "\(line)")
            for command in held { try command.send("end\n") }
            for command in held { #expect(try command.wait() == .exited(0)) }
            #expect(try waiter.wait() == .exited(0))
        }
    }

    /// A dump's lines of a namespace's contents, without the items' numbers.
    private static func contents(_ dump: CommandResult) -> [String] {
        dump.lines
            .filter { !$0.contains("\"kind\":\"namespace\"") && !$0.contains("\"kind\":\"owner\"") }
            .map { $0.replacing(/"(id|written|writer)":[0-9]+,/, with: "") }
    }

    /// The line of a waiter, once there is one.
    private func watched(_ runner: CommandRunner) throws -> String? {
        var line: String?
        _ = try eventually {
            line = try runner.space("show", "jobs").lines.first { $0.contains("waits for") }
            return line != nil
        }
        return line
    }
}
