import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCommands

@Suite("Values nested as deep as they may be", .blocking, .timeLimit(.minutes(5)))
struct DeepValueCommandTests {
    private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }

    private var deepest: String { nested(TupleLimits.maximumDepth) }
    private var tooDeep: String { nested(TupleLimits.maximumDepth + 1) }

    @Test("Values of the greatest depth are dumped and loaded")
    func dumpAndLoad() throws {
        try withRoot { (runner) throws in
            let record = nested(TupleLimits.maximumDepth, #"{"a":"#, "}")
            try runner.space("set", "jobs", "k", deepest)
            try runner.space("set", "jobs", "bytes", nested(TupleLimits.maximumDepth, #"{"a":"#, "}"))
            try runner.space("write", "jobs", "[\(deepest)]", record)
            #expect(try runner.space("queue", "jobs", "q", "put", deepest).ending == .exited(0))
            #expect(try runner.space("post", "jobs", "n", deepest).ending == .exited(0))
            let dump = try runner.dump("jobs", "--format", "json")
            #expect(dump.ending == .exited(0))
            let load = try runner.space("load", "copy", input: dump.output)
            #expect(load.ending == .exited(0), "\(load.errors)")
            #expect(try runner.space("get", "copy", "k").output == deepest + "\n")
            #expect(try runner.space("get", "copy", "bytes").output == record + "\n")
            #expect(try runner.tuples("copy") == ["[\(deepest)]", record])
            let item = try runner.space("queue", "copy", "q", "take", "--", "cat")
            #expect(item.output == deepest + "\n", "\(item.errors)")
        }
    }

    @Test("Deeper values are refused, and the error names their line")
    func deeperInADump() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "k", deepest)
            try runner.space("write", "jobs", "[\(deepest)]")
            try runner.space("queue", "jobs", "q", "put", deepest)
            let lines = try runner.dump("jobs", "--format", "json").lines
            let places = lines.indices.filter {
                lines[$0].contains(deepest) && !lines[$0].contains(#""kind":"change""#)
            }
            #expect(places.count == 3)
            for place in places {
                var changed = lines
                changed[place] = changed[place].replacing(deepest, with: tooDeep)
                let load = try runner.space("load", "copy", input: changed.joined(separator: "\n"))
                #expect(load.ending == .exited(65))
                #expect(
                    load.errors.contains("line \(place + 1)") && load.errors.contains("nested deeper than 64 levels")
                )
            }
            // A line with more brackets than a value and its enclosure can have is not read to its end.
            let load = try runner.space(
                "load",
                "copy",
                input: #"{"kind":"cell","key":"k","value":\#(nested(200_000))}"#
            )
            #expect(load.ending == .exited(65) && load.errors.contains("nested deeper than 64 levels"))
        }
    }

    @Test("The operations of a transaction take them, and refuse deeper ones")
    func transactions() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let lines = [
                #"["set","k",\#(deepest)]"#, #"["write",[\#(deepest)]]"#,
                #"{"op":"set","key":"k","value":1,"if_equals":\#(deepest)}"#, #"["post","n",\#(deepest)]"#,
                #"["take",[\#(deepest)]]"#,
            ]
            let result = try runner.space("txn", "jobs", input: lines.joined(separator: "\n"))
            #expect(result.lines == ["null", "2", "true", "null", "[\(deepest)]"], "\(result.errors)")
            for line in lines {
                let result = try runner.space("txn", "jobs", input: line.replacing(deepest, with: tooDeep))
                #expect(result.ending == .exited(65) && result.errors.contains("nested deeper than 64 levels"))
            }
            #expect(try runner.tuples("jobs") == ["[0]"])
        }
    }

    /// Values whose text is longest for their bytes.
    @Test("The longest line of a dump is long enough for every value that may be stored")
    func longestLine() throws {
        let values: [Value] = [
            .string(String(repeating: "\u{1}", count: 1000)), .string(String(repeating: "\"", count: 1000)), "",
            .bytes([]), .bytes([1]), .bool(false), .null, 0, -1, .int(.min), .double(-.greatestFiniteMagnitude),
            .double(-.infinity), [], [:], ["$": false],
        ]
        for value in values {
            let many = Tuple(fields: Array(repeating: value, count: 1000))
            let factor = Double(Input.longestDumpLine) / Double(Limits.valueBytes)
            #expect(Double(many.json.utf8.count) / Double(many.encoded.count) < factor, "\(value.json.prefix(20))")
        }
    }
}
