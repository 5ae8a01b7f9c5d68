import CLMDB
import LMDB
import Testing

@Suite("Cursor")
struct CursorTests {
    let folder: TemporaryFolder
    let environment: Environment
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        environment = try folder.open()
        database = try environment.makeDatabase()
    }

    private func fill(_ keys: some Sequence<UInt64>) throws(LMDBError) {
        try environment.write { access throws(LMDBError) in
            for key in keys { try access.put(database, key, "\(key)") }
        }
    }

    private func key(_ entry: Cursor.Entry?) -> UInt64? {
        guard let entry, let key = UInt64(bigEndianKey: entry.key) else { return nil }
        #expect(text(entry.value) == "\(key)")
        return key
    }

    @Test("Numbers come in numeric order, both ways, over many pages")
    func order() throws {
        // Little-endian, 256 would come before 1.
        let keys = Array(0..<2_000 as Range<UInt64>) + [1 << 16, 1 << 32, .max - 1, .max]
        try fill(keys.shuffled())
        let reader = try environment.beginRead()
        var cursor = try reader.access.cursor(database)
        var forward: [UInt64] = []
        while let found = key(try cursor.next()) { forward.append(found) }
        #expect(forward == keys)
        var backward: [UInt64] = []
        while let found = key(try cursor.previous()) { backward.append(found) }
        #expect(backward == keys.reversed())
    }

    @Test("Seeking finds the key, or the next greater one")
    func seek() throws {
        try fill([10, 20, 30])
        let reader = try environment.beginRead()
        var cursor = try reader.access.cursor(database)
        var found = key(try cursor.seek(20, .exactly))
        #expect(found == 20)
        found = key(try cursor.current())
        #expect(found == 20)
        found = key(try cursor.seek(15, .exactly))
        #expect(found == nil)
        found = key(try cursor.current())
        #expect(found == nil)
        found = key(try cursor.seek(15, .atLeast))
        #expect(found == 20)
        found = key(try cursor.previous())
        #expect(found == 10)
        found = key(try cursor.seek(0, .atLeast))
        #expect(found == 10)
        found = key(try cursor.seek(30, .atLeast))
        #expect(found == 30)
        found = key(try cursor.first())
        #expect(found == 10)
        found = key(try cursor.last())
        #expect(found == 30)
        // Beyond the last: the greatest key below is one step back.
        found = key(try cursor.seek(31, .atLeast))
        #expect(found == nil)
        found = key(try cursor.previous())
        #expect(found == 30)
        let error = failure { () throws(LMDBError) in
            try cursor.seek(UnsafeRawBufferPointer(start: nil, count: 0), .atLeast)
        }
        #expect(error == .badValueSize)
    }

    @Test("Beyond either end there is no record, however often one asks, and the way back is the same")
    func ends() throws {
        try fill([1, 2])
        let reader = try environment.beginRead()
        var cursor = try reader.access.cursor(database)
        var found = key(try cursor.current())
        #expect(found == nil)
        var steps: [UInt64?] = []
        for _ in 0..<4 { steps.append(key(try cursor.next())) }
        found = key(try cursor.current())
        #expect(found == nil)
        for _ in 0..<4 { steps.append(key(try cursor.previous())) }
        found = key(try cursor.current())
        #expect(found == nil)
        steps.append(key(try cursor.next()))
        #expect(steps == [1, 2, nil, nil, 2, 1, nil, nil, 1])
    }

    @Test("An empty database has no first, last, next or previous")
    func empty() throws {
        let reader = try environment.beginRead()
        var cursor = try reader.access.cursor(database)
        var steps: [UInt64?] = []
        steps.append(key(try cursor.first()))
        steps.append(key(try cursor.last()))
        steps.append(key(try cursor.next()))
        steps.append(key(try cursor.previous()))
        steps.append(key(try cursor.seek(0, .atLeast)))
        steps.append(key(try cursor.seek(0, .exactly)))
        #expect(steps.allSatisfy { $0 == nil })
    }

    @Test("Deleting goes on with the neighbours")
    func deleting() throws {
        try fill(1...5)
        let writer = try environment.beginWrite()
        do {
            var cursor = try writer.access.cursor(database)
            _ = try cursor.seek(3, .exactly)
            try cursor.delete()
            var found = key(try cursor.current())
            #expect(found == nil)
            // A second delete does not take the record that moved up.
            let again = failure { () throws(LMDBError) in try cursor.delete() }
            #expect(again == .invalidArgument)
            found = key(try cursor.next())
            #expect(found == 4)
            try cursor.delete()
            found = key(try cursor.previous())
            #expect(found == 2)
            found = key(try cursor.next())
            #expect(found == 5)
            try cursor.delete()
            found = key(try cursor.next())
            #expect(found == nil)
            found = key(try cursor.previous())
            #expect(found == 2)
        }
        try writer.commit()
        #expect(try environment.read { access throws(LMDBError) in try access.statistics(database).entries } == 2)
    }

    @Test("Deleting while walking deletes every record, over many pages")
    func deletingAll() throws {
        try fill(0..<3_000)
        try environment.write { access throws(LMDBError) in
            var cursor = try access.cursor(database)
            var expected: UInt64 = 0
            while let found = key(try cursor.next()) {
                #expect(found == expected)
                expected += 1
                try cursor.delete()
            }
            #expect(expected == 3_000)
            #expect(try access.statistics(database).entries == 0)
        }
    }

    @Test("A delete past the end hits nothing, where LMDB's own cursor hits the last record")
    func deletingPastEnd() throws {
        try fill([1, 2])
        try environment.write { access throws(LMDBError) in
            var cursor = try access.cursor(database)
            while try cursor.next() != nil {}
            let error = failure { () throws(LMDBError) in try cursor.delete() }
            #expect(error == .invalidArgument)
            #expect(try access.statistics(database).entries == 2)
        }
        #expect(environment.close())
        #expect(try RawEnvironment.entriesLeftByDeletingPastEnd(in: folder) == 1)
    }

    @Test("A cursor follows changes that were made without it")
    func following() throws {
        try fill([10, 20, 30])
        try environment.write { access throws(LMDBError) in
            var cursor = try access.cursor(database)
            _ = try cursor.seek(20, .exactly)
            try access.put(database, 15, "15")
            try access.put(database, 25, "25")
            var found = key(try cursor.current())
            #expect(found == 20)
            #expect(try access.delete(database, 20))
            found = key(try cursor.next())
            #expect(found == 25)
            try access.empty(database)
            found = key(try cursor.next())
            #expect(found == nil)
        }
    }

    @Test("A cursor stores, appends, and stands at the stored record")
    func putting() throws {
        let writer = try environment.beginWrite()
        do {
            var cursor = try writer.access.cursor(database)
            for number in [1, 2, 5] as [UInt64] {
                try "\(number)".withBytes { value throws(LMDBError) in
                    try cursor.put(number, value, flags: .append)
                }
            }
            var found = key(try cursor.current())
            #expect(found == 5)
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            let append = failure { () throws(LMDBError) in try cursor.put(5, none, flags: .append) }
            #expect(append == .keyExist)
            // LMDB would take the value for an array of two, and write to the second element.
            let multiple = PutFlags(rawValue: UInt32(MDB_MULTIPLE))
            #expect(failure { () throws(LMDBError) in try cursor.put(none, none, flags: multiple) } == .badValueSize)
            try "3".withBytes { value throws(LMDBError) in try cursor.put(3, value) }
            found = key(try cursor.next())
            #expect(found == 5)
        }
        try writer.commit()
    }

    @Test("A read transaction's cursor may be closed after it")
    func outlivingReader() throws {
        try fill([1])
        let reader = try environment.beginRead()
        var cursor = try reader.access.cursor(database)
        let found = key(try cursor.next())
        #expect(found == 1)
        try reader.commit()
    }

    @Test(
        "A write transaction's cursor that outlives it gives errors and is not freed twice",
        arguments: [true, false]
    )
    func outlivingWriter(committing: Bool) throws {
        try fill([1])
        // Many, so that freeing twice would be noticed by the allocator.
        for _ in 0..<100 {
            let writer = try environment.beginWrite()
            var cursor = try writer.access.cursor(database)
            _ = try cursor.next()
            if committing { try writer.commit() } else { writer.abort() }
            let none = UnsafeRawBufferPointer(start: nil, count: 0)
            #expect(failure { () throws(LMDBError) in try cursor.current() } == .badTransaction)
            #expect(failure { () throws(LMDBError) in try cursor.next() } == .badTransaction)
            #expect(failure { () throws(LMDBError) in try cursor.seek(1, .atLeast) } == .badTransaction)
            #expect(failure { () throws(LMDBError) in try cursor.delete() } == .badTransaction)
            #expect(failure { () throws(LMDBError) in try cursor.put(1, none) } == .badTransaction)
        }
    }
}
