import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

/// A dump of any namespace can be loaded into a new one with the same limit, and that comes whole or not at all.
@Suite("load brings back what space-dump printed", .blocking, .timeLimit(.minutes(5)))
struct LoadCommandTests {
    private func lines(_ dump: String, _ kinds: Set<Substring>) -> [Substring: Int] {
        var counts: [Substring: Int] = [:]
        for line in dump.split(separator: "\n") {
            for kind in kinds where line.contains("\"kind\":\"\(kind)\"") { counts[kind, default: 0] += 1 }
        }
        return counts
    }

    /// Writes tuples until the namespace is full, in smaller and smaller steps.
    private func fill(_ runner: CommandRunner, _ sizes: [Int]) throws {
        var number = 0
        for most in [1 << 20, 1 << 17] {
            while true {
                var (lines, bytes) = ([String](), 0)
                repeat {
                    let size = sizes[(number + lines.count) % sizes.count]
                    lines.append(#"["row",\#(number + lines.count),"\#(String(repeating: "x", count: size))"]"#)
                    bytes += size + 40
                } while bytes < most
                let result = try runner.space("write", "n", "-", input: lines.joined(separator: "\n"))
                if result.ending == .exited(74) { break }
                #expect(result.ending == .exited(0), "\(result.errors)")
                number += lines.count
            }
        }
    }

    @Test("A full namespace is loaded into its own limit", arguments: [[20_000], [100_000, 1500]])
    func full(_ sizes: [Int]) throws {
        try withRoot { (runner) throws in
            try runner.space("set", "n", "kept", "1", "--limit", "16MiB")
            try runner.shell("for i in $(seq 50); do space set n cell-$i $i; done")
            try fill(runner, sizes)
            let dump = try runner.dump("n", "--format", "json").output
            let loaded = try runner.space("load", "copy", input: dump)
            #expect(loaded.ending == .exited(0), "\(loaded.errors)")
            let copy = try runner.dump("copy", "--format", "json").output
            #expect(lines(copy, ["tuple", "cell"]) == lines(dump, ["tuple", "cell"]))
            #expect(lines(copy, ["cell"]) == ["cell": 51])
            #expect(copy.contains(#""limit":16777216"#))
        }
    }

    @Test("Many small tuples are loaded into the smallest limit")
    func small() throws {
        try withRoot { (runner) throws in
            let dump = (1...40_000).map { #"{"kind":"tuple","id":\#($0),"tuple":["t",\#($0)]}"# }
                .joined(separator: "\n")
            let loaded = try runner.space("load", "new", "--limit", "16MiB", input: dump)
            #expect(loaded.ending == .exited(0), "\(loaded.errors)")
            #expect(try runner.space("count", "new").output == "40000\n")
            // It is added to one that exists, in one step.
            #expect(try runner.space("load", "new", input: dump).ending == .exited(0))
            #expect(try runner.space("count", "new").output == "80000\n")
        }
    }

    @Test("A dump that is too large makes no namespace, and says how much fits")
    func tooLarge() throws {
        try withRoot { (runner) throws in
            let body = String(repeating: "x", count: 1_000_000)
            let dump = (1...14).map { #"{"kind":"tuple","id":\#($0),"tuple":[\#($0),"\#(body)"]}"# }
                .joined(separator: "\n")
            let loaded = try runner.space("load", "new", "--limit", "16MiB", input: dump)
            #expect(loaded.ending == .exited(74))
            #expect(
                loaded.errors.contains("of the 14 tuples of the dump fit; load it with a larger limit"),
                "\(loaded.errors)"
            )
            #expect(try runner.space("list").output == "")
            #expect(try runner.shell("ls -A $SHARED_SPACE_ROOT/.nursery").output == "")
            // Nor does it change one that exists.
            try runner.space("write", "old", "[0]", "--limit", "16MiB")
            let refused = try runner.space("load", "old", input: dump)
            #expect(refused.ending == .exited(74))
            #expect(refused.errors.contains("tuples fit in one step; load it under a new name"), "\(refused.errors)")
            #expect(try runner.tuples("old") == ["[0]"])
        }
    }

    @Test("A dump whose tuples fit, and whose items don't, says so, and changes nothing")
    func tooManyItems() throws {
        try withRoot { (runner) throws in
            let body = "\"\(String(repeating: "x", count: 1_000_000))\""
            try runner.space(
                "write",
                "old",
                "-",
                "--limit",
                "16MiB",
                input: (0..<10).map { "[\($0), \(body)]" }.joined(separator: "\n")
            )
            let filled = try runner.shell(
                """
                space write new '["small"]'
                item=$(head -c 100000 /dev/zero | tr '\\0' x)
                for number in $(seq 30); do space queue new q put "\\"$item\\"" > /dev/null || exit; done
                space-dump --format json new | space load old
                """
            )
            #expect(filled.ending == .exited(74))
            #expect(
                filled.errors.contains(
                    "the dump's tuples fit, and not all of what else it has; load it under a new name"
                ),
                "\(filled.errors)"
            )
            #expect(try runner.space("count", "old").output == "10\n")
        }
    }

    @Test("A dump that was cut off is not loaded", arguments: ["--format json", "--salvage"])
    func cutOff(_ form: String) throws {
        try withRoot { (runner) throws in
            for number in 0..<5 { try runner.space("write", "n", "[\(number)]") }
            try runner.space("set", "n", "k", "1")
            let dump = try runner.shell("space-dump \(form) n").lines
            #expect(dump.count > 7)
            for count in 1..<dump.count {
                let part = dump.prefix(count).joined(separator: "\n")
                let loaded = try runner.space("load", "new", input: part)
                #expect(loaded.ending == .exited(65), "\(count) lines")
                #expect(loaded.errors.contains("the rest was cut off; nothing was loaded"), "\(loaded.errors)")
            }
            #expect(try runner.space("list").lines == ["n"])
            // A part that was chosen on purpose is loaded: without the first line, or with the last one.
            let tuples = dump.filter { $0.contains(#""kind":"tuple""#) }
            #expect(try runner.space("load", "new", input: tuples.joined(separator: "\n")).ending == .exited(0))
            let some = ([dump[0]] + tuples + [#"{"kind":"end"}"#]).joined(separator: "\n")
            #expect(try runner.space("load", "newer", input: some).ending == .exited(0))
            #expect(try runner.tuples("newer") == runner.tuples("n"))
        }
    }

    @Test("A limit of deliveries that no namespace can have is refused", arguments: ["4294967296", "\(Int.max)"])
    func deliveryLimit(_ limit: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "n", "[1]")
            try runner.space("bury", "n", "--after", "4")
            let dump = try runner.shell("space-dump --format json n").output
            let changed = dump.replacing(#""delivery_limit":4"#, with: #""delivery_limit":\#(limit)"#)
            #expect(changed != dump)
            let loaded = try runner.space("load", "new", input: changed)
            #expect(loaded.ending == .exited(65) && loaded.errors.contains("delivery_limit"), "\(loaded.errors)")
            let buried = try runner.space("bury", "n", "[1]", "--after", limit)
            #expect(buried.ending == .exited(64) && buried.errors.contains("1 to 4294967295, or 'none'"))
            #expect(try runner.space("list").lines == ["n"])
            #expect(try runner.tuples("n") == ["[1]"])
        }
    }

    @Test("A load that is killed leaves nothing of a part, and what it left goes")
    func killed() throws {
        try withRoot { (runner) throws in
            let dump = (1...10_000).map { #"{"kind":"tuple","id":\#($0),"tuple":["t",\#($0)]}"# }
                .joined(separator: "\n")
            try runner.space("write", "other", "[0]")
            let result = try runner.shell(
                """
                cat > $SHARED_SPACE_ROOT/.dump
                space load new < $SHARED_SPACE_ROOT/.dump &
                # It is killed as soon as the folder is seen in which it loads, or later.
                while kill -0 $! 2> /dev/null; do
                    for f in $SHARED_SPACE_ROOT/.nursery/*/sessions; do test -d $f && break 2; done
                done
                kill -KILL $! 2> /dev/null; wait $!
                rm $SHARED_SPACE_ROOT/.dump
                space count new 2> /dev/null || echo none
                space write next "[1]"
                ls -A $SHARED_SPACE_ROOT/.nursery | wc -l
                """,
                input: dump
            )
            let isRight = result.lines == ["none", "0"] || result.lines == ["10000", "0"]
            #expect(isRight, "\(result.output)\(result.errors)")
        }
    }
}
