import Glibc
import LMDB
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Threads, tasks and objects of one process that share a namespace.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct SharingTests {
    private func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await onThread { try body(number) } } }
            try await group.waitForAll()
        }
    }

    @Test(arguments: StorageMode.allCases)
    func threadsWriteAndTakeAtOnce(_ mode: StorageMode) async throws {
        let namespace = try SpaceTest.namespace(mode)
        let each = mode == .durable ? 20 : 200
        try await onThreads(16) { thread in
            for number in 0..<each {
                try namespace.write("job", thread, number)
                try namespace.increment("written")
            }
        }
        #expect(try namespace.get("written") == .int(16 * each))
        let all = try namespace.readAll(matching: ["job", .any, .any])
        #expect(Set(all).count == 16 * each && all.count == 16 * each)
        // One thread's tuples are in the order of its writes.
        for thread in 0..<16 {
            #expect(all.filter { $0[1] == .int(thread) }.map { $0[2] } == (0..<each).map { .int($0) })
        }
        try await onThreads(16) { _ in
            for _ in 0..<each where try namespace.takeIfExists(matching: ["job", .any, .any]) == nil {
                throw TestFailure("a tuple is missing")
            }
        }
        #expect(try namespace.count() == 0)
    }

    /// Operations that fail share a transaction with operations that succeed; the latter are done all the same, once.
    @Test func whoFailsHurtsNobody() async throws {
        let namespace = try SpaceTest.namespace(.durable)
        try namespace.set("text", "no number")
        let each = 25
        try await onThreads(16) { thread in
            for number in 0..<each {
                guard thread % 4 == 0 else {
                    try namespace.write("job", thread, number)
                    try namespace.increment("written")
                    continue
                }
                do throws(SpaceError) {
                    try namespace.increment("text")
                    throw SpaceError(.invalidArgument, "test", reason: "nothing was thrown")
                } catch {
                    guard error.code == .badData, error.operation == "increment a cell" else { throw error }
                }
            }
        }
        #expect(try namespace.get("written") == .int(12 * each))
        #expect(try namespace.count() == 12 * each)
        #expect(try namespace.get("text") == "no number")
    }

    /// Sixteen threads that write at once need far fewer commits than writes: they share them.
    @Test func durableWritersShareCommits() async throws {
        let namespace = try SpaceTest.namespace(.durable)
        let each = 25
        // LMDB's transaction number rises by one with each commit.
        let before = namespace.core.engine.environment.lastTransaction
        try await onThreads(16) { thread in
            for number in 0..<each { try namespace.write("job", thread, number) }
        }
        let commits = namespace.core.engine.environment.lastTransaction - before
        #expect(commits < 16 * each, "\(commits) commits for \(16 * each) writes")
        #expect(try namespace.count() == 16 * each)
    }

    /// Every writer in a shared transaction's queue gets its write done, whether it is first or last, alone or with
    /// others.
    ///
    /// The lead is taken, handed over, waited with and taken over, while some writers are kept off their processors,
    /// wherever they are, for many commits of the others.
    @Test func durableWritersOfDifferentPacesShareCommits() async throws {
        // The root is in memory, where a commit is shorter than such a pause.
        let root = try TemporaryRoot()
        let namespace = try root.namespace(.durable)
        let (threads, each) = (16, 600)
        let before = namespace.core.engine.environment.lastTransaction
        let isOver = FutexWord()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<sysconf(Int32(_SC_NPROCESSORS_ONLN)) {
                group.addTask { try await onThread { while isOver.value.load() == 0 {} } }
            }
            defer { isOver.value.store(1) }
            try await onThreads(threads) { thread in
                // setpriority(2): on Linux this sets the priority of the calling thread.
                if thread % 4 == 0 { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19) }
                for number in 0..<each { try namespace.write("job", thread, number) }
            }
        }
        let commits = namespace.core.engine.environment.lastTransaction - before
        #expect(commits < threads * each, "\(commits) commits for \(threads * each) writes")
        let all = try namespace.readAll(matching: ["job", .any, .any])
        for thread in 0..<threads {
            #expect(all.filter { $0[1] == .int(thread) }.map { $0[2] } == (0..<each).map { .int($0) })
        }
        #expect(try namespace.verify() == [])
    }

    /// Threads of one process that open the same new name share one environment and one session.
    @Test(arguments: [StorageMode.fast, .durable])
    func threadsThatOpenAtOnceShareOneSession(_ mode: StorageMode) async throws {
        for _ in 0..<25 {
            let root = try TemporaryRoot(for: mode)
            try await onThreads(4) { thread in
                let namespace = try root.namespace(mode)
                try namespace.write("from", thread)
                guard try namespace.status().owners.count == 1 else { throw TestFailure("two sessions of one process") }
                guard try namespace.takeIfExists("from", thread) != nil else { throw TestFailure("a tuple went") }
                guard try namespace.verify() == [] else { throw TestFailure("damage") }
            }
            #expect(try root.space.namespaceNames() == [])
            #expect(root.leftovers == [])
        }
    }

    @Test func handlesOfOneProcessAreOneSession() throws {
        let root = try SpaceTest.root()
        let first = try root.space.namespace("n")
        let second = try root.space.namespace("n")
        let visitor = try root.space.namespace("n", owning: false)
        try first.write("kept", 1)
        #expect(try second.status().owners.map(\.pid) == [getpid()])
        try first.leave()
        try first.leave()
        var error = #expect(throws: SpaceError.self) { try first.count() }
        #expect(error?.code == .closed)
        #expect(try second.count() == 1)
        #expect(try visitor.count() == 1)
        // The namespace goes with its last owning handle, although a visitor still has it open.
        try second.leave()
        error = #expect(throws: SpaceError.self) { try visitor.count() }
        #expect(error?.code == .namespaceDeleted)
        #expect(try root.space.namespaceNames() == [])
        // The name is free for a new namespace, although a handle of the old one is still there.
        let again = try SpaceTest.namespace("n")
        #expect(try again.count() == 0)
        #expect(throws: SpaceError.self) { try visitor.count() }
    }

    /// A new folder can have the inode of a deleted one: a process that still has the deleted namespace open must not
    /// take one for the other.
    @Test func aFolderNumberUsedAgainIsAnotherNamespace() throws {
        let root = try TemporaryRoot()
        let kept = try root.space.namespace("kept", options: NamespaceOptions(isPersistent: true))
        try kept.write("kept", 1)
        try kept.leave()
        let gone = try root.space.namespace("gone")
        try gone.write("gone", 1)
        try root.space.delete("gone")
        // As if `kept` had got the number of `gone`.
        let info = try folderInfo("\(root.path)/kept")
        let entry = CoreRegistry.shared.entry(NamespaceFolder.ID(info))
        let core = gone.core
        entry.state.withLock { $0 = CoreRegistry.Entry.State(core: core, owningHandles: 1, handles: 1) }
        let opened = try root.space.namespace("kept")
        #expect(try opened.readAll() == [["kept", 1]])
        #expect(throws: SpaceError.self) { try gone.count() }
        try opened.setPersistent(false)
    }

    private func folderInfo(_ path: String) throws -> FileInfo {
        let folder = try OwnedDescriptor.open(path, flags: O_RDONLY | O_DIRECTORY)
        return try FileInfo.of(folder.raw)
    }

    // MARK: Objects as owners

    private final class Document: Sendable {}

    @Test func objectsOwn() async throws {
        let root = try TemporaryRoot()
        let document = Document()
        var other: Document? = Document()
        let visitor = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        let observer = try root.space.namespace("n", owning: false)
        try observer.addOwner(document)
        try observer.addOwner(document)
        if let other { try observer.addOwner(other) }
        try observer.setPersistent(false)
        try visitor.leave()
        #expect(try root.space.namespaceNames() == ["n"])
        #expect(try observer.removeOwner(document))
        #expect(try observer.removeOwner(document) == false)
        #expect(try root.space.namespaceNames() == ["n"])
        // The last owning object is just released; a tick notices.
        other = nil
        #expect(other == nil)
        #expect(try await eventually { !root.entries().contains("n") })
        let error = #expect(throws: SpaceError.self) { try observer.count() }
        #expect(error?.code == .namespaceDeleted)
        withExtendedLifetime(document) {}
    }

    @Test func removingTheLastObjectDeletesAtOnce() throws {
        let root = try TemporaryRoot()
        let document = Document()
        let visitor = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        try visitor.setPersistent(false)
        let observer = try root.space.namespace("n", owning: false)
        try observer.addOwner(document)
        try visitor.leave()
        #expect(try observer.count() == 0)
        #expect(try observer.removeOwner(document))
        #expect(!root.entries().contains("n"))
    }
}
