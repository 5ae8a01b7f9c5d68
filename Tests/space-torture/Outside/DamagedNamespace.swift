import Glibc
import SharedSpace
import SpaceTestSupport

/// A namespace with something in every table, an undamaged one beside it, and the commands and calls that use both.
final class DamagedNamespace {
    private let round: Round
    private let runner: CommandRunner
    private let neighbour: Agent
    /// The pages in use, before the damage.
    let pristine: [UInt8]
    private let control: [UInt8]
    private let dataLength: Int
    /// The rows that salvage prints of the undamaged file: the tuples' ids, claimed ones too, and the cells' keys.
    private var tuples: Set<Int> = []
    private var cells: Set<String> = []

    /// Seconds after which a command counts as hanging.
    private static let patience = 60

    init(_ round: Round) throws {
        self.round = round
        runner = CommandRunner(root: round.root.path)
        let filler = try round.newcomer()
        let mode = round.one(of: [StorageMode.fast, .fast, .guarded])
        try filler.run("open \(round.root.path) n mode=\(mode) persistent=1 history=300")
        try filler.run("fill-everything \(round.random(600..<2000))")
        let pages = try (Int(filler.run("bytes")) ?? 0) / PageDamage.pageSize
        neighbour = try round.newcomer()
        try neighbour.run("open \(round.root.path) other persistent=1")
        try neighbour.run("write-loop 0 50")
        // Its claims stay held, and its subscription stays.
        try filler.kill()
        pristine = try round.root.prefix(of: "n/data.mdb", count: pages * PageDamage.pageSize)
        control = try round.root.bytes(of: "n/control")
        dataLength = try round.root.length(of: "n/data.mdb")
        let whole = try salvage()
        (tuples, cells) = (whole.tuples, whole.cells)
        round.check(
            whole.status == 0 && whole.errors.isEmpty,
            "salvage of what is whole: \(whole.status), \(whole.errors)"
        )
        let check = try run("space-dump", ["--check", "n"])
        round.check(check.status == 0, "the check of what is whole: \(check.output)")
    }

    // MARK: Damage

    func apply(_ damage: PageDamage) throws {
        try restore()
        for part in damage.parts { try round.root.overwrite("n/data.mdb", part.bytes, at: part.offset) }
    }

    func restore() throws {
        try round.root.overwrite("n/data.mdb", pristine, length: dataLength)
        try round.root.overwrite("n/control", control)
    }

    // MARK: Commands

    /// Runs a command, and kills it if it hangs.
    private func run(_ program: String, _ arguments: [String]) throws -> CommandResult {
        let words = ["-s", "KILL", "\(Self.patience)", CommandRunner.path(program)] + arguments
        return try runner.start("/usr/bin/timeout", words, environment: ["SWIFT_BACKTRACE": "enable=no"]).finish()
    }

    /// Checks that a command ends by a status of the contract, and not by an internal error.
    func expectAnswer(_ words: [String], _ what: String) throws {
        let result = try run(words[0], Array(words.dropFirst()))
        round.check(
            [0, 1, 65, 69, 74, 75, 77].contains(result.status),
            "\(what): \(words.joined(separator: " ")): \(result.ending) \(result.errors.suffix(300))"
        )
    }

    /// Some of the commands that only read.
    func looks(_ count: Int) -> [[String]] {
        choose(
            count,
            [
                ["space", "list"], ["space", "list", "--json"], ["space", "show", "n"],
                ["space", "show", "n", "--json"],
                ["space", "count", "n"], ["space", "count", "n", #"["job","?","?",2]"#],
                ["space", "read", "n", "--owner", "none", #"["?",77,"?","?"]"#],
                ["space", "read", "n", "--owner", "none", "--all", #""?""#],
                ["space", "get", "n", "--owner", "none", "cell 10"], ["space", "claims", "n"],
                ["space", "watch", "n", "--initial", "--max", "500", "--wait", "50ms"],
                ["space", "watch", "n", "--from", "1", "--max", "500", "--wait", "50ms"],
                ["space-dump", "n"], ["space-dump", "n", "--format", "json"], ["space-dump", "--check", "n"],
                ["space-dump", "--check", "--all"], ["space-dump", "--all"], ["space", "reap"],
            ]
        )
    }

    /// Some of the commands that change something.
    func changes(_ count: Int) -> [[String]] {
        choose(
            count,
            [
                ["space", "take", "n", "--owner", "none", #"["job",9,"?","?"]"#],
                ["space", "take", "n", "--owner", "none", "--max", "50", #"["job","?","?","?"]"#],
                ["space", "take", "n", "--owner", "none", "--all", #""?""#],
                ["space", "write", "n", "--owner", "none", #"["new",1]"#, #"["new",2]"#],
                ["space", "set", "n", "--owner", "none", "cell 20", "5"],
                ["space", "unset", "n", "--owner", "none", "cell 30"],
                ["space", "incr", "n", "--owner", "none", "count"],
                ["space", "claim", "n", "--owner", "none", #"["job","?","?",1]"#, "--", "true"],
                ["space", "queue", "n", "queue", "put", "1"], ["space", "post", "n", "news", "1"],
            ]
        )
    }

    private func choose(_ count: Int, _ commands: [[String]]) -> [[String]] {
        (0..<count).map { _ in round.one(of: commands) }
    }

    /// How a process opens the namespace.
    var opening: String { "open \(round.root.path) n timeout=5000" }

    /// Checks that a process that uses the library gets an answer to each call; it opens the namespace first, unless it
    /// has it open.
    func askAll(_ agent: Agent, _ what: String) {
        let calls = [
            #"count ["job", "?", "?", "?"]"#, #"read ["job", 555, "?", "?"]"#, #"read ["?", "?", "?", 5]"#, "get cell",
            "verify",
            "set-open set", "dict-open dictionary", "dict-get k", #"claim ["job", "?", "?", 6]"#, "release", "names",
            "reap",
            #"take ["job", "?", "?", 5]"#, #"write ["new", 1]"#, "set cell 1", "write-loop 0 20", "add counter",
            "bytes",
        ]
        for call in [opening] + calls {
            if !expectAnswer(agent, call, what) { return }
        }
    }

    /// Makes a call in a process, and returns whether it answered; false: the process has ended instead, which is a
    /// fault.
    @discardableResult
    func expectAnswer(_ agent: Agent, _ call: String, _ what: String) -> Bool {
        let answer: String
        do {
            answer = try agent.ask(call)
        } catch {
            round.fault("\(what): \(call): \(error)")
            return false
        }
        round.check(
            answer.hasPrefix("ok") || answer.hasPrefix("none") || answer.hasPrefix("error"),
            "\(what): \(call): \(answer)"
        )
        return true
    }

    // MARK: Salvage

    private struct Salvaged {
        var tuples: Set<Int> = []
        var cells: Set<String> = []
        let status: Int32
        let errors: String
    }

    private func salvage() throws -> Salvaged {
        let result = try run("space-dump", ["--salvage", "n"])
        var salvaged = Salvaged(status: result.status, errors: result.errors)
        for line in result.lines {
            guard case .object(let record) = try Value(json: line), case .string(let kind)? = record["kind"] else {
                throw TestFailure("salvage printed \(line)")
            }
            switch (kind, record["tuple_id"] ?? record["id"], record["key"]) {
            case ("tuple", .int(let id)?, _), ("claim", .int(let id)?, _), ("buried", .int(let id)?, _):
                salvaged.tuples.insert(id)
            case ("cell", _, .string(let key)?): salvaged.cells.insert(key)
            default: break
            }
        }
        return salvaged
    }

    /// Checks that salvage lacks only the rows that the damaged pages held, and prints no deleted row.
    func checkSalvage(_ damage: PageDamage) throws {
        try apply(damage)
        let salvaged = try salvage()
        let missing = tuples.subtracting(salvaged.tuples).count + cells.subtracting(salvaged.cells).count
        round.check(
            missing <= damage.records,
            "\(damage): \(missing) rows are missing, and the page has \(damage.records)"
        )
        try checkAnswer(salvaged, missing, "\(damage)")
    }

    /// As ``checkSalvage(_:)``; if the data file is intact, no row may be missing at all.
    func checkSalvage(_ what: String, isDataLost: Bool) throws {
        let salvaged = try salvage()
        let missing = tuples.subtracting(salvaged.tuples).count + cells.subtracting(salvaged.cells).count
        round.check(isDataLost || missing == 0, "\(what): \(missing) rows are missing")
        try checkAnswer(salvaged, missing, what)
    }

    private func checkAnswer(_ salvaged: Salvaged, _ missing: Int, _ what: String) throws {
        round.check(
            [0, 1].contains(salvaged.status),
            "\(what): salvage: \(salvaged.status) \(salvaged.errors.suffix(300))"
        )
        let isNamed = salvaged.errors.utf8.contains(UInt8(ascii: "\n"))
        round.check(
            missing == 0 || salvaged.status == 1 && isNamed,
            "\(what): \(missing) rows are missing, and none is named"
        )
        let more = salvaged.tuples.subtracting(tuples).count + salvaged.cells.subtracting(cells).count
        round.check(
            more == 0 || salvaged.errors.contains("removed or replaced lately"),
            "\(what): \(more) rows came to life again"
        )
    }

    // MARK: The end

    /// Checks that the neighbour is as it was, and that the damaged namespace can be deleted.
    func end() throws {
        try round.expect(neighbour, "count", "ok 50")
        try round.expect(neighbour, "verify", "ok ")
        let deleted = try run("space", ["delete", "n"])
        round.check([0, 69].contains(deleted.status), "deleting it: \(deleted.ending) \(deleted.errors)")
        _ = try run("space", ["delete", "other"])
    }
}
