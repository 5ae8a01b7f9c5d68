import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

/// Namespaces that grow to their limit say so, can be emptied, and can be filled again.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RoomTests {
    @Test(arguments: [StorageMode.fast, .guarded])
    func aFullNamespaceIsEmptiedAndFilledAgain(_ mode: StorageMode) throws {
        let root = try SpaceTest.root(for: mode)
        let limit = Limits.smallestByteLimit
        let namespace = try SpaceTest.namespace(mode, byteLimit: limit)
        let body = [UInt8](repeating: 7, count: 4000)
        var counts: [Int] = []
        for _ in 0..<3 {
            let refused = try refusal {
                for number in 0..<10_000 { try namespace.write("page", number, body) }
            }
            #expect(refused.code == .limitReached)
            #expect(refused.namespace == "n")
            let count = try namespace.count()
            counts.append(count)
            // A namespace that is full for one tuple is full for a batch, which leaves none of its tuples.
            #expect(
                try refusal { try namespace.write(contentsOf: (0..<50).map { Tuple("page", $0, body) }) }.code
                    == .limitReached
            )
            #expect(try namespace.count() == count)
            // Reads, claims, completions and releases work while full.
            let claims = try namespace.claimBriefly(matching: ["page", .any, .any], max: 20)
            #expect(claims.count == 20)
            try namespace.release(Array(claims.suffix(10)))
            try namespace.complete(Array(claims.prefix(10)))
            #expect(try namespace.verify() == [])
            for _ in 0..<count - 10 where try namespace.takeIfExists("page", any(Int.self), any([UInt8].self)) == nil {
                throw TestFailure("a tuple is missing")
            }
            #expect(try namespace.count() == 0)
            #expect(try root.dataFile().allocated <= limit)
        }
        // About as many tuples fit each time.
        #expect(counts.allSatisfy { $0 > counts[0] / 2 })
    }

    /// A new namespace takes a megabyte, and what is hardly used goes on to.
    @Test(arguments: StorageMode.allCases)
    func aSmallNamespaceIsSmall(_ mode: StorageMode) throws {
        _ = try SpaceTest.root(for: mode)
        let namespace = try SpaceTest.namespace(mode)
        func size() throws -> Int { try namespace.status().diskBytes }
        #expect(try size() <= 1_000_000)
        for number in 0..<10 {
            try namespace.write("t", number)
            #expect(try namespace.takeIfExists("t", number) != nil)
        }
        try namespace.write("t", 0)
        try namespace.set("k", 1)
        #expect(try namespace.takeIfExists("t", 0) != nil)
        #expect(try size() <= 1_000_000)
        // It grows with its use, up to what no transaction has to measure.
        for number in 0..<400 { try namespace.set("k", number) }
        #expect(try size() > 4_000_000)
    }

    /// A program that copies the file of a writable map, and knows nothing of holes, gets little more than there is.
    @Test func theFileIsAboutAsLongAsItsBlocks() throws {
        let root = try SpaceTest.root()
        let namespace = try SpaceTest.namespace(.fast)
        func check() throws {
            let file = try root.dataFile()
            #expect(file.size > file.allocated && file.size <= file.allocated + DiskReserve.margin)
        }
        try check()
        try namespace.write(contentsOf: (0..<200_000).map { Tuple("t", $0) })
        try check()
        #expect(try namespace.takeAll(matching: ["t", .any], max: .max).count == 200_000)
        try check()
        try namespace.set("k", 1)
        try check()
    }

    /// Freed pages can be used again, each time anew, for values that need many pages in a row.
    @Test(arguments: StorageMode.allCases, [100_000, 1_000_000])
    func anEmptiedNamespaceHasRoomForAsManyLargeValues(_ mode: StorageMode, _ size: Int) throws {
        let root = try TemporaryRoot()
        let namespace = try root.namespace(mode, byteLimit: Limits.smallestByteLimit)
        let body = [UInt8](repeating: 7, count: size)
        var counts: [Int] = []
        for round in 0..<4 {
            let refused = try refusal { while true { try namespace.write("large", body) } }
            #expect(refused.code == .limitReached)
            counts.append(try namespace.count())
            if round % 2 == 0 {
                while try namespace.takeIfExists("large", any([UInt8].self)) != nil {}
            } else {
                // The test takes as a command does: each tuple is moved before it goes.
                while true {
                    let claims = try namespace.claimBriefly(matching: ["large", .any], max: 20)
                    if claims.isEmpty { break }
                    try namespace.complete(claims)
                }
            }
            #expect(try namespace.count() == 0)
        }
        #expect(counts[0] * size > Limits.smallestByteLimit / 2)
        // Here and there a used page lies between free ones.
        #expect(counts.allSatisfy { $0 * 4 >= counts[0] * 3 }, "\(counts)")
        #expect(try root.dataFile().allocated <= Limits.smallestByteLimit)
        #expect(try namespace.verify() == [])
    }

    /// Tuples of five times the limit are written and taken, and the file does not grow with them.
    @Test func whatIsTakenMakesRoom() throws {
        let root = try SpaceTest.root()
        let namespace = try SpaceTest.namespace(.fast, byteLimit: Limits.smallestByteLimit)
        let body = [UInt8](repeating: 7, count: 8000)
        for number in 0..<10_000 {
            try namespace.write("page", number, body)
            if number >= 100 { #expect(try namespace.takeIfExists("page", number - 100, any([UInt8].self)) != nil) }
        }
        #expect(try namespace.count() == 100)
        #expect(try root.dataFile().allocated <= Limits.smallestByteLimit)
    }

    /// In `.durable` a sync should find written blocks, so zeros are written ahead of use; the other modes do not sync.
    @Test(arguments: [StorageMode.durable, .guarded])
    func aDurableFileIsWrittenAheadOfUse(_ mode: StorageMode) throws {
        let root = try SpaceTest.root(for: mode)
        let namespace = try SpaceTest.namespace(mode)
        var lengths: Set<Int> = []
        for number in 0..<200 {
            try namespace.write("page", number, [UInt8](repeating: 7, count: 4000))
            let (used, file) = (try namespace.status().bytes, try root.dataFile())
            lengths.insert(file.size)
            // The file has no holes: all its blocks are allocated.
            #expect(file.allocated >= file.size)
            switch mode {
            case .durable: #expect(file.size - used >= 32 << 10, "\(file.size) bytes of the file, \(used) in use")
            default: #expect(file.size <= used)
            }
        }
        // The file grows by pieces, and not page by page.
        #expect(mode != .durable || lengths.count <= 20)
        // A large value gets no zeros ahead, because it would be written twice.
        let before = try root.dataFile().size
        try namespace.write("large", [UInt8](repeating: 7, count: 4 << 20))
        #expect(try root.dataFile().size - before < 5 << 20)
    }

    /// Pages that a transaction added and freed lie behind the file's end; no zeros are written up to them.
    @Test func aGapOfADurableFileIsLeft() throws {
        let root = try SpaceTest.root(for: .durable)
        let namespace = try SpaceTest.namespace(.durable)
        for number in 0..<50 { try namespace.write("page", number, [UInt8](repeating: 7, count: 4000)) }
        for _ in 0..<50 { _ = try namespace.takeIfExists("page", any(Int.self), any([UInt8].self)) }
        let large = Tuple("large", [UInt8](repeating: 7, count: 32 << 20))
        try namespace.transaction { t in
            try t.write(tuple: large)
            _ = try t.takeIfExists(matching: ["large", .any])
        }
        let used = try namespace.status().bytes
        #expect(used > 32 << 20)
        try namespace.write("small", 1)
        #expect(try root.dataFile().size < 4 << 20)
        #expect(try namespace.takeIfExists("small", any(Int.self)) != nil)
    }

    /// A cell has few rows, so many cells that are changed at once need no more space than they take.
    @Test func aSmallNamespaceHasRoomForManyCells() throws {
        let root = try TemporaryRoot()
        let namespace = try root.namespace(.fast, byteLimit: Limits.smallestByteLimit)
        let dictionary = try namespace.dictionary("d", of: Int.self)
        let entries = Dictionary(uniqueKeysWithValues: (0..<10_000).map { ("\($0)", $0) })
        for _ in 0..<3 {
            try dictionary.merge(entries) { _, new in new }
            #expect(try dictionary.count == entries.count)
            try dictionary.removeAll()
        }
        #expect(try root.dataFile().allocated <= Limits.smallestByteLimit && namespace.verify() == [])
    }

    @Test func aTupleLargerThanTheLimitIsRefused() throws {
        let namespace = try SpaceTest.namespace(.fast, byteLimit: Limits.smallestByteLimit)
        let large = Tuple(trusting: [UInt8](repeating: 1, count: 20 << 20), isRecord: false)
        #expect(try refusal { try namespace.write(tuple: large) }.code == .limitReached)
        try namespace.write("small")
        #expect(try namespace.count() == 1)
    }

    @Test(arguments: [0, 1, Limits.smallestByteLimit - 1, Limits.mapBytes + 1, -1, Int.max, Int.min])
    func limitsOutOfRangeAreRefused(_ limit: Int) throws {
        let root = try TemporaryRoot()
        #expect(try refusal { _ = try root.namespace(.fast, byteLimit: limit) }.code == .invalidArgument)
        #expect(try root.space.namespaceNames() == [])
        #expect(root.leftovers == [])
    }

    @Test func valuesHaveALimit() throws {
        let namespace = try SpaceTest.namespace("n")
        let over = Tuple(trusting: [UInt8](repeating: 1, count: Limits.valueBytes + 1), isRecord: false)
        #expect(try refusal { try namespace.write(tuple: over) }.code == .tooLarge)
        #expect(try namespace.count() == 0)
    }
}
