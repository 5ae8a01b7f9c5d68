import Glibc
import LMDB
import Testing

@Suite("Copying")
struct CopyingTests {
    let folder: TemporaryFolder
    let environment: Environment
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        environment = try folder.open(flags: [.noSync, .writeMap])
        database = try environment.makeDatabase()
        let database = database
        try environment.write { access throws(LMDBError) in
            for key in 0..<1_000 as Range<UInt64> { try access.put(database, key, "\(key)") }
        }
        try environment.write { access throws(LMDBError) in
            for key in 0..<900 as Range<UInt64> { _ = try access.delete(database, key) }
        }
    }

    @Test("A copy has everything, and only its owner may read it", arguments: [false, true])
    func copy(compacting: Bool) throws {
        let target = try TemporaryFolder()
        try environment.copy(to: target.path, compacting: compacting)
        var status = stat()
        #expect(stat(target.dataFile, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(status.st_size == (environment.info.lastPage + 1) * environment.pageSize || compacting)

        let copied = try target.open()
        let database = try copied.makeDatabase()
        try copied.read { access throws(LMDBError) in
            #expect(try access.statistics(database).entries == 100)
            #expect(try access.get(database, 999).map(text) == "999")
            if compacting { #expect(try access.freeListStatistics().entries == 0) }
        }
    }

    @Test("A compacted copy is smaller")
    func compacted() throws {
        let plain = try TemporaryFolder()
        let compact = try TemporaryFolder()
        try environment.copy(to: plain.path)
        try environment.copy(to: compact.path, compacting: true)
        var plainStatus = stat()
        var compactStatus = stat()
        #expect(stat(plain.dataFile, &plainStatus) == 0)
        #expect(stat(compact.dataFile, &compactStatus) == 0)
        #expect(compactStatus.st_size < plainStatus.st_size)
    }

    @Test("An existing data file is left alone")
    func existing() throws {
        let target = try TemporaryFolder()
        try environment.copy(to: target.path)
        #expect(failure { () throws(LMDBError) in try environment.copy(to: target.path) } == LMDBError(code: EEXIST))
        #expect(failure { () throws(LMDBError) in try environment.copy(to: folder.path) } == LMDBError(code: EEXIST))
        #expect(access(target.dataFile, F_OK) == 0)
        #expect(failure { () throws(LMDBError) in try environment.copy(to: "\(folder.path)/no") } == .noSuchFile)
        #expect(failure { () throws(LMDBError) in try environment.copy(to: "a\0b") } == .invalidArgument)
    }

    @Test("A copy that fails leaves no file")
    func failing() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open(maxReaders: 1)
        let reader = try environment.beginRead()
        let target = try TemporaryFolder()
        #expect(failure { () throws(LMDBError) in try environment.copy(to: target.path) } == .readersFull)
        #expect(access(target.dataFile, F_OK) != 0)
        #expect(reader.access.id == 0)
    }
}
