import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

/// Salvage of damaged namespaces, page by page, and loading its output.
@Suite("space-dump --salvage", .blocking, .serialized, .timeLimit(.minutes(10)))
struct SalvageTests {
    private static let pageSize = 4096
    private static let names = ["data.mdb", "control", "lock.mdb", "bell", "sessions"]

    let root: TemporaryRoot
    let runner: CommandRunner

    init() throws {
        root = try TemporaryRoot()
        runner = CommandRunner(root: root.path)
    }

    /// Makes a namespace of 1,000 tuples and more, over many pages, and returns the number of its pages.
    private func fill() throws -> Int {
        let agent = try Agent(root, "jobs", "persistent=1 history=100")
        try agent.run("fill-everything 1000")
        let bytes = Int(try agent.run("bytes")) ?? 0
        // The claims stay held.
        try agent.kill()
        return bytes / Self.pageSize
    }

    private func salvage() throws -> CommandResult { try runner.dump("--salvage", "jobs") }

    /// The lines of a kind, by their identifying fields.
    private func keys(_ output: String, _ kinds: Set<String>) throws -> Set<String> {
        var keys: Set<String> = []
        for line in output.split(separator: "\n") {
            guard case .object(let record) = try Value(json: String(line)), case .string(let kind)? = record["kind"],
                kinds.contains(kind), let key = record["tuple_id"] ?? record["id"] ?? record["key"]
            else { continue }
            keys.insert(key.json)
        }
        return keys
    }

    private func zero(_ page: Int) throws {
        let zeros = [UInt8](repeating: 0, count: Self.pageSize)
        try root.overwrite("jobs/data.mdb", zeros, at: page * Self.pageSize)
    }

    @Test("Salvage of an undamaged namespace saves everything, and its output can be loaded")
    func whole() throws {
        _ = try fill()
        #expect(try runner.space("bury", "jobs", "--after", "4").status == 0)
        let result = try salvage()
        #expect(result.status == 0)
        #expect(result.errors == "")
        #expect(result.output.prefix { $0 != "\n" }.contains(#""delivery_limit":4"#))
        let loaded = try runner.start("space", ["load", "saved", "--persistent", "--owner", "none"])
            .finish(input: result.output)
        #expect(loaded.status == 0, "\(loaded.errors)")
        let kinds: Set<String> = ["cell", "element", "item", "collection", "counter", "latch", "queue"]
        let saved = try runner.dump("saved", "--format", "json")
        let before = try runner.dump("jobs", "--format", "json")
        #expect(try keys(before.output, ["cell"]) == keys(saved.output, ["cell"]))
        for kind in kinds.union(["tuple", "claim", "buried"]) {
            func count(_ output: String) -> Int {
                output.split(separator: "\n").count { $0.hasPrefix("{\"kind\":\"\(kind)\"") }
            }
            #expect(count(result.output) == count(before.output), "\(kind)")
            if kinds.contains(kind) { #expect(count(saved.output) == count(before.output), "\(kind), loaded") }
        }
        #expect(try runner.space("count", "saved").output == "\(keys(result.output, ["tuple", "claim"]).count)\n")
        #expect(try runner.dump("--check", "saved").status == 0)
    }

    @Test("A cell whose key begins with NUL is whole, and is salvaged", arguments: [false, true])
    func nulKey(losesBranches: Bool) throws {
        let agent = try Agent(root, "jobs", "persistent=1")
        try agent.exit()
        let keys = losesBranches ? (0..<2000).map { "\0\($0)" } : ["\0"]
        let jobs = try root.space.namespace("jobs")
        for key in keys { try jobs.set(key, "a value") }
        let check = try runner.dump("--check", "jobs")
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        if losesBranches {
            // The branches are the pages whose flags say so; the leaves below are found without them.
            let pages = try jobs.status().bytes / Self.pageSize
            let data = try root.prefix(of: "jobs/data.mdb", count: pages * Self.pageSize)
            for page in 2..<pages where data[page * Self.pageSize + 10] & 1 != 0 { try zero(page) }
        }
        let result = try salvage()
        #expect(try self.keys(result.output, ["cell"]).count == keys.count, "\(result.errors)")
    }

    @Test("A zeroed page costs its own records, is named, and is found by --check")
    func zeroedPages() throws {
        let pages = try fill()
        let pristine = try root.prefix(of: "jobs/data.mdb", count: pages * Self.pageSize)
        let whole = try keys(salvage().output, ["tuple", "claim", "buried", "cell"])
        var losses = 0
        var branches = 0
        for page in 0..<pages {
            // The flags of a page.
            let isBranch = page > 1 && pristine[page * Self.pageSize + 10] == 1
            guard page < 2 || isBranch || page % 4 == 0 else { continue }
            try zero(page)
            let result = try salvage()
            let kept = try keys(result.output, ["tuple", "claim", "buried", "cell"])
            let check = try runner.dump("--check", "jobs")
            #expect(kept.isSubset(of: whole), "page \(page)")
            if isBranch { branches += 1 }
            // No leaf here holds more rows.
            #expect(whole.count - kept.count <= (isBranch ? 0 : 120), "page \(page)")
            if kept.count < whole.count { losses += 1 }
            #expect(result.status == (result.errors.contains("left out: ") ? 1 : 0))
            // Only the first of several overflow pages has a header; a row in the others does not decode.
            #expect(kept.count == whole.count || result.status == 1, "page \(page): \(result.errors)")
            #expect(result.status == 0 || check.status == 1, "page \(page): \(result.errors)")
            try root.overwrite("jobs/data.mdb", pristine)
        }
        #expect(losses > 10)
        #expect(branches > 0)
    }

    @Test("Everything is saved if any file but the data file is missing", arguments: names.dropFirst())
    func otherFiles(_ name: String) throws {
        _ = try fill()
        // Each dump converts the time at which a tuple expires anew.
        func contents(_ result: CommandResult) -> [String] {
            result.lines.dropFirst().map { $0.replacing(/("expires":|"moments":\[\[)[0-9]+/, with: "") }
        }
        let whole = try contents(salvage())
        let path = "\(root.path)/jobs/\(name)"
        if name == "sessions" {
            try root.removeTree("jobs/sessions")
        } else {
            try root.overwrite("jobs/\(name)", [UInt8](repeating: 0, count: 256))
            #expect(try contents(salvage()) == whole)
            #expect(unlink(path) == 0)
        }
        let result = try salvage()
        #expect(contents(result) == whole)
        #expect(result.status == 0)
    }

    @Test("A data file that is cut, empty, missing or no database costs its missing part, and no command hangs")
    func dataFile() throws {
        let pages = try fill()
        let whole = try keys(salvage().output, ["tuple", "claim", "buried", "cell"])
        for length in [pages / 2 * Self.pageSize, 3 * Self.pageSize + 17, 100, 0] {
            try root.overwrite("jobs/data.mdb", [], length: length)
            let result = try salvage()
            #expect(result.status == 1)
            #expect(result.errors.contains("left out"))
            #expect(try keys(result.output, ["tuple", "claim", "buried", "cell"]).isSubset(of: whole))
            #expect(try runner.dump("--check", "jobs").status == 1)
        }
        #expect(unlink("\(root.path)/jobs/data.mdb") == 0)
        #expect(try salvage().status == 1)
        #expect(mkfifo("\(root.path)/jobs/data.mdb", 0o600) == 0)
        #expect(try salvage().status == 1)
        #expect(try runner.dump("--check", "jobs").status == 1)
    }

    @Test("Salvage works from another PID namespace, too", .enabled(if: geteuid() == 0, "only root may make one"))
    func pidNamespace() throws {
        _ = try fill()
        let whole = try keys(salvage().output, ["tuple", "claim", "buried", "cell"])
        let result = try runner.shell("unshare --pid --fork --mount-proc space-dump --salvage jobs")
        #expect(try keys(result.output, ["tuple", "claim", "buried", "cell"]) == whole)
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test("While a process writes, no intact page is reported as damaged")
    func whileWriting() throws {
        _ = try fill()
        let writer = try Agent(root, "jobs")
        try writer.send("churn 0 1000000")
        for _ in 0..<4 {
            let check = try runner.dump("--check", "jobs")
            #expect(check.status == 0, "\(check.output)\(check.errors)")
            let result = try salvage()
            #expect(result.status == 0, "\(result.errors)")
        }
        try writer.kill()
    }
}
