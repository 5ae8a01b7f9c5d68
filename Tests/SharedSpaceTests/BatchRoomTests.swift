import LMDB
import SeededRandom
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// A batch takes the room of what it stores, and no step uses a page that was not made sure of before.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct BatchRoomTests {
    private static let limit = Limits.smallestByteLimit

    /// A row of a random mix.
    private enum Row {
        case tuple(Tuple, expires: Bool)
        case cell(String, Value)

        /// Tuples of one size for a while, as batches have them, with others among them.
        init(_ number: Int, _ usual: Int, _ random: inout SeededGenerator) {
            let size = Int.random(in: 0..<8, using: &random) > 0 ? usual : Int.random(in: 0...6000, using: &random)
            let body = Value.bytes([UInt8](repeating: 7, count: size))
            if Int.random(in: 0..<3, using: &random) == 0 {
                self = .cell("cell \(random.next())", body)
            } else {
                let fields: [Value] = [.string("row"), .int(number), body]
                self = .tuple(Tuple(fields: fields), expires: Bool.random(using: &random))
            }
        }

        func store(in transaction: borrowing Transaction) throws(SpaceError) {
            switch self {
            case .tuple(let tuple, let expires):
                _ = try transaction.write(tuple: tuple, expires: expires ? Duration.seconds(86_400) : nil)
            case .cell(let key, let value): try transaction.set(key, value)
            }
        }
    }

    /// What a random mix is stored beside: each row may cost rows in other tables.
    enum Surroundings: CaseIterable {
        case plain, indexed, journaled
    }

    /// Makes a namespace for a mix; the same for each, so that only the rows of the mix differ.
    private func make(
        _ name: String,
        _ mode: StorageMode,
        _ surroundings: Surroundings,
        _ byteLimit: Int
    ) throws -> Namespace {
        let namespace = try SpaceTest.namespace(mode, name, byteLimit: byteLimit)
        switch surroundings {
        case .plain: break
        case .journaled: try namespace.setHistory(History(changes: 500))
        case .indexed:
            // Takes that look at many tuples earn a shape its index; two of them.
            let rows = (0..<6000).map { Tuple("row", $0, [UInt8](repeating: 7, count: 20)) }
            try namespace.write(contentsOf: rows)
            for number in stride(from: 5999, to: 5900, by: -1) {
                _ = try namespace.takeIfExists(any(String.self), number, any([UInt8].self))
                _ = try namespace.takeIfExists("row", number - 1000, any([UInt8].self))
            }
            #expect(try namespace.status().shapes.map(\.state) == ["ready", "ready"])
            _ = try namespace.takeAll(matching: ["row", .any, .any])
        }
        return namespace
    }

    /// What fits one by one into a namespace fits in one step into one that is half as large again.
    ///
    /// (With a journal it does not: the changes of a step are all in it at once.)
    @Test(arguments: [(.fast, 6), (.guarded, 2)] as [(StorageMode, UInt64)], [Surroundings.plain, .indexed])
    func whatFitsOneByOneFitsInOneStep(_ mode: (StorageMode, seeds: UInt64), _ surroundings: Surroundings) throws {
        for seed in 1...mode.seeds {
            let mode = mode.0
            var random = SeededGenerator(seed: seed)
            let usual = [20, 100, 700, 1500, 3000, 9000][Int(seed) - 1]
            let single = try make("single-\(seed)", mode, surroundings, Self.limit)
            var rows: [Row] = []
            var (isFull, some) = (false, 64)
            while !isFull, rows.count < Limits.transactionChanges - 100 {
                // One commit for some of them at first, so that the test takes seconds, and one for each in the end.
                let next = (0..<some).map { Row(rows.count + $0, usual, &random) }
                do {
                    try single.transaction { t in for row in next { try row.store(in: t) } }
                    rows += next
                } catch let error as SpaceError where error.code == .limitReached {
                    isFull = some == 1
                    some = max(1, some / 8)
                }
            }
            #expect(isFull || usual <= 100)
            let whole = try make("whole-\(seed)", mode, surroundings, Self.limit / 2 * 3)
            #expect(throws: Never.self, "seed \(seed)") {
                try whole.transaction { t in for row in rows { try row.store(in: t) } }
            }
            #expect(try whole.count() == single.count(), "seed \(seed)")
            // So it does into one of the same size, but for the room that the commits leave between the rows.
            let same = try make("same-\(seed)", mode, surroundings, Self.limit)
            #expect(throws: Never.self, "seed \(seed)") {
                try same.transaction { t in for row in rows.prefix(rows.count / 8 * 7) { try row.store(in: t) } }
            }
            for namespace in [single, whole, same] {
                #expect(try namespace.verify() == [], "seed \(seed)")
                try namespace.leave()
            }
        }
    }

    /// A new namespace takes as many small tuples in one step as in many.
    @Test(arguments: StorageMode.allCases)
    func aNewNamespaceTakesManySmallTuplesAtOnce(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, byteLimit: Self.limit)
        try namespace.write(contentsOf: (0..<60_000).map { Tuple("t", $0) })
        #expect(try namespace.count() == 60_000)
        // The pages of taken tuples are used again.
        for _ in 0..<3 {
            #expect(try namespace.takeAll(matching: ["t", .any]).count == 60_000)
            try namespace.write(contentsOf: (0..<60_000).map { Tuple("t", $0) })
        }
    }

    /// A step that is too large says how much of it fits, and so much fits; what it reserved goes.
    @Test(arguments: StorageMode.allCases)
    func aStepThatIsTooLargeSaysHowMuchFits(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, byteLimit: 2 * Self.limit)
        let root = try SpaceTest.root(for: mode)
        let tuples = (0..<40_000).map { Tuple("t", $0, [UInt8](repeating: 7, count: 1000)) }
        let error = try refusal { try namespace.write(contentsOf: tuples) }
        #expect(error.code == .limitReached)
        let words = error.reason.split(separator: " ").map { $0.replacing(",", with: "") }
        guard let place = words.firstIndex(of: "of"), words[(place + 1)...].starts(with: ["these", "40000", "tuples"]),
            let count = Int(words[place - 1])
        else { throw TestFailure(error.reason) }
        #expect(count > 20_000 && count < tuples.count)
        #expect(try root.dataFile().allocated < 8 << 20)
        try namespace.write(contentsOf: tuples.prefix(count))
        #expect(try namespace.count() == count)
        #expect(try refusal { try namespace.write(contentsOf: tuples) }.code == .limitReached)
    }

    /// What a large step reserved beyond its pages is given back.
    @Test(arguments: StorageMode.allCases)
    func aLargeStepKeepsWhatItStores(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, byteLimit: 512 << 20)
        let root = try SpaceTest.root(for: mode)
        try namespace.write(contentsOf: (0..<300_000).map { Tuple("t", $0) })
        let status = try namespace.status()
        #expect(status.bytes < 20 << 20)
        #expect(try root.dataFile().allocated < status.bytes + Limits.removalReserve + status.bytes / 4 + 4 << 20)
        for number in 0..<2000 { try namespace.write("small", number, [UInt8](repeating: 7, count: 3000)) }
        #expect(try namespace.takeAll(matching: ["t", .any], max: 100_000).count == 100_000)
    }

    /// A transaction, and a put of many items, that are too large say how much of them fits, and so much fits.
    @Test(arguments: StorageMode.allCases)
    func aBodyThatIsTooLargeSaysHowMuchFits(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, byteLimit: Self.limit)
        let body = [UInt8](repeating: 7, count: 1000)
        let error = try refusal {
            try namespace.transaction { t in for number in 0..<20_000 { try t.write("t", number, body) } }
        }
        #expect(error.code == .limitReached)
        let count = try number(in: error, before: "changes before it fit in one transaction")
        #expect(count > 8000 && count < 20_000)
        try namespace.transaction { t in for number in 0..<count { try t.write("t", number, body) } }
        #expect(try namespace.takeAll(max: .max).count == count)

        // With a history, what is written after the body is not counted yet, and no number is told.
        let kept = try SpaceTest.namespace(mode, "kept", byteLimit: Self.limit)
        try kept.setHistory(History(changes: 1000))
        let uncounted = try refusal {
            try kept.transaction { t in for number in 0..<20_000 { try t.write("t", number, body) } }
        }
        #expect(uncounted.code == .limitReached && !uncounted.reason.contains("fit"), "\(uncounted)")

        let items = (0..<20_000).map { "\($0) \(String(repeating: "x", count: 1000))" }
        let queue = try SpaceTest.namespace(mode, "queue", byteLimit: Self.limit).queue("q")
        let refused = try refusal { try queue.put(contentsOf: items) }
        #expect(refused.code == .limitReached)
        let fitting = try self.number(in: refused, before: "of these 20,000 items fit in one step")
        #expect(fitting > 4000 && fitting < 20_000)
        #expect(try queue.counts()[.ready] == 0)
        try queue.put(contentsOf: items.prefix(fitting))
        #expect(try queue.counts()[.ready] == fitting)
    }

    /// The number that an error names before some words.
    private func number(in error: SpaceError, before words: String) throws -> Int {
        guard let range = error.reason.firstRange(of: words),
            let word = error.reason[..<range.lowerBound].split(separator: " ").last,
            let number = Int(word.replacing(",", with: ""))
        else { throw TestFailure(error.reason) }
        return number
    }

    /// Random steps of any size, until the namespace is full and emptied again: none uses more than was made sure of.
    @Test(arguments: StorageMode.allCases, Surroundings.allCases)
    func noStepUsesMoreThanItMadeSureOf(_ mode: StorageMode, _ surroundings: Surroundings) throws {
        // Each commit of `.durable` waits for the disk.
        for seed in 1...(mode == .durable ? 1 : 2) as ClosedRange<UInt64> {
            var random = SeededGenerator(seed: seed)
            let namespace = try make("n-\(seed)", mode, surroundings, Self.limit)
            let (engine, set) = (namespace.core.engine, try namespace.orderedSet("set", of: Int.self))
            let queue = namespace.queue("queue")
            var (looks, refusals) = (0, 0)
            for step in 0..<200 {
                let usual = [10, 100, 1000, 4000, 30_000][Int.random(in: 0..<5, using: &random)]
                let many = [1, 10, 100, 1000][Int.random(in: 0..<4, using: &random)]
                let before = engine.environment.info
                do {
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0..<4:
                        let rows = (0..<many).map { Row($0, usual, &random) }
                        try namespace.transaction { t in for row in rows { try row.store(in: t) } }
                    case 4: _ = try set.append(contentsOf: (0..<many).map { step * 1000 + $0 })
                    case 5: try queue.put(contentsOf: 0..<many, priority: step % 3)
                    case 6: if let item = try queue.takeIfReady() { try item.complete() }
                    case 7: try set.removeAll()
                    default: _ = try namespace.takeAll(matching: ["row", .any, .any], max: 2 * many)
                    }
                } catch let error as SpaceError {
                    #expect(error.code == .limitReached, "step \(step), seed \(seed): \(error)")
                    refusals += 1
                }
                let after = engine.environment.info
                // Several commits are several bounds, and only the last one is known.
                guard after.lastTransaction == before.lastTransaction + 1 else { continue }
                looks += 1
                let (bound, page) = (engine.scope.meter.bound, engine.environment.pageSize)
                #expect(after.lastPage < bound.end || bound.end == 0, "step \(step), seed \(seed)")
                #expect(
                    (after.lastPage + 1) * page <= Int(engine.control.reserved.load()),
                    "step \(step), seed \(seed)"
                )
            }
            // It was full at times, and most steps were one commit.
            #expect(looks > 100 && refusals > 5, "\(looks) looks, \(refusals) refusals, seed \(seed)")
            #expect(try namespace.verify() == [], "seed \(seed)")
            try namespace.leave()
        }
    }
}
