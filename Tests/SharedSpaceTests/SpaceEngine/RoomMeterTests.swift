import LMDB
import SharedSpaceObjects
import SpaceSystem
import SpaceTesting
import SystemPackage
import Testing

@testable import SpaceEngine
@testable import SpaceRecipes
@testable import TupleSpace

/// Whatever an operation stores is charged for disk space before it is stored: the meter's counts cover the rows that
/// the operation changed, and its bound covers the pages that LMDB used.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RoomMeterTests {
    let namespace: Namespace
    private var engine: Engine { namespace.core.engine }

    init() throws { namespace = try SpaceTest.namespace(.guarded, byteLimit: 64 << 20) }

    private struct Missing: Error {}

    /// What a commit left.
    private struct State {
        var commit = 0
        /// The rows and the pages of each tree.
        var rows: [Int] = []
        var pages: [Int] = []
        /// The pages that the last commit freed: the old copies of those that it changed, among others.
        var freed = 0
    }

    private func state() throws -> State {
        let freeList = try namespace.core.read { snapshot throws(SpaceError) in
            try lmdb { () throws(LMDBError) in try snapshot.access.freedPages(by: snapshot.commit) }
        }
        return try namespace.core.read { snapshot throws(SpaceError) in
            try lmdb { () throws(LMDBError) in
                var state = State(commit: snapshot.commit, freed: freeList)
                state.pages.append(try snapshot.access.freeListStatistics().pages)
                for tree in snapshot.tables.trees {
                    let statistics = try snapshot.access.statistics(tree)
                    state.rows.append(statistics.entries)
                    state.pages.append(statistics.pages)
                }
                return state
            }
        }
    }

    /// Runs an operation, checks its charge if it was one commit, and returns its result.
    @discardableResult
    private func charged<Result: ~Copyable>(_ name: String, _ operation: () throws -> Result) throws -> Result {
        let before = try state()
        let result = try operation()
        let after = try state()
        #expect(after.commit - before.commit == 1, "\(name) is \(after.commit - before.commit) commits")
        guard after.commit == before.commit + 1 else { return result }
        let meter = engine.scope.meter
        for (place, tree) in engine.tables.trees.enumerated() {
            let changes = meter.changes(of: tree)
            #expect(changes >= abs(after.rows[place] - before.rows[place]), "\(name), tree \(place)")
            #expect(changes > 0 || after.pages[place + 1] == before.pages[place + 1], "\(name), tree \(place)")
        }
        let bound = meter.bound
        // Each page that was used is either freed again or one more in the trees.
        let used = after.freed + after.pages.reduce(0, +) - before.pages.reduce(0, +)
        #expect(bound.pages >= used, "\(name) used \(used) pages")
        return result
    }

    /// Each operation on tuples, cells and claims, with rows within pages and with pages of their own, with and without
    /// a journal.
    @Test(arguments: [10, 1500, 3000, 9000, 300_000], [false, true])
    func tuplesAndCells(_ size: Int, _ isJournaling: Bool) throws {
        if isJournaling { try namespace.setHistory(History(changes: 20)) }
        let body = [UInt8](repeating: 7, count: size)
        for round in 0..<12 {
            try charged("a write") { try namespace.write("t", round, body) }
            try charged("a write that expires") { try namespace.write("e", round, body, expires: .seconds(3600)) }
            try charged("a batch") { try namespace.write(contentsOf: (0..<20).map { Tuple("b", $0, body) }) }
            let found = try namespace.matches(["t", .any, .any], max: 1)
            let terms = ClaimTerms(holder: .session(namespace.core.session.number), deadline: .seconds(3600))
            guard let first = found.first,
                let claim = try charged("a claim", { try namespace.core.claiming.claim(id: first.id, terms) })
            else { throw Missing() }
            try charged("an extension") { try namespace.core.claiming.extend(claim, by: .seconds(7200)) }
            try charged("a release") { try namespace.release(claim) }
            let buried = try charged("burying") { try namespace.bury(matching: ["t", .any, .any], max: 1) }
            #expect(buried == 1)
            let kicked = try charged("a kick") { try namespace.kick(matching: ["t", .any, .any], max: 1) }
            #expect(kicked == 1)
            try charged("a take") { try namespace.takeIfExists("t", any(Int.self), any([UInt8].self)) }
            try charged("a take of many") { try namespace.takeAll(matching: ["b", .any, .any]) }
            try charged("a set") { try namespace.set("c\(round)", body) }
            try charged("a set over a value") { try namespace.set("c\(round)", body) }
            try charged("an increment") { try namespace.increment("n") }
            if round > 5 { try charged("an unset") { try namespace.unset("c\(round)") } }
            if isJournaling { try charged("a post") { try namespace.post("p", body) } }
            try charged("a transaction") {
                try namespace.transaction { t in
                    try t.write("t", round, body)
                    _ = try t.takeAll(matching: ["e", .any, .any])
                    try t.set("x", body)
                }
            }
        }
        if isJournaling { try namespace.setHistory(nil) }
    }

    /// Each step of the recipes.
    @Test(arguments: [10, 3000, 9000], [false, true])
    func recipes(_ size: Int, _ isJournaling: Bool) throws {
        if isJournaling { try namespace.setHistory(History(changes: 20)) }
        let core = namespace.core
        let body = String(repeating: "x", count: size)
        let queue = namespace.queue("q")
        let set = try namespace.orderedSet("s", of: String.self)
        let dictionary = try namespace.dictionary("d", of: String.self)
        for round in 0..<8 {
            guard let hold = try charged("a lock", { try namespace.lock("l").tryAcquire() }) else { throw Missing() }
            try charged("an unlock") { try hold.release() }
            try charged("a counter") { try namespace.counter("c").add() }
            for priority in 0..<3 {
                try charged("a put") { try queue.put(body, priority: priority, group: "g\(priority)") }
            }
            guard let item = try queue.takeIfReady() else { throw Missing() }
            try charged("completing an item") { try item.complete() }
            guard let second = try queue.takeIfReady() else { throw Missing() }
            try charged("releasing an item") { try second.release() }
            guard let third = try queue.takeIfReady() else { throw Missing() }
            try charged("burying an item") { try third.bury() }
            try charged("an append") { try set.append("\(round) \(body)") }
            try charged("an insertion") {
                try set.insert(contentsOf: (0..<40).map { "\(round) \($0) \(body)" }, at: set.count / 2)
            }
            try charged("a replacement") { try set.replace(at: 0, with: "new \(round) \(body)") }
            try charged("a move") { try set.move(fromOffsets: [1, 5, 9], to: 20) }
            try charged("an exchange") { try set.swapAt(0, 7) }
            try charged("a removal") { try set.remove(at: 3) }
            try charged("removals") { try set.remove(at: [4, 6, 8, 15, 16, 17]) }
            try charged("an entry") { try dictionary.updateValue(body, forKey: "k\(round)") }
            let base = try charged("a responder") { try core.responders.enrol("f", key: "base", isBase: true) }
            let request = OutgoingRequest(name: "f", argument: Value.string(body).knownElement)
            guard let ticket = try charged("a request", { try core.requests.ask(request) }) else { throw Missing() }
            let asking = Asking(ticket: ticket, work: ticket)
            guard let incoming = try core.requests.begin(asking, at: base)
            else { throw Missing() }
            try charged("an answer") { try core.requests.answer(incoming, .success(Value.string(body).knownElement)) }
            try charged("the end of a request") { try core.requests.takeBack(ticket) }
            try charged("the end of a responder") { try core.responders.remove(base, of: "f") }
        }
        try charged("an emptied set") { try set.removeAll() }
        _ = try set.append(contentsOf: (0..<300).map { "\($0) \(body)" })
        try charged("the end of a set") { try set.remove() }
        try charged("the end of a dictionary") { try dictionary.remove() }
    }

    /// A row that is stored past the meter is found.
    @Test func whatIsNotChargedIsFound() throws {
        let before = try state()
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            let key: [UInt8] = [1]
            try lmdb { () throws(LMDBError) in
                try key.withBytes { (key) throws(LMDBError) in try scope.access.put(scope.tables.elements, key, key) }
            }
            scope.noteUpkeep()
        }
        guard let place = engine.tables.trees.firstIndex(of: engine.tables.elements) else { throw Missing() }
        #expect(try state().rows[place] == before.rows[place] + 1)
        #expect(engine.scope.meter.changes(of: engine.tables.elements) == 0)
        // The full check after the test would not like the row.
        try namespace.core.write(.removing) { (scope) throws(SpaceError) in
            try scope.elementsByBytes.delete([1])
            scope.noteUpkeep()
        }
    }
}
