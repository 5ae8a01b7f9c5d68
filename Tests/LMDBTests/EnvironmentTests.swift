import Glibc
import LMDB
import Testing

@Suite("Environment")
struct EnvironmentTests {
    static let modes: [Environment.Flags] = [
        [], [.noSync], [.writeMap], [.writeMap, .noSync], [.noMetaSync], [.noLock, .noSync], [.noReadAhead, .noSync],
    ]

    @Test("Records are read as written, in every mode, also after closing and reopening", arguments: modes)
    func roundTrip(flags: Environment.Flags) throws {
        let folder = try TemporaryFolder()
        do {
            let environment = try folder.open(flags: flags)
            let database = try environment.makeDatabase()
            try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }
            #expect(try environment.read { access throws(LMDBError) in try access.get(database, "key") } == "value")
            try environment.sync(force: true)
            #expect(environment.close())
        }
        let environment = try folder.open(flags: flags)
        let database = try environment.makeDatabase()
        #expect(try environment.read { access throws(LMDBError) in try access.get(database, "key") } == "value")
    }

    /// A process has guards for 2,048 environments at once.
    @Test("An environment that did not open, or that is closed, leaves its guard to another")
    func guardsAreGivenBack() throws {
        let folder = try TemporaryFolder()
        for _ in 0..<2100 {
            #expect(throws: LMDBError.self) { try folder.open(flags: [.readOnly]) }
        }
        let kept = try folder.open()
        let database = try kept.makeDatabase()
        #expect(kept.close())
        // Its guard is still its own.
        let other = try TemporaryFolder()
        let second = try other.open()
        _ = try second.makeDatabase()
        try second.write { access throws(LMDBError) in try access.put(database, "key", "value") }
        #expect(kept.lastTransaction == 0)
        #expect(second.lastTransaction == 2)
    }

    @Test("A read-only environment reads and does not write")
    func readOnly() throws {
        let folder = try TemporaryFolder()
        do {
            let environment = try folder.open()
            let database = try environment.makeDatabase()
            try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }
        }
        let environment = try folder.open(flags: [.readOnly])
        let reader = try environment.beginRead()
        let database = try reader.access.database("test", create: false)
        try reader.commit()
        #expect(try environment.read { access throws(LMDBError) in try access.get(database, "key") } == "value")
        #expect(failure { () throws(LMDBError) in try environment.beginWrite() } == .accessDenied)
        #expect(failure { () throws(LMDBError) in try environment.sync(force: true) } == .accessDenied)
    }

    @Test("The environment closes itself with its last reference")
    func closesWithLastReference() throws {
        let folder = try TemporaryFolder()
        let descriptors = try Self.openFiles(in: folder)
        var environment: Environment? = try folder.open()
        #expect(try Self.openFiles(in: folder).count > descriptors.count)
        environment = nil
        #expect(try Self.openFiles(in: folder) == descriptors)
        #expect(environment == nil)
    }

    @Test("A closed environment refuses everything, and closes again")
    func closed() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open()
        #expect(environment.close())
        #expect(environment.close())
        #expect(failure { () throws(LMDBError) in try environment.beginRead() } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try environment.beginWrite() } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try environment.readers() } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try environment.checkReaders() } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try environment.sync(force: false) } == .invalidArgument)
        #expect(environment.info.mapSize == 0)
        #expect(environment.lastTransaction == 0)
        #expect(environment.descriptor == -1)
        #expect(environment.maxKeySize == 0)
        #expect(environment.pageSize == 0)
    }

    @Test("Closing waits for the last transaction, because it unmaps the pages that transaction reads")
    func closingWithTransactions() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open()
        let database = try environment.makeDatabase()
        try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }

        let reader = try environment.beginRead()
        #expect(!environment.close())
        #expect(try reader.access.get(database, "key") == "value")
        try reader.commit()

        let writer = try environment.beginWrite()
        #expect(!environment.close())
        try writer.access.put(database, "key", "other")
        writer.abort()

        #expect(environment.close())
    }

    @Test("No descriptor survives an exec", arguments: [[.noSync], [.noSync, .writeMap]] as [Environment.Flags])
    func closeOnExec(flags: Environment.Flags) throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open(flags: flags)
        let files = try Self.openFiles(in: folder)
        #expect(files.contains(environment.descriptor))
        for file in files {
            #expect(fcntl(file, F_GETFD) & FD_CLOEXEC != 0, "descriptor \(file)")
        }
    }

    @Test("Files are created with the requested mode")
    func mode() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open()
        var status = stat()
        #expect(fstat(environment.descriptor, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        #expect(stat("\(folder.path)/lock.mdb", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test("Numbers, flags and paths out of range are refused")
    func arguments() throws {
        let folder = try TemporaryFolder()
        #expect(failure { () throws(LMDBError) in try folder.open(mapSize: 0) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try folder.open(mapSize: -4096) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try folder.open(mapSize: .max) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try folder.open(maxReaders: 0) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try folder.open(maxReaders: .max) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try folder.open(maxDatabases: -1) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try folder.open(maxDatabases: .max) } == .invalidArgument)
        // This layer has no flag MDB_FIXEDMAP, for example.
        #expect(failure { () throws(LMDBError) in try folder.open(flags: .init(rawValue: 1)) } == .invalidArgument)
        for path in ["", "\(folder.path)\0/elsewhere"] {
            let error = failure { () throws(LMDBError) in
                try Environment(path: path, mapSize: 1 << 20, maxReaders: 1, maxDatabases: 0, flags: [])
            }
            #expect(error == .invalidArgument)
        }
        #expect(access(folder.dataFile, F_OK) != 0)
    }

    @Test("A map size that is no whole number of pages is rounded up")
    func roundedMapSize() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open(mapSize: (1 << 20) + 1)
        #expect(environment.info.mapSize == (1 << 20) + environment.pageSize)
    }

    @Test("A missing folder gives ENOENT, and nothing stays open")
    func missingFolder() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/missing"
        let error = failure { () throws(LMDBError) in
            try Environment(path: path, mapSize: 1 << 20, maxReaders: 1, maxDatabases: 0, flags: [])
        }
        #expect(error == .noSuchFile)
        #expect(try Self.openFiles(in: folder).isEmpty)
    }

    @Test("The information describes the environment")
    func information() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open(mapSize: 8 << 20, maxReaders: 7)
        #expect(environment.info.mapSize == 8 << 20)
        #expect(environment.info.readersInUse == 0)
        // LMDB fills the lock file's pages up with slots only if it finds a larger file.
        #expect(environment.info.maxReaders == 7)
        #expect(environment.pageSize == sysconf(CInt(_SC_PAGESIZE)))
        #expect(environment.maxKeySize == 511)
        #expect(environment.lastTransaction == 0)

        let before = environment.info.lastPage
        let database = try environment.makeDatabase()
        #expect(environment.lastTransaction == 1)
        try environment.write { access throws(LMDBError) in
            try access.put(database, "key", String(repeating: "x", count: 100_000))
        }
        #expect(environment.info.lastTransaction == 2)
        #expect(environment.info.lastPage - before >= 100_000 / environment.pageSize)
        #expect(Environment.version.major == 0 && Environment.version.minor == 9)
    }

    /// The descriptors of this process that are files in a folder.
    static func openFiles(in folder: TemporaryFolder) throws -> Set<CInt> {
        guard let list = opendir("/proc/self/fd") else { throw LMDBError(code: errno) }
        defer { closedir(list) }
        var found: Set<CInt> = []
        while let entry = readdir(list) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                text(UnsafeRawBufferPointer(rebasing: $0.prefix { $0 != 0 }))
            }
            guard let descriptor = CInt(name) else { continue }
            let target = try withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
                guard let start = buffer.baseAddress else { throw LMDBError.outOfMemory }
                let length = max(readlink("/proc/self/fd/\(name)", start, buffer.count), 0)
                return text(UnsafeRawBufferPointer(start: start, count: length))
            }
            if target.hasPrefix("\(folder.path)/") { found.insert(descriptor) }
        }
        return found
    }
}
