import LMDB
import SeededRandom
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// Random rows of all kinds, in steps of any size, in a small namespace: what is true of the room for each of them.
enum BatchMix {
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
    private static func make(
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
    static func fitsInOneStep(_ mode: StorageMode, seed: UInt64, _ surroundings: Surroundings) throws {
        var random = SeededGenerator(seed: seed)
        let usual = [20, 100, 700, 1500, 3000, 9000][Int(seed) - 1]
        let single = try make("single-\(seed)", mode, surroundings, limit)
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
        let whole = try make("whole-\(seed)", mode, surroundings, limit / 2 * 3)
        #expect(throws: Never.self, "seed \(seed)") {
            try whole.transaction { t in for row in rows { try row.store(in: t) } }
        }
        #expect(try whole.count() == single.count(), "seed \(seed)")
        // So it does into one of the same size, but for the room that the commits leave between the rows.
        let same = try make("same-\(seed)", mode, surroundings, limit)
        #expect(throws: Never.self, "seed \(seed)") {
            try same.transaction { t in for row in rows.prefix(rows.count / 8 * 7) { try row.store(in: t) } }
        }
        for namespace in [single, whole, same] {
            #expect(try namespace.verify() == [], "seed \(seed)")
            try namespace.leave()
        }
    }

    /// Random steps of any size, until the namespace is full and emptied again: none uses more than was made sure of.
    static func usesNoMoreThanItMadeSureOf(
        _ mode: StorageMode,
        seed: UInt64,
        _ surroundings: Surroundings
    ) throws {
        var random = SeededGenerator(seed: seed)
        let namespace = try make("n-\(seed)", mode, surroundings, limit)
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
