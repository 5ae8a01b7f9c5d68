import LMDB
import Testing

@Suite("Transactions")
struct LMDBTransactionTests {
    let folder: TemporaryFolder
    let environment: Environment
    let database: Database

    init() throws {
        folder = try TemporaryFolder()
        environment = try folder.open()
        database = try environment.makeDatabase()
    }

    private func value(_ key: String) throws(LMDBError) -> String? {
        try environment.read { access throws(LMDBError) in try access.get(database, key) }
    }

    @Test("A commit makes changes visible, and not before")
    func commit() throws {
        let writer = try environment.beginWrite()
        try writer.access.put(database, "key", "value")
        #expect(try writer.access.get(database, "key") == "value")
        #expect(try value("key") == nil)
        try writer.commit()
        #expect(try value("key") == "value")
    }

    @Test("An abort drops all changes")
    func abort() throws {
        let writer = try environment.beginWrite()
        try writer.access.put(database, "key", "value")
        writer.abort()
        #expect(try value("key") == nil)
        #expect(environment.lastTransaction == 1)
    }

    @Test("A transaction that goes out of scope is aborted, also by an error, and lets the next one begin")
    func abortsItself() throws {
        do {
            let writer = try environment.beginWrite()
            try writer.access.put(database, "key", "value")
        }
        #expect(try value("key") == nil)
        let error = failure { () throws(LMDBError) in
            try environment.write { access throws(LMDBError) in
                try access.put(database, "key", "value")
                throw .notFound
            }
        }
        #expect(error == .notFound)
        #expect(try value("key") == nil)
        try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }
        #expect(try value("key") == "value")
    }

    @Test("A second write transaction on the same thread is refused instead of waiting for itself")
    func twoWriters() throws {
        let writer = try environment.beginWrite()
        #expect(failure { () throws(LMDBError) in try environment.beginWrite() } == .wouldDeadlock)
        // The refusal does not disturb the first.
        try writer.access.put(database, "key", "value")
        try writer.commit()
        #expect(try value("key") == "value")
        let next = try environment.beginWrite()
        next.abort()
    }

    @Test("The id of a write transaction is the id of its commit")
    func ids() throws {
        let writer = try environment.beginWrite()
        let id = writer.access.id
        #expect(writer.access.isWriting)
        #expect(id == environment.lastTransaction + 1)
        try writer.access.put(database, "key", "value")
        try writer.commit()
        #expect(environment.lastTransaction == id)
    }

    @Test("An empty commit is no transaction")
    func emptyCommit() throws {
        let before = environment.lastTransaction
        try environment.write { _ in }
        #expect(environment.lastTransaction == before)
    }

    @Test("A reader keeps its snapshot; a renewed one sees the newest commit and says so")
    func renewing() throws {
        let reader = try environment.beginRead()
        #expect(!reader.access.isWriting)
        for round in 1...100 {
            try environment.write { access throws(LMDBError) in try access.put(database, "key", "\(round)") }
            let old = try reader.access.get(database, "key")
            #expect(old == (round == 1 ? nil : "\(round - 1)"))
            #expect(reader.access.id == environment.lastTransaction - 1)
            reader.reset()
            try reader.renew()
            let new = try reader.access.get(database, "key")
            #expect(new == "\(round)")
            #expect(reader.access.id == environment.lastTransaction)
            #expect(reader.access.id == environment.info.lastTransaction)
        }
        #expect(environment.info.readersInUse == 1)
    }

    @Test("A reset reader gives errors, resets again, and renews")
    func resetReader() throws {
        try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }
        let reader = try environment.beginRead()
        #expect(failure { () throws(LMDBError) in try reader.renew() } == .invalidArgument)
        reader.reset()
        reader.reset()
        #expect(failure { () throws(LMDBError) in try reader.access.get(database, "key") } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try reader.access.cursor(database) } == .invalidArgument)
        #expect(failure { () throws(LMDBError) in try reader.access.statistics(database) } == .invalidArgument)
        try reader.renew()
        let value = try reader.access.get(database, "key")
        #expect(value == "value")
    }

    @Test("A read transaction does not write")
    func readersDoNotWrite() throws {
        let reader = try environment.beginRead()
        #expect(failure { () throws(LMDBError) in try reader.access.put(database, "key", "value") } == .accessDenied)
        #expect(failure { () throws(LMDBError) in try reader.access.delete(database, "key") } == .accessDenied)
        #expect(failure { () throws(LMDBError) in try reader.access.empty(database) } == .accessDenied)
        #expect(failure { () throws(LMDBError) in try reader.access.database("new", create: true) } == .accessDenied)
    }

    @Test("A handle opened in a transaction stays valid only if the transaction commits")
    func handles() throws {
        let aborted = try environment.beginWrite()
        let lost = try aborted.access.database("lost", create: true)
        aborted.abort()
        #expect(
            failure { () throws(LMDBError) in
                try environment.read { access throws(LMDBError) in try access.get(lost, "key") }
            } == .invalidArgument
        )

        // "kept" is on disk, and a newly opened environment has no handle for it.
        _ = try environment.makeDatabase("kept")
        #expect(environment.close())
        let reopened = try folder.open()
        let reset = try reopened.beginRead()
        let gone = try reset.access.database("kept", create: false)
        reset.reset()
        try reset.renew()
        #expect(failure { () throws(LMDBError) in try reset.access.get(gone, "key") } == .invalidArgument)

        let committed = try reopened.beginRead()
        let kept = try committed.access.database("kept", create: false)
        try committed.commit()
        // Seen by transactions that were renewed since.
        reset.reset()
        try reset.renew()
        #expect(failure { () throws(LMDBError) in try reset.access.get(kept, "key") } == nil)
    }

    @Test("A reader works on another thread than it began on")
    func movingReaders() async throws {
        try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }
        let reader = try environment.beginRead()
        let box = Box(reader)
        let value = try await Task.detached { [database] in try box.reader.access.get(database, "key") }.value
        #expect(value == "value")
        #expect(environment.info.readersInUse == 1)
    }

    private final class Box: Sendable {
        let reader: ReadTransaction
        init(_ reader: consuming ReadTransaction) { self.reader = reader }
    }

    @Test("Writers on other threads wait for the one that is open")
    func concurrentWriters() async throws {
        let (environment, database) = (environment, database)
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<250 {
                        try environment.write { access throws(LMDBError) in
                            let old = try access.get(database, 0).map(text) ?? ""
                            try access.put(database, 0, "\((Int(old) ?? 0) + 1)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = try environment.read { access throws(LMDBError) in try access.get(database, 0).map(text) }
        #expect(count == "1000")
    }

    @Test("A full map is an error; the transaction can only be aborted, and the data is as before")
    func mapFull() throws {
        let folder = try TemporaryFolder()
        let environment = try folder.open(mapSize: 16 * 4096)
        let database = try environment.makeDatabase()
        try environment.write { access throws(LMDBError) in try access.put(database, "key", "value") }
        let writer = try environment.beginWrite()
        let large = String(repeating: "x", count: 17 * 4096)
        #expect(failure { () throws(LMDBError) in try writer.access.put(database, "large", large) } == .mapFull)
        #expect(failure { () throws(LMDBError) in try writer.access.put(database, "key", "x") } == .badTransaction)
        #expect(failure { () throws(LMDBError) in try writer.access.get(database, "key") } == .badTransaction)
        do throws(LMDBError) {
            try writer.commit()
            Issue.record("A spoiled transaction was committed")
        } catch {
            #expect(error == .badTransaction)
        }
        #expect(try environment.read { access throws(LMDBError) in try access.get(database, "key") } == "value")
        try environment.write { access throws(LMDBError) in try access.put(database, "key", "other") }
        #expect(try environment.read { access throws(LMDBError) in try access.get(database, "key") } == "other")
    }
}
