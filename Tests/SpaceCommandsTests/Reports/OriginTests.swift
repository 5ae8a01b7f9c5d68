import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// When and by which process tuples and the items of queues were written, as dumps and statistics tell it.
@Suite("When and by which process something was written", .blocking, .timeLimit(.minutes(5)))
struct OriginTests {
    /// The lines of a dump with this kind.
    private func dumped(_ runner: CommandRunner, _ kind: String) throws -> [Value] {
        try runner.dump("n", "--format", "json").lines.map { try Value(json: $0) }.filter { $0["kind"]?.string == kind }
    }

    /// Writes by a process of its own, and returns its PID.
    private func write(_ runner: CommandRunner, _ words: [String]) throws -> Value {
        let command = try runner.start("space", ["write", "n"] + words)
        #expect(try command.finish().ending == .exited(0))
        return .int(Int(command.pid))
    }

    @Test(
        "A tuple keeps its origin: in the near end and in LMDB, claimed, returned, with another end",
        arguments: modes
    )
    func tuples(_ mode: [String]) throws {
        try withRoot { (runner) throws in
            let start = Int(Clock.realtimeMilliseconds()) / 1000 * 1000 - 1000
            let first = try write(runner, ["--persistent"] + mode + ["[1]"])
            let second = try write(runner, [#"{"k":2}"#])
            let end = Int(Clock.realtimeMilliseconds())
            func check(_ when: String) throws {
                let tuples = try dumped(runner, "tuple")
                #expect(tuples.prefix(2).map { $0["writer"] } == [first, second], "\(when): \(tuples)")
                for tuple in tuples.prefix(2) {
                    guard case .int(let written)? = tuple["written"] else {
                        Issue.record("\(when): \(tuple)")
                        continue
                    }
                    #expect((start...end).contains(written), "\(when)")
                }
            }
            try check("written")
            #expect(try runner.space("claim", "n", "[1]", "--", "false").status == 1)
            try check("returned")
            for id in ["1", "2"] { #expect(try runner.space("expire", "n", id, "1h").ending == .exited(0)) }
            try check("with an end")
            let more = (0..<600).map { "[\($0),\"more\"]\n" }.joined()
            #expect(try runner.space("write", "n", "-", input: more).ending == .exited(0))
            try check("among many")
            let salvaged = try runner.dump("n", "--salvage").lines.map { try Value(json: $0) }
                .filter { $0["kind"]?.string == "tuple" }
            #expect(salvaged.prefix(2).map { $0["writer"] } == [first, second])

            let groups = try Value(json: try runner.space("stats", "n", "--json").output)["tuples"]?.array ?? []
            #expect(groups.contains { $0["shape"] == "[int]" && $0["oldest_writer"] == first && $0["returns"] == 1 })
            try runner.space("delete", "n")
        }
    }

    private static let modes = [[], ["--guarded"], ["--durable"]]

    @Test("An item of a queue keeps its origin until it is done")
    func items() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            let put = try runner.start("space", ["queue", "n", "mail", "put", "1"])
            #expect(try put.finish().ending == .exited(0))
            #expect(try runner.space("queue", "n", "mail", "take", "--", "false").status == 1)
            let item = try dumped(runner, "item").first
            #expect(item?["writer"] == .int(Int(put.pid)))
            #expect(item?["deliveries"] == 1)
            #expect(item?["written"] != nil)
            let peeked = try Value(json: try runner.space("queue", "n", "mail", "peek").output)
            #expect(peeked["writer"] == item?["writer"] && peeked["written"] == item?["written"])
            try runner.space("delete", "n")
        }
    }

    @Test("What is loaded keeps its origin: tuples, claimed ones, buried ones, and items")
    func loaded() throws {
        try withRoot { (runner) throws in
            for tuple in ["[1]", "[2]", "[3]"] { _ = try write(runner, ["--persistent", tuple]) }
            _ = try runner.space("queue", "n", "mail", "put", "1")
            let holder = try runner.start("/bin/sleep", ["1000"])
            _ = try runner.space("claim", "n", "--hold", "--owner", "\(holder.pid)", "[2]")
            _ = try runner.space("bury", "n", "[3]")
            /// The origins of tuples and items, by their value; a claimed tuple is loaded as a visible one.
            func origins() throws -> [Value: [Value?]] {
                let lines = try ["tuple", "claim", "buried", "item"].flatMap { try dumped(runner, $0) }
                let pairs = lines.compactMap { line in
                    (line["tuple"] ?? line["value"]).map { ($0, [line["writer"], line["written"]]) }
                }
                return Dictionary(pairs) { _, last in last }
            }
            let before = try origins()
            #expect(
                Set(before.keys) == [[1], [2], [3], 1] && before.values.allSatisfy { !$0.contains(nil) },
                "\(before)"
            )
            let dump = try runner.dump("n", "--format", "json").output
            try runner.space("delete", "n")
            #expect(try runner.space("load", "n", "--persistent", input: dump).ending == .exited(0))
            #expect(try origins() == before)
            holder.signal(SIGKILL)
            _ = try holder.wait()
            try runner.space("delete", "n")
        }
    }

    @Test("The age of the oldest tuple is told where operators look")
    func age() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            #expect(try runner.space("top", "--max", "1").output.contains("OLDEST TUPLE"))
            #expect(
                try runner.space("metrics", "n").output.contains("shared_space_oldest_tuple_seconds{namespace=\"n\"} ")
            )
            let text = try runner.dump("n").output
            #expect(text.contains("WRITTEN"))
            try runner.space("delete", "n")
        }
    }
}
