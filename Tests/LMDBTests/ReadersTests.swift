import Glibc
import Testing

@testable import LMDB

@Suite("Reader table")
struct ReadersTests {
    let folder: TemporaryFolder
    let environment: Environment

    init() throws {
        folder = try TemporaryFolder()
        environment = try folder.open(maxReaders: 2)
    }

    @Test("A full table is an error, and a released slot can be taken")
    func full() throws {
        let first = try environment.beginRead()
        do {
            let second = try environment.beginRead()
            second.reset()
            #expect(failure { () throws(LMDBError) in try environment.beginRead() } == .readersFull)
            // The reader's slot was kept for it.
            try second.renew()
        }
        let third = try environment.beginRead()
        #expect(third.access.id == first.access.id)
    }

    @Test("Readers are listed with process, thread and snapshot")
    func listed() throws {
        #expect(try environment.readers().isEmpty)
        try environment.write { access throws(LMDBError) in _ = try access.database("test", create: true) }
        let reader = try environment.beginRead()
        let me = Environment.Reader(pid: getpid(), thread: UInt64(pthread_self()), transaction: 1)
        #expect(try environment.readers() == [me])
        reader.reset()
        #expect(try environment.readers() == [Environment.Reader(pid: me.pid, thread: me.thread, transaction: nil)])
        try reader.commit()
        #expect(try environment.readers().isEmpty)
        #expect(try environment.checkReaders() == 0)
    }

    @Test("A killed reader fills its slot until a process checks")
    func killedReader() async throws {
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Environment(
                path: path,
                mapSize: 16 << 20,
                maxReaders: 2,
                maxDatabases: 4,
                flags: [.noSync]
            )
            let first = try environment.beginRead()
            let second = try environment.beginRead()
            _ = (first.access.id, second.access.id)
            kill(getpid(), SIGKILL)
        }
        let dead = try environment.readers()
        #expect(dead.count == 2)
        #expect(dead.allSatisfy { $0.pid != getpid() && $0.transaction == 0 })
        #expect(failure { () throws(LMDBError) in try environment.beginRead() } == .readersFull)
        #expect(try environment.checkReaders() == 2)
        #expect(try environment.readers().isEmpty)
        let reader = try environment.beginRead()
        #expect(reader.access.id == 0)
    }

    @Test("A killed writer leaves no lock and no change")
    func killedWriter() async throws {
        let database = try environment.makeDatabase()
        let path = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let environment = try Environment(
                path: path,
                mapSize: 16 << 20,
                maxReaders: 2,
                maxDatabases: 4,
                flags: [.noSync]
            )
            let writer = try environment.beginWrite()
            let database = try writer.access.database("test", create: false)
            try writer.access.put(database, "key", "value")
            kill(getpid(), SIGKILL)
        }
        let writer = try environment.beginWrite()
        let value = try writer.access.get(database, "key")
        #expect(value == nil)
        try writer.access.put(database, "key", "other")
        try writer.commit()
        #expect(environment.lastTransaction == 2)
    }

    @Test("Without locks there is no table to list")
    func withoutLocks() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open(flags: [.noLock, .noSync])
        let reader = try environment.beginRead()
        #expect(reader.access.id == 0)
        #expect(try environment.readers().isEmpty)
        #expect(try environment.checkReaders() == 0)
    }

    @Test("Lines of LMDB's list are read, and all other text is skipped")
    func parsing() {
        #expect(
            Environment.Reader(line: "      4711 7f00deadbeef 42\n")
                == Environment.Reader(pid: 4711, thread: 0x7f00_dead_beef, transaction: 42)
        )
        #expect(
            Environment.Reader(line: "         1 0 -\n") == Environment.Reader(pid: 1, thread: 0, transaction: nil)
        )
        #expect(Environment.Reader(line: "1 ffffffffffffffff 18446744073709551614\n")?.transaction == .max)
        let others = [
            "", "\n", "    pid     thread     txnid\n", "(no active readers)\n", "(no reader locks)\n", "1 2",
            "1 2 3 4",
            "99999999999 1 1", "1 xyz 1", "1 1 --", "1 1 99999999999999999999",
        ]
        for line in others {
            #expect(Environment.Reader(line: line) == nil, "\(line)")
        }
    }
}
