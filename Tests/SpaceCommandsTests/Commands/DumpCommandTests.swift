import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@Suite("space-dump and load", .blocking, .timeLimit(.minutes(5)))
struct DumpCommandTests {
    private static let tuples = [
        #"["a\u001b[2J",1,1.0,null,true,[],{"x":[-5]}]"#, #"{"kind":"note","$x":1}"#, #"{"$$only":1}"#,
        #"[{"$base64":"AP8="},{"$uuid":"00112233-4455-6677-8899-aabbccddeeff"},{"$double":"nan"}]"#, "[]", "{}",
    ]

    private func fill(_ runner: CommandRunner) throws {
        try runner.space("write", "jobs", "-", input: Self.tuples.joined(separator: "\n"))
        try runner.space("write", "jobs", "--expires", "1h", #"["late"]"#)
        try runner.space("set", "jobs", "k\n", #"{"v":[1,2.5]}"#)
        try runner.space("set", "jobs", "n", "-5")
    }

    private func records(_ output: String, kind: String) throws -> [Record] {
        try output.split(separator: "\n").compactMap { line in
            guard case .object(let record) = try Value(json: String(line)) else {
                throw TestFailure("no object: \(line)")
            }
            return record["kind"] == .string(kind) ? record : nil
        }
    }

    @Test("Each JSON line has a kind, and a dump holds everything")
    func jsonLines() throws {
        try withRoot { (runner) throws in
            try fill(runner)
            let waiting = try runner.start("space", ["take", "jobs", "--wait", #"["never"]"#])
            try runner.awaitWaiter("jobs")
            let result = try runner.dump("jobs", "--format", "json")
            #expect(result.ending == .exited(0))
            #expect(result.errors == "")
            let namespaces = try records(result.output, kind: "namespace")
            #expect(namespaces.map { $0["name"] } == ["jobs"])
            #expect(namespaces.map { $0["mode"] } == ["fast"])
            let tuples = try records(result.output, kind: "tuple")
            #expect(tuples.compactMap { $0["tuple"] } == (try Self.tuples.map { try Value(json: $0) }) + [["late"]])
            #expect(tuples.dropLast().allSatisfy { $0["expires"] == .null })
            guard case .int? = tuples.last?["expires"] else { throw TestFailure("the last tuple expires") }
            #expect(tuples.allSatisfy { $0["deliveries"] == 0 })
            let cells = try records(result.output, kind: "cell")
            #expect(cells.map { $0["key"] } == ["k\n", "n"])
            #expect(cells.map { $0["value"] } == [["v": [1, 2.5]], -5])
            #expect(try records(result.output, kind: "owner").contains { $0["pid"] == .int(Int(getpid())) })
            #expect(try records(result.output, kind: "waiter").map { $0["pid"] } == [.int(Int(waiting.pid))])
            waiting.signal(SIGTERM)
            try waiting.wait()
        }
    }

    @Test("Text for people has its control characters escaped")
    func text() throws {
        try withRoot { (runner) throws in
            try fill(runner)
            let output = try runner.dump("jobs").output
            #expect(output.contains("late"))
            #expect(output.contains("k\\n"))
            #expect(!output.contains("\u{1B}"))
        }
    }

    @Test("A path names a namespace too, and --all names all")
    func subjects() throws {
        try withRoot { (runner) throws in
            try fill(runner)
            try runner.space("write", "b", "[1]")
            #expect(try runner.dump("\(runner.root)/jobs", "--format", "json").ending == .exited(0))
            #expect(try runner.dump("\(runner.root)/nope").ending == .exited(69))
            #expect(try runner.dump("nope").ending == .exited(69))
            let all = try runner.dump("--all", "--format", "json")
            #expect(try records(all.output, kind: "namespace").map { $0["name"] } == ["b", "jobs"])
            #expect(try runner.dump().ending == .exited(64))
            #expect(try runner.dump("--all", "jobs").ending == .exited(64))
            #expect(try runner.dump("jobs", "--root", "/nonexistent/root").ending == .exited(69))
        }
    }

    @Test("A dump is loaded: tuples in order with their expiry, cells, the mode")
    func load() throws {
        try withRoot { (runner) throws in
            try fill(runner)
            let dump = try runner.dump("jobs", "--format", "json").output
            #expect(try runner.space("load", "copy", input: dump).ending == .exited(0))
            let copy = try runner.dump("copy", "--format", "json").output
            for kind in ["tuple", "cell"] {
                let (old, new) = (try records(dump, kind: kind), try records(copy, kind: kind))
                for key in ["tuple", "key", "value"] { #expect(old.map { $0[key] } == new.map { $0[key] }) }
            }
            guard case .int(let before)? = try records(dump, kind: "tuple").last?["expires"],
                case .int(let after)? = try records(copy, kind: "tuple").last?["expires"]
            else { throw TestFailure("the last tuple expires") }
            // The dump reads one clock, the load another; an hour is far beyond their difference.
            #expect(abs(before - after) < 60_000)
            try runner.space("write", "safe", "--guarded", "[1]")
            #expect(
                try runner.space("load", "twin", input: try runner.dump("safe", "--format", "json").output).status == 0
            )
            #expect(
                try runner.space("list", "--json").output.contains(#""name":"twin","tuples":1,"cells":0,"owners":1"#)
            )
            #expect(try runner.space("show", "twin", "--json").output.contains(#""mode":"guarded""#))
            // A load adds to an existing namespace, whatever its mode is, unless an option insists on the mode.
            #expect(try runner.space("load", "safe", input: dump).ending == .exited(0))
            #expect(try runner.space("load", "safe", "--durable", input: dump).ending == .exited(69))
        }
    }

    @Test("A claimed tuple is loaded in its place")
    func claims() throws {
        try withRoot { (runner) throws in
            let lines = (100..<400).map { "[\($0),\"\(String(repeating: "x", count: 4000))\"]" }
            try runner.space("write", "jobs", "-", input: lines.joined(separator: "\n"))
            let take = try runner.start("space", ["take", "jobs", "--max", "100", #"["?","?"]"#])
            // The take has claimed, and blocks in write(2).
            _ = try take.readLine()
            let dump = try runner.dump("jobs", "--format", "json").output
            #expect(try records(dump, kind: "claim").count == 100)
            #expect(try runner.space("load", "copy", input: dump).ending == .exited(0))
            #expect(try runner.tuples("copy") == lines)
            take.signal(SIGTERM)
            try take.wait()
        }
    }

    @Test(
        "A dump that can't be understood loads nothing",
        arguments: [
            "nonsense", "[1]", "{}", #"{"kind":"unheard-of"}"#, #"{"kind":"tuple","tuple":[1]}"#,
            #"{"kind":"tuple","id":1}"#,
            #"{"kind":"tuple","id":1,"tuple":7}"#, #"{"kind":"tuple","id":1,"tuple":[1],"expires":"soon"}"#,
            #"{"kind":"cell","key":7,"value":1}"#, #"{"kind":"cell","key":"k"}"#,
            #"{"kind":"cell","key":"","value":1}"#,
            #"{"kind":"namespace","mode":"slow"}"#,
            "{\"kind\":\"namespace\",\"mode\":\"fast\"}\n{\"kind\":\"namespace\",\"mode\":\"fast\"}",
        ]
    )
    func badDump(_ text: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let result = try runner.space(
                "load",
                "jobs",
                input: "{\"kind\":\"tuple\",\"id\":1,\"tuple\":[1]}\n\(text)\n"
            )
            #expect(result.ending == .exited(65), "\(result.errors)")
            #expect(try runner.tuples("jobs") == ["[0]"])
            #expect(try runner.space("show", "jobs", "--json").output.contains(#""cells":0"#))
        }
    }

    @Test("Dumping works while the processes are stopped")
    func stoppedProcess() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let waiting = try runner.start("space", ["take", "jobs", "--wait", "[2]"])
            try runner.awaitWaiter("jobs")
            waiting.signal(SIGSTOP)
            #expect(try runner.dump("jobs").ending == .exited(0))
            waiting.signal(SIGCONT)
            waiting.signal(SIGTERM)
            #expect(try waiting.wait() == .signalled(SIGTERM))
        }
    }

    @Test("Damage is found, and the status is 1")
    func damage() throws {
        try withRoot { (runner) throws in
            try runner.space(
                "write",
                "jobs",
                "-",
                input: (0..<500).map { "[\($0),\"some text\"]" }.joined(separator: "\n")
            )
            #expect(try runner.dump("--check", "jobs").ending == .exited(0))
            // One byte of a tuple's text is changed: the code that began a string becomes a code that no value has.
            let hit = try runner.shell(
                """
                cd "$SHARED_SPACE_ROOT/jobs"
                at=$(head -c 10000000 data.mdb | grep -abo 'some text' | head -1 | cut -d: -f1)
                printf '\\377' | dd of=data.mdb bs=1 seek=$((at - 1)) conv=notrunc 2> /dev/null
                """
            )
            #expect(hit.status == 0)
            let check = try runner.dump("--check", "jobs")
            #expect(check.ending == .exited(1))
            #expect(check.output.contains("tuple"))
            let json = try runner.dump("--check", "jobs", "--format", "json")
            #expect(json.ending == .exited(1))
            #expect(try records(json.output, kind: "damage").count == 1)
            #expect(try runner.space("delete", "jobs").ending == .exited(0))
        }
    }

    /// The word holds no data, and a file system's journal may bring back an older one.
    @Test("A reservation word that is older than the file is no damage", arguments: ["--durable", "--guarded"])
    func staleReservation(_ mode: String) throws {
        try withRoot { (runner) throws in
            let place = 648
            func reserved() throws -> UInt64 {
                let word = try runner.shell("od -An -t u8 -j \(place) -N 8 \"$SHARED_SPACE_ROOT/jobs/control\"")
                return UInt64(word.output.filter(\.isNumber)) ?? 0
            }
            try runner.space("write", "jobs", "--persistent", "--owner", "none", mode, "[1]")
            let before = try reserved()
            #expect(before > 4096)
            let stale = try runner.shell(
                """
                printf '\\0\\020\\0\\0\\0\\0\\0\\0' |
                    dd of="$SHARED_SPACE_ROOT/jobs/control" bs=1 seek=\(place) conv=notrunc 2> /dev/null
                """
            )
            #expect(stale.status == 0)
            #expect(try reserved() == 4096)
            let check = try runner.dump("--check", "jobs")
            #expect(check.status == 0, "\(check.output)\(check.errors)")
            // The next writer corrects the word.
            #expect(try runner.space("write", "jobs", "--owner", "none", "[2]").status == 0)
            #expect(try reserved() > 4096)
            #expect(try runner.dump("--check", "jobs").status == 0)
            #expect(try runner.space("delete", "jobs").ending == .exited(0))
        }
    }
}
