import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@Suite("Queues, counters, latches and rate limits in a dump", .blocking, .timeLimit(.minutes(5)))
struct RecipeDumpTests {
    /// The lines of a dump that are about the recipes.
    private func lines(_ runner: CommandRunner, _ name: String) throws -> [String] {
        let kinds = ["queue", "item", "counter", "latch", "rate"].map { #"{"kind":"\#($0)","# }
        let dump = try runner.dump(name, "--format", "json")
        #expect(dump.ending == .exited(0), "\(dump.errors)")
        return dump.lines.filter { line in kinds.contains { line.hasPrefix($0) } }
    }

    private func taken(_ queue: WorkQueue) throws -> QueueItem {
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is no item") }
        return item
    }

    @Test("Loaded recipes work as before")
    func load() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            let queue = namespace.queue("ma\til", deliveries: 2)
            try queue.put("came back", group: "ada")
            try taken(queue).release()
            try queue.put("behind", group: "ada")
            try queue.put("late", priority: 9, delay: .seconds(3600))
            try queue.put("dead", priority: 3)
            for _ in 0..<2 { try taken(queue).release() }
            try queue.put(["worked": "on"], priority: -1)
            try queue.put("first", priority: 5)
            let first = try taken(queue)
            #expect(first.value == "first")
            try namespace.counter("c").set(-7)
            try namespace.latch("l", count: 3).countDown()
            for _ in 0..<2 { _ = try namespace.rateLimit("r", limit: 3, per: .seconds(3600)).tryAcquire() }
            _ = try namespace.queue("empty").takeIfReady()

            let dump = try runner.dump("jobs", "--format", "json").output
            let load = try runner.space("load", "copy", "--persistent", input: dump)
            #expect(load.ending == .exited(0), "\(load.errors)")
            let (old, new) = (try lines(runner, "jobs"), try lines(runner, "copy"))
            #expect(old.count == new.count && old.count == 10, "\(old)")

            let copy = try Space(root: runner.root).namespace("copy")
            let loaded = copy.queue("ma\til", deliveries: 2)
            let counts = try loaded.counts()
            #expect(counts[.ready] == 3 && counts[.delayed] == 1 && counts[.blocked] == 1 && counts[.buried] == 1)
            #expect(counts[.taken] == 0)
            #expect(try loaded.items(in: .buried).map(\.value) == ["dead"])
            #expect(try loaded.items(in: .buried).map(\.deliveries) == [2])
            var values: [Value] = []
            while let item = try loaded.takeIfReady() {
                values.append(item.value)
                if item.value == "came back" { #expect(item.deliveries == 1 && item.group == "ada") }
                try item.complete()
            }
            #expect(values == ["first", "came back", "behind", ["worked": "on"]])
            #expect(try copy.counter("c").value() == -7)
            #expect(try copy.latch("l", count: 3).countDown() == 1)
            let rate = copy.rateLimit("r", limit: 3, per: .seconds(3600))
            #expect(try rate.tryAcquire())
            #expect(try !rate.tryAcquire())
            let shown = try runner.space("show", "jobs", "--json").output
            let items = #""items":{"ready":2,"delayed":1,"taken":1,"blocked":1,"buried":1}"#
            #expect(shown.contains(#"{"name":"ma\til","type":"queue","count":6,\#(items),"deliveries":2,"#), "\(shown)")
            let text = try runner.space("show", "jobs").output
            #expect(text.contains("6: 2 ready, 1 delayed, 1 taken, 1 blocked, 1 buried"), "\(text)")
            try first.complete()

            // Loaded a second time: items go behind those that exist; the others become as the dump has them.
            #expect(try runner.space("load", "copy", input: dump).ending == .exited(0))
            #expect(try loaded.counts()[.buried] == 2)
            #expect(try copy.latch("l", count: 3).countDown() == 1)
            let dumped = try runner.dump("copy").output
            #expect(
                dumped.contains("queue ma\\til: ") && dumped.contains("counts -7") && dumped.contains("1 of 3 left")
            )
            #expect(try runner.space("show", "copy").output.contains("named objects"))
        }
    }

    @Test("A waiter for an item gets a loaded one")
    func waiting() throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            try namespace.queue("q").put("x")
            let dump = try runner.dump("jobs", "--format", "json").output
            let copy = try Space(root: runner.root).namespace("copy")
            let taker = try runner.start("space", ["queue", "copy", "q", "take", "--wait", "--", "cat"])
            #expect(try eventually { try copy.status().holds.contains { !$0.isHeld } })
            #expect(try runner.space("load", "copy", input: dump).ending == .exited(0))
            #expect(try taker.finish().output == "\"x\"\n")
            withExtendedLifetime(namespace) {}
        }
    }

    static let queue = #"{"kind":"queue","name":"q","deliveries":0}"#
    static let item =
        #"{"kind":"item","queue":"q","id":1,"state":"ready","priority":0,"group":null,"deliveries":0,"value":1}"#

    private static func item(_ old: String, _ new: String) -> String {
        let range = item.firstRange(of: old)
        return queue + "\n" + (range.map { item[..<$0.lowerBound] + new + item[$0.upperBound...] } ?? "missing")
    }

    static let bad = [
        item, queue + "\n" + #"{"kind":"queue","name":"p","deliveries":0}"# + "\n" + item,
        item(#""id":1"#, #""id":-1"#), item(#""priority":0"#, #""priority":"high""#),
        item(#""deliveries":0"#, #""deliveries":-1"#), item(#""group":null"#, #""group":7"#),
        item(#""group":null"#, #""group":"""#), item(#""state":"ready","#, ""), item(#","value":1"#, ""),
        item(#""state":"ready""#, #""state":"ready","ready":"soon""#),
        #"{"kind":"queue","name":"","deliveries":0}"#, #"{"kind":"queue","name":"q","deliveries":-1}"#,
        #"{"kind":"queue","name":"q","deliveries":4294967296}"#, #"{"kind":"counter","name":"c"}"#,
        #"{"kind":"counter","value":1}"#, #"{"kind":"latch","name":"l","count":1,"left":2}"#,
        #"{"kind":"latch","name":"l","count":-1,"left":-1}"#,
        #"{"kind":"rate","name":"r","limit":0,"nanoseconds":1,"until":0}"#,
        #"{"kind":"rate","name":"r","limit":1,"nanoseconds":9223372036854775807,"until":0}"#,
        #"{"kind":"rate","name":"r","limit":1,"nanoseconds":1}"#,
        // Of another type, or in use with other numbers.
        #"{"kind":"counter","name":"there","value":1}"#, #"{"kind":"latch","name":"there","count":4,"left":1}"#,
        #"{"kind":"collection","name":"","type":"orderedSet","element_type":"Int","count":0}"#,
    ]

    @Test("An impossible line is bad data, and nothing of it is loaded", arguments: bad)
    func refused(_ text: String) throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            try namespace.latch("there", count: 3).countDown()
            let result = try runner.space(
                "load",
                "jobs",
                input: "{\"kind\":\"cell\",\"key\":\"k\",\"value\":1}\n\(text)\n"
            )
            #expect(result.ending == .exited(65), "\(result.errors)")
            #expect(try namespace.get("k") == nil)
            #expect(try lines(runner, "jobs") == [#"{"kind":"latch","name":"there","count":3,"left":2}"#])
        }
    }

    @Test("Moments beyond all bounds don't trap", arguments: ["9223372036854775807", "-9223372036854775808"])
    func extremes(_ moment: String) throws {
        try withRoot { (runner) throws in
            let namespace = try Space(root: runner.root).namespace("jobs")
            let text =
                Self.item(#""state":"ready""#, #""state":"delayed","ready":\#(moment)"#) + "\n"
                + #"{"kind":"rate","name":"r","limit":1,"nanoseconds":1000000000,"until":\#(moment)}"#
            let result = try runner.space("load", "jobs", input: text)
            #expect(result.ending == .exited(0), "\(result.errors)")
            let isPast = moment.hasPrefix("-")
            #expect(try namespace.rateLimit("r", limit: 1, per: .seconds(1)).tryAcquire() == isPast)
            #expect(try namespace.queue("q").counts()[.delayed] == (isPast ? 0 : 1))
            #expect(try runner.dump("jobs").ending == .exited(0))
        }
    }

    @Test("Empty input is no dump, and makes no namespace")
    func empty() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("load", "jobs", "--persistent").ending == .exited(65))
            #expect(try runner.space("list").output == "")
        }
    }
}
