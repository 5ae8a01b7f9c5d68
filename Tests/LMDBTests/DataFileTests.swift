import Glibc
import Testing

@testable import LMDB

@Suite("Damaged data files")
struct DataFileTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Makes a healthy file with a few hundred records.
    private func makeFile() throws {
        let environment = try folder.open()
        let database = try environment.makeDatabase()
        try environment.write { access throws(LMDBError) in
            for key in 0..<500 as Range<UInt64> { try access.put(database, key, "value") }
        }
        #expect(environment.close())
    }

    private func overwrite(_ bytes: [UInt8], at offset: Int) throws {
        let descriptor = open(folder.dataFile, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw LMDBError(code: errno) }
        defer { close(descriptor) }
        guard pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count else { throw LMDBError(code: errno) }
    }

    /// Writes into both meta pages.
    private func overwriteMeta<Number: FixedWidthInteger>(_ number: Number, at offset: Int) throws {
        let bytes = withUnsafeBytes(of: number) { Array($0) }
        try overwrite(bytes, at: offset)
        try overwrite(bytes, at: 4096 + offset)
    }

    private func openingFails(with error: LMDBError, flags: Environment.Flags = [.noSync]) -> Bool {
        failure { () throws(LMDBError) in try folder.open(flags: flags) } == error
    }

    @Test(
        "A file that LMDB has written passes, and so does an empty one",
        arguments: [[.noSync], [.noSync, .writeMap]] as [Environment.Flags]
    )
    func healthy(flags: Environment.Flags) throws {
        try overwrite([], at: 0)
        #expect(failure { () throws(LMDBError) in try folder.open(flags: flags) } == nil)
        try makeFile()
        #expect(failure { () throws(LMDBError) in try folder.open(flags: flags) } == nil)
    }

    @Test(
        "If the lock file names an earlier commit, or none, no write begins: it would overwrite pages in use",
        arguments: [[.noSync], [.noSync, .writeMap]] as [Environment.Flags],
        [0, 1, 2, 3, 6]
    )
    func wrongCommit(flags: Environment.Flags, commit: UInt64) throws {
        let environment = try folder.open(flags: flags)
        let database = try environment.makeDatabase()
        for key in 0..<4 as Range<UInt64> {
            try environment.write { access throws(LMDBError) in try access.put(database, key, "value") }
        }
        #expect(environment.lastTransaction == 5)
        // mdb.c, MDB_txninfo: the number of the last commit follows a header and a mutex.
        let lockFile = open("\(folder.path)/lock.mdb", O_WRONLY | O_CLOEXEC)
        defer { close(lockFile) }
        #expect(withUnsafeBytes(of: commit) { pwrite(lockFile, $0.baseAddress, 8, 48) } == 8)
        #expect(failure { () throws(LMDBError) in _ = try environment.beginWrite() } == .damagedPage)
    }

    @Test(
        "A file passes at every moment while it is written",
        arguments: [[.noSync], [.noSync, .writeMap]] as [Environment.Flags]
    )
    func whileWriting(flags: Environment.Flags) async throws {
        let environment = try folder.open(flags: flags)
        let database = try environment.makeDatabase()
        let path = folder.path
        let writing = Task.detached {
            for key in 0..<2_000 as Range<UInt64> {
                try environment.write { access throws(LMDBError) in
                    try access.put(database, key, String(repeating: "x", count: 3_000))
                    if key % 3 == 0 { _ = try access.delete(database, key / 2) }
                }
            }
        }
        for _ in 0..<2_000 { #expect(try DataFileHeader.check(folder: path, isWholeFile: false)) }
        try await writing.value
    }

    @Test("Garbage is no database", arguments: [1, 100, 152, 4096, 10_000])
    func garbage(count: Int) throws {
        var generator = SystemRandomNumberGenerator()
        try overwrite((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }, at: 0)
        #expect(openingFails(with: .invalid))
        #expect(openingFails(with: .invalid, flags: [.noSync, .writeMap]))
        #expect(openingFails(with: .invalid, flags: [.readOnly]))
        #expect(try EnvironmentTests.openFiles(in: folder).isEmpty)
    }

    @Test("Text and zeros are no database")
    func otherContents() throws {
        try overwrite(Array(repeating: 0, count: 20_000), at: 0)
        #expect(openingFails(with: .invalid))
        try overwrite(Array("not a database at all\n".utf8), at: 0)
        #expect(openingFails(with: .invalid))
    }

    @Test("A file of another version is refused as such")
    func version() throws {
        try makeFile()
        try overwriteMeta(UInt32(999), at: 20)
        #expect(openingFails(with: .versionMismatch))
    }

    @Test("An impossible page size is refused", arguments: [0, 1, 256, 4095, 4097, 131_072, .max] as [UInt32])
    func pageSize(_ size: UInt32) throws {
        try makeFile()
        try overwriteMeta(size, at: 40)
        #expect(openingFails(with: .invalid))
    }

    @Test(
        "A last page that no map can hold is refused",
        arguments: [1 << 35, 1 << 51, 1 << 62, 1 << 63, .max] as [UInt64]
    )
    func lastPage(_ page: UInt64) throws {
        try makeFile()
        try overwriteMeta(page, at: 136)
        #expect(openingFails(with: .damagedPage))
        #expect(openingFails(with: .damagedPage, flags: [.noSync, .writeMap]))
    }

    @Test("LMDB itself divides by a page size of 0")
    func pageSizeUnprotected() async throws {
        try makeFile()
        try overwriteMeta(UInt32(0), at: 40)
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGFPE)) { [path = path as String] in
            _ = try RawEnvironment.open(path)
        }
    }

    @Test("A root outside the file is refused", arguments: [0, 1, 100_000, .max - 1] as [UInt64])
    func root(_ page: UInt64) throws {
        try makeFile()
        try overwriteMeta(page, at: 128)
        #expect(openingFails(with: .damagedPage))
        try overwriteMeta(UInt64.max, at: 128)
        try overwriteMeta(page, at: 80)
        #expect(openingFails(with: .damagedPage))
    }

    @Test("A file cut short is refused", arguments: [1, 4096, 8191, 8192])
    func cut(length: Int) throws {
        try makeFile()
        #expect(truncate(folder.dataFile, off_t(length)) == 0)
        #expect(openingFails(with: .invalid))
    }

    @Test("LMDB itself reads past the end of a file cut short")
    func cutUnprotected() async throws {
        try makeFile()
        #expect(truncate(folder.dataFile, 8192) == 0)
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGBUS)) { [path = path as String] in
            try RawEnvironment.readFirstRecord(path)
        }
    }

    @Test("A folder or a FIFO in the file's place is refused, without waiting for a writer")
    func otherKinds() throws {
        #expect(mkfifo(folder.dataFile, 0o600) == 0)
        #expect(openingFails(with: .invalid))
        #expect(unlink(folder.dataFile) == 0)
        #expect(mkdir(folder.dataFile, 0o700) == 0)
        #expect(openingFails(with: .invalid))
        #expect(rmdir(folder.dataFile) == 0)
    }
}
