import CLMDB
import LMDB
import Testing

@Suite("Access")
struct AccessTests {
    let folder: TemporaryFolder
    let environment: Environment
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        environment = try folder.open()
        database = try environment.makeDatabase()
    }

    @Test("Records are stored, replaced and deleted")
    func records() throws {
        try environment.write { access throws(LMDBError) in
            #expect(try access.get(database, "key") == nil)
            try access.put(database, "key", "value")
            #expect(try access.get(database, "key") == "value")
            try access.put(database, "key", "")
            #expect(try access.get(database, "key") == "")
            #expect(try access.delete(database, "key"))
            #expect(try !access.delete(database, "key"))
            #expect(try access.get(database, "key") == nil)
        }
    }

    @Test("An existing record stays, if asked")
    func noOverwrite() throws {
        try environment.write { access throws(LMDBError) in
            try access.put(database, "key", "first", flags: .noOverwrite)
            let error = failure { () throws(LMDBError) in
                try access.put(database, "key", "second", flags: .noOverwrite)
            }
            #expect(error == .keyExist)
            #expect(try access.get(database, "key") == "first")
            // The transaction goes on.
            try access.put(database, "key", "third")
        }
        #expect(try environment.read { access throws(LMDBError) in try access.get(database, "key") } == "third")
    }

    @Test("Appending takes ascending keys only, and fills pages")
    func append() throws {
        let other = try environment.makeDatabase("other")
        let value = String(repeating: "x", count: 100)
        try environment.write { access throws(LMDBError) in
            for key in 1...2_000 as ClosedRange<UInt64> {
                try access.put(database, key, value, flags: .append)
                try access.put(other, key, value)
            }
            for key in [2_000, 1_999] as [UInt64] {
                #expect(failure { () throws(LMDBError) in try access.put(database, key, flags: .append) } == .keyExist)
            }
            let appended = try access.statistics(database)
            let inserted = try access.statistics(other)
            #expect(appended.entries == 2_000)
            #expect(inserted.entries == 2_000)
            #expect(appended.leafPages < inserted.leafPages)
        }
    }

    @Test("Reserved space is what gets stored")
    func reserve() throws {
        for size in [0, 1, 10, 10_000] {
            try environment.write { access throws(LMDBError) in
                let room = try access.reserve(database, "key", size: size)
                #expect(room.count == size)
                room.initializeMemory(as: UInt8.self, repeating: 0x61)
                let other = try access.reserve(database, UInt64(size), size: size, flags: .noOverwrite)
                other.initializeMemory(as: UInt8.self, repeating: 0x62)
            }
            try environment.read { access throws(LMDBError) in
                #expect(try access.get(database, "key") == String(repeating: "a", count: size))
                let value = try access.get(database, UInt64(size)).map(text)
                #expect(value == String(repeating: "b", count: size))
            }
        }
        let writer = try environment.beginWrite()
        #expect(failure { () throws(LMDBError) in try writer.access.reserve(database, 1, size: -1) } == .badValueSize)
        #expect(failure { () throws(LMDBError) in try writer.access.reserve(database, 1, size: .max) } == .badValueSize)
    }

    @Test("Keys that are empty or too long are refused, and the transaction goes on")
    func badKeys() throws {
        let longest = String(repeating: "k", count: environment.maxKeySize)
        try environment.write { access throws(LMDBError) in
            #expect(failure { () throws(LMDBError) in try access.put(database, "", "x") } == .badValueSize)
            #expect(failure { () throws(LMDBError) in try access.put(database, longest + "k", "x") } == .badValueSize)
            #expect(failure { () throws(LMDBError) in try access.get(database, "") } == .badValueSize)
            #expect(try access.get(database, longest + "k") == nil)
            try access.put(database, longest, "value")
        }
        #expect(try environment.read { access throws(LMDBError) in try access.get(database, longest) } == "value")
    }

    @Test("Numbers as keys are big-endian and come back")
    func integerKeys() throws {
        for number in [0, 1, 0x0102_0304_0506_0708, .max] as [UInt64] {
            try number.withKey { key throws(LMDBError) in
                #expect(key.count == 8)
                #expect(key[7] == UInt8(truncatingIfNeeded: number))
                #expect(UInt64(bigEndianKey: key) == number)
                #expect(UInt64(bigEndianKey: UnsafeRawBufferPointer(rebasing: key[..<7])) == nil)
                try environment.write { access throws(LMDBError) in
                    try access.put(database, number, "\(number)")
                    #expect(try access.get(database, key).map(text) == "\(number)")
                }
            }
            try environment.write { access throws(LMDBError) in
                #expect(try access.get(database, number).map(text) == "\(number)")
                #expect(try access.delete(database, number))
                #expect(try !access.delete(database, number))
            }
        }
        #expect(UInt64(bigEndianKey: UnsafeRawBufferPointer(start: nil, count: 0)) == nil)
    }

    @Test("Only the known flags reach LMDB")
    func unknownFlags() throws {
        #expect(PutFlags.append.rawValue == UInt32(MDB_APPEND))
        #expect(PutFlags.noOverwrite.rawValue == UInt32(MDB_NOOVERWRITE))
        // This flag LMDB itself refuses.
        try environment.write { access throws(LMDBError) in
            try access.put(database, "key", "value", flags: PutFlags(rawValue: UInt32(MDB_MULTIPLE)))
        }
    }

    @Test("Databases are told apart, listed, emptied and deleted")
    func databases() throws {
        let other = try environment.makeDatabase("other")
        let main = try environment.makeDatabase(nil)
        #expect(other != database)
        #expect(try environment.makeDatabase("other") == other)
        try environment.write { access throws(LMDBError) in
            try access.put(database, "key", "1")
            try access.put(other, "key", "2")
            #expect(try access.get(database, "key") == "1")
            #expect(try access.get(other, "key") == "2")
            #expect(try access.statistics(main).entries == 2)
            // A database is no record.
            #expect(failure { () throws(LMDBError) in try access.put(main, "other", "x") } == .incompatible)
        }
        try environment.write { access throws(LMDBError) in
            try access.empty(database)
            #expect(try access.get(database, "key") == nil)
            #expect(try access.get(other, "key") == "2")
        }
        try environment.read { access throws(LMDBError) in
            #expect(try access.statistics(main).entries == 2)
        }
    }

    @Test("Names that LMDB would misread, and too many databases, are refused")
    func databaseErrors() throws {
        let name = String(repeating: "n", count: environment.maxKeySize + 1)
        try environment.write { access throws(LMDBError) in
            #expect(failure { () throws(LMDBError) in try access.database("absent", create: false) } == .notFound)
            #expect(failure { () throws(LMDBError) in try access.database("", create: true) } == .badValueSize)
            #expect(failure { () throws(LMDBError) in try access.database(name, create: true) } == .badValueSize)
            // In C, the name would end at the NUL: "test", which exists.
            #expect(
                failure { () throws(LMDBError) in try access.database("test\0x", create: false) } == .invalidArgument
            )
            for index in 1...3 { _ = try access.database("\(index)", create: true) }
            #expect(failure { () throws(LMDBError) in try access.database("4", create: true) } == .databasesFull)
        }
    }

    @Test("Statistics count records and pages; freed pages are listed")
    func statistics() throws {
        try environment.read { access throws(LMDBError) in
            let statistics = try access.statistics(database)
            #expect(statistics.depth == 0)
            #expect(statistics.pages == 0)
            #expect(statistics.entries == 0)
            #expect(statistics.pageSize == environment.pageSize)
        }
        try environment.write { access throws(LMDBError) in
            for key in 0..<1_000 as Range<UInt64> { try access.put(database, key, "value") }
            try access.put(database, "large", String(repeating: "x", count: 10_000))
        }
        try environment.read { access throws(LMDBError) in
            let statistics = try access.statistics(database)
            #expect(statistics.depth == 2)
            #expect(statistics.branchPages == 1)
            #expect(statistics.leafPages > 1)
            #expect(statistics.overflowPages == 3)
            #expect(statistics.entries == 1_001)
            #expect(statistics.pages == statistics.leafPages + 4)
        }
        try environment.write { access throws(LMDBError) in try access.empty(database) }
        try environment.read { access throws(LMDBError) in
            #expect(try access.freeListStatistics().entries >= 1)
            #expect(try access.statistics(database).pages == 0)
        }
    }
}
