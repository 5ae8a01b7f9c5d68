import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Threads of one process that do the same thing at once.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct ThreadTests {
    @Test func durableWritersShareTransactions() async throws {
        let namespace = try SpaceTest.namespace(.durable)
        try namespace.set("text", "no integer")
        let failures = await together(8) { number in
            for turn in 0..<25 {
                try namespace.write("job", number, turn)
                try namespace.increment("total")
                // An operation that fails in a shared transaction harms no other operation.
                #expect(throws: SpaceError.self) { try namespace.increment("text") }
            }
        }
        #expect(failures == [])
        #expect(try namespace.count() == 200)
        #expect(try namespace.get("total") == 200)
        for number in 0..<8 { #expect(try namespace.count(matching: ["job", number, .any]) == 25) }
    }

    @Test func aShapeEarnedInASharedTransactionIndexesWhatTheOthersWrite() async throws {
        let namespace = try SpaceTest.namespace(.durable)
        try namespace.write(contentsOf: (0..<1500).map { Tuple("job", $0) })
        let failures = await together(6) { number in
            for turn in 0..<8 {
                if number < 2 {
                    // This take looks through all tuples, and earns an index after a few times.
                    _ = try namespace.takeIfExists(any(String.self), 1400 + number * 10 + turn)
                } else {
                    try namespace.write("new", number * 1000 + turn)
                }
            }
        }
        #expect(failures == [])
    }

    @Test func manyThreadsShareTheReaders() async throws {
        let namespace = try SpaceTest.namespace()
        try namespace.set("n", 1)
        let failures = await together(100) { _ in
            for _ in 0..<300 {
                let value: Int? = try namespace.get("n")
                #expect(value == 1)
            }
        }
        #expect(failures == [])
        let readers = namespace.core.engine.readers
        #expect(readers.count <= ReaderPool.mostIdle)
        var taken: [Reader] = []
        while let reader = readers.take() { taken.append(reader) }
        #expect(taken.count == readers.count, "not all were put back")
        for reader in taken { readers.put(reader) }
        #expect(try namespace.get("n") == 1)
    }

    @Test func theFirstOpenersOfAProcessShareASession() async throws {
        let root = try TemporaryRoot()
        for round in 0..<100 {
            let handles = Mutex<[Namespace]>([])
            let failures = await together(3) { _ in
                let handle = try root.space.namespace("n\(round)")
                handles.withLock { $0.append(handle) }
            }
            #expect(failures == [])
            let namespace = try #require(handles.withLock { $0.first })
            #expect(try namespace.status().owners.count == 1)
            #expect(Set(handles.withLock { $0.map(\.session) }).count == 1)
            for handle in handles.withLock({ $0 }) { try handle.leave() }
        }
        #expect(try root.space.namespaceNames() == [])
    }

    /// A thread that was asleep when its process left may tick once more, and finds that the session's file is gone:
    /// the thread must not take that for a removal, nor write the file again.
    @Test func aTickAfterLeavingTakesItForNoRemoval() throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        let core = namespace.core
        try namespace.leave()
        core.engine.noticeRemoval()
        for _ in 0..<3 { core.upkeep.restoreSession() }
        #expect(core.control.dead.load() == 0)
        #expect(root.entries(of: "n/sessions") == [])
        #expect(try root.space.existingNamespace("n").verify() == [])
    }
}
