import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// A batch takes the room of what it stores, and no step uses a page that was not made sure of before.
///
/// `SlowBatchRoomTests` does the same in the other modes, and plays more of the random mixes.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct BatchRoomTests {
    private static let limit = Limits.smallestByteLimit

    @Test(arguments: [BatchMix.Surroundings.plain, .indexed])
    func whatFitsOneByOneFitsInOneStep(_ surroundings: BatchMix.Surroundings) throws {
        try BatchMix.fitsInOneStep(.fast, seed: 3, surroundings)
    }

    @Test(arguments: BatchMix.Surroundings.allCases)
    func noStepUsesMoreThanItMadeSureOf(_ surroundings: BatchMix.Surroundings) throws {
        try BatchMix.usesNoMoreThanItMadeSureOf(.fast, seed: 1, surroundings)
    }

    /// A new namespace takes as many small tuples in one step as in many.
    @Test(arguments: [StorageMode.fast])
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
    @Test(arguments: [StorageMode.fast])
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
    @Test(arguments: [StorageMode.fast])
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
    @Test(arguments: [StorageMode.fast])
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
}
