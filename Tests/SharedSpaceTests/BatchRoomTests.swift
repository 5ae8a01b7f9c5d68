import LMDB
import SeededRandom
import SharedSpace
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
            case .cell(let key, let value): try transaction.set(key, value: value)
            }
        }
    }

    /// What fits one by one into a namespace fits in one step into one that is half as large again.
    @Test(arguments: [StorageMode.fast, .guarded], [20, 700, 1500, 5000])
    func whatFitsOneByOneFitsInOneStep(_ mode: StorageMode, _ usual: Int) throws {
        var random = SeededGenerator(seed: UInt64(usual))
        let single = try SpaceTest.namespace(mode, "single", byteLimit: Self.limit)
        // One commit for some of them, so that the test takes seconds; a small one costs what a single row does.
        var rows: [Row] = []
        var isFull = false
        while !isFull, rows.count < Limits.transactionChanges - 100 {
            let some = (0..<20).map { Row(rows.count + $0, usual, &random) }
            do {
                try single.transaction { t in for row in some { try row.store(in: t) } }
                rows += some
            } catch let error as SpaceError where error.code == .limitReached {
                isFull = true
            }
        }
        #expect(isFull || usual < 100)
        let whole = try SpaceTest.namespace(mode, "whole", byteLimit: Self.limit / 2 * 3)
        try whole.transaction { t in for row in rows { try row.store(in: t) } }
        #expect(try whole.count() == single.count())
        // So it does into one of the same size, but for the room that the commits leave between the rows.
        let same = try SpaceTest.namespace(mode, "same", byteLimit: Self.limit)
        try same.transaction { t in
            for row in rows.prefix(rows.count / 8 * 7) { try row.store(in: t) }
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
        #expect(try allocated(root) < 8 << 20)
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
        #expect(try allocated(root) < status.bytes + Limits.removalReserve + status.bytes / 4 + 4 << 20)
        for number in 0..<2000 { try namespace.write("small", number, [UInt8](repeating: 7, count: 3000)) }
        #expect(try namespace.takeAll(matching: ["t", .any], max: 100_000).count == 100_000)
    }

    private func allocated(_ root: TemporaryRoot) throws -> Int {
        let folder = try OwnedDescriptor.open("\(root.path)/n", flags: 0)
        return try Directory.info(at: folder.raw, "data.mdb").allocated
    }

    /// Random steps of any size, until the namespace is full and emptied again: none uses more than was made sure of.
    @Test(arguments: StorageMode.allCases, [1, 2, 3] as [UInt64])
    func noStepUsesMoreThanItMadeSureOf(_ mode: StorageMode, _ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let namespace = try SpaceTest.namespace(mode, byteLimit: Self.limit)
        if seed == 2 { try namespace.setHistory(History(changes: 500)) }
        let (engine, set) = (namespace.core.engine, try namespace.orderedSet("set", of: Int.self))
        let queue = namespace.queue("queue")
        for step in 0..<60 {
            let usual = [10, 100, 1000, 4000, 30_000][Int.random(in: 0..<5, using: &random)]
            let many = [1, 10, 100, 300][Int.random(in: 0..<4, using: &random)]
            let before = engine.environment.info
            do {
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    let rows = (0..<many).map { Row($0, usual, &random) }
                    try namespace.transaction { t in for row in rows { try row.store(in: t) } }
                case 4: _ = try set.append(contentsOf: (0..<many).map { step * 1000 + $0 })
                case 5: try queue.put(contentsOf: 0..<many, priority: step % 3)
                case 6: while let item = try queue.takeIfReady(), Bool.random(using: &random) { try item.complete() }
                case 7: try set.removeAll()
                default: _ = try namespace.takeAll(matching: ["row", .any, .any], max: 2 * many)
                }
            } catch let error as SpaceError {
                #expect(error.code == .limitReached, "\(error)")
            }
            let after = engine.environment.info
            // Several commits are several bounds, and only the last one is known.
            guard after.lastTransaction == before.lastTransaction + 1 else { continue }
            let (bound, page) = (engine.scope.meter.bound, engine.environment.pageSize)
            #expect(after.lastPage < bound.end || bound.end == 0, "step \(step), seed \(seed)")
            #expect((after.lastPage + 1) * page <= Int(engine.control.reserved.load()), "step \(step), seed \(seed)")
        }
    }
}
