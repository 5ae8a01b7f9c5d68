import LMDB
import SeededRandom
import Testing

private func withBytes<Result>(
    _ key: [UInt8],
    _ body: (UnsafeRawBufferPointer) throws(LMDBError) -> Result
) throws(LMDBError) -> Result {
    try key.withUnsafeBufferPointer { bytes throws(LMDBError) in try body(UnsafeRawBufferPointer(bytes)) }
}

@Suite("Sections of a database")
struct SectionTests {
    let folder: TemporaryFolder
    let environment: Environment
    let main: Database
    /// With a neighbour on both sides, on one, and none behind.
    let sections: [Database]

    init() throws {
        folder = try TemporaryFolder()
        environment = try folder.open()
        main = try environment.makeDatabase(nil)
        sections = [1, 2, 0x80, 0xFF].map(main.section)
    }

    /// The expected contents of a section, and the position of a cursor in it.
    private struct Model {
        var records: [[UInt8]: String] = [:]
        var keys: [[UInt8]] { records.keys.sorted { $0.lexicographicallyPrecedes($1) } }
    }

    private func key(_ entry: Cursor.Entry?) -> [UInt8]? { entry.map { Array($0.key) } }

    @Test("Each section is used like a database of its own", arguments: 0..<8 as Range<UInt64>)
    func behavesAsDatabase(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var models = [Model](repeating: Model(), count: sections.count)
        // Keys of all lengths, few enough to repeat; keys between the sections belong to none.
        let keys: [[UInt8]] = (0..<60).map { number in
            (0..<[1, 2, 8, 18, 40, 510].randomElement(using: &generator)!).map { _ in
                UInt8.random(in: number % 2 == 0 ? 0...255 : 254...255, using: &generator)
            }
        }
        try environment.write { access throws(LMDBError) in
            try access.put(main, "counters", "first")
            for _ in 0..<600 {
                let place = sections.indices.randomElement(using: &generator)!
                let key = keys.randomElement(using: &generator)!
                let value = String(repeating: "v", count: .random(in: 0...300, using: &generator))
                switch Int.random(in: 0..<5, using: &generator) {
                case 0:
                    let wasThere = try withBytes(key) { key throws(LMDBError) in
                        try access.delete(sections[place], key)
                    }
                    #expect(wasThere == (models[place].records.removeValue(forKey: key) != nil))
                case 1:
                    let found = try withBytes(key) { key throws(LMDBError) in
                        try access.get(sections[place], key).map { text($0) }
                    }
                    #expect(found == models[place].records[key])
                default:
                    try withBytes(key) { key throws(LMDBError) in
                        try value.withBytes { value throws(LMDBError) in try access.put(sections[place], key, value) }
                    }
                    models[place].records[key] = value
                }
            }
            try access.put(main, "journal", "last")
            for (section, model) in zip(sections, models) {
                try compare(access, section, model, keys, &generator)
            }
            #expect(try access.statistics(main).entries == 2 + models.reduce(0) { $0 + $1.records.count })
        }
        try environment.read { access throws(LMDBError) in
            for (section, model) in zip(sections, models) {
                try compare(access, section, model, keys, &generator)
            }
            #expect(try access.get(main, "counters") == "first")
            #expect(try access.get(main, "journal") == "last")
        }
    }

    /// Walks a cursor at random, beside an index into the sorted keys.
    private func compare(
        _ access: Access,
        _ section: Database,
        _ model: Model,
        _ wanted: [[UInt8]],
        _ generator: inout SeededGenerator
    ) throws(LMDBError) {
        let keys = model.keys
        var cursor = try access.cursor(section)
        var found = key(try cursor.first())
        #expect(found == keys.first)
        found = key(try cursor.previous())
        #expect(found == nil)
        found = key(try cursor.next())
        #expect(found == keys.first)
        found = key(try cursor.last())
        #expect(found == keys.last)
        found = key(try cursor.next())
        #expect(found == nil)
        found = key(try cursor.current())
        #expect(found == nil)
        found = key(try cursor.previous())
        #expect(found == keys.last)
        for _ in 0..<40 {
            let seek = wanted.randomElement(using: &generator)!
            let place = keys.firstIndex { !$0.lexicographicallyPrecedes(seek) } ?? keys.count
            found = key(try withBytes(seek) { bytes throws(LMDBError) in try cursor.seek(bytes, .atLeast) })
            #expect(found == (place < keys.count ? keys[place] : nil))
            if Bool.random(using: &generator) {
                found = key(try cursor.previous())
                #expect(found == (place > 0 ? keys[place - 1] : nil))
            } else if place < keys.count {
                found = key(try cursor.next())
                #expect(found == (place + 1 < keys.count ? keys[place + 1] : nil))
            }
        }
    }

    @Test("A cursor deletes the records of its section alone")
    func deletesItsOwn() throws {
        try environment.write { access throws(LMDBError) in
            for section in sections {
                for number in 0..<500 as Range<UInt64> { try access.put(section, number, "\(number)") }
            }
            do {
                var cursor = try access.cursor(sections[1])
                while try cursor.next() != nil { try cursor.delete() }
                // The cursor's position now begins the next section.
                #expect(failure { () throws(LMDBError) in try cursor.delete() } == .invalidArgument)
            }
            var counts: [Int] = []
            for section in sections {
                var cursor = try access.cursor(section)
                var count = 0
                while try cursor.next() != nil { count += 1 }
                counts.append(count)
            }
            #expect(counts == [500, 0, 500, 500])
        }
    }

    @Test("The last section can be appended to, the others can't")
    func appends() throws {
        try environment.write { access throws(LMDBError) in
            for number in 0..<500 as Range<UInt64> {
                try access.put(sections[3], number, "\(number)", flags: .append)
            }
            let refused = failure { () throws(LMDBError) in try access.put(sections[1], 1, "1", flags: .append) }
            #expect(refused == .keyExist)
        }
    }

    @Test("Operations that need a whole database, and keys that don't fit, are refused")
    func refusals() throws {
        try environment.write { access throws(LMDBError) in
            #expect(failure { () throws(LMDBError) in _ = try access.statistics(sections[0]) } == .invalidArgument)
            #expect(failure { () throws(LMDBError) in try access.empty(sections[0]) } == .invalidArgument)
            for length in [0, 511, 512, 100_000] {
                let key = [UInt8](repeating: 7, count: length)
                #expect(
                    failure { () throws(LMDBError) in
                        try withBytes(key) { key throws(LMDBError) in
                            try "value".withBytes { value throws(LMDBError) in
                                try access.put(sections[0], key, value)
                            }
                        }
                    } == .badValueSize
                )
                #expect(
                    failure { () throws(LMDBError) in
                        _ = try withBytes(key) { key throws(LMDBError) in try access.get(sections[0], key) }
                    } == .badValueSize
                )
            }
        }
    }
}
