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

/// How long an environment is open, which copy of the library may open it, and what happens to a reader whose slot was
/// cleared.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(2))) struct EnvironmentLifeTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// A reader that is lent in a namespace that was left keeps the environment open until it comes back; a handle opened
    /// meanwhile shares it.
    @Test func aCoreThatWasLeftSharesItsEnvironmentWithTheNext() throws {
        let options = NamespaceOptions(isPersistent: true)
        let first = try root.space.namespace("n", options: options)
        try first.write("job", 1)
        let engine = first.core.engine
        let environment = engine.environment
        let reader = try engine.lendReader()
        try first.leave()
        #expect(first.core.isLeft)

        let second = try SpaceTest.namespace("n")
        #expect(second.core !== first.core)
        #expect(second.core.engine.environment === environment)
        engine.takeBack(reader)
        #expect(second.core.engine.environment === environment)
        #expect(try second.takeIfExists("job", 1) != nil)
        #expect(try environment.readers().map(\.pid) == [getpid()])
        try second.leave()
        #expect(try openFiles() == [])
        withExtendedLifetime(first) {}
    }

    /// Handles of all kinds that are kept hold no descriptor of the data and no addresses, and throw.
    @Test(arguments: StorageMode.allCases)
    func handlesThatWereLeftKeepNoEnvironment(_ mode: StorageMode) throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: mode, isPersistent: true))
        let queue = namespace.queue("q")
        let (lock, counter) = (namespace.lock("l"), namespace.counter("c"))
        let dictionary = try namespace.dictionary("d", of: Int.self)
        let token = try namespace.observe(.everything) { _ in }
        let changes = try namespace.changes()
        try queue.put(1)
        try counter.add()
        try namespace.write("job", 1)
        _ = try dictionary.updateValue(1, forKey: "k")
        let hold = try lock.tryAcquire()
        #expect(try openFiles().isSuperset(of: ["control", "data.mdb", "lock.mdb"]))
        #expect(try mappedBytes() >= Limits.mapBytes)

        try namespace.leave()
        // The thread that ticks may still be in its look.
        #expect(try eventually { try openFiles() == [] })
        #expect(try mappedBytes() == 0)
        for use: () throws -> Void in [
            { try namespace.write("job", 2) }, { _ = try namespace.takeIfExists("job", 1) },
            { _ = try namespace.count() },
            { try namespace.set("k", 1) }, { _ = try namespace.status() }, { try queue.put(2) },
            { _ = try queue.takeIfReady() }, { _ = try lock.tryAcquire() }, { try counter.add() },
            { _ = try dictionary.value(forKey: "k") }, { _ = try namespace.changes() },
            { _ = try namespace.observe(.everything) { _ in } }, { try namespace.transaction { _ in } },
        ] {
            #expect(try refusal(use).code == .closed)
        }

        let again = try SpaceTest.namespace("n")
        #expect(try again.takeIfExists("job", 1) != nil)
        let isHeldAgain = try again.lock("l").tryAcquire() != nil
        #expect(isHeldAgain)
        #expect(throws: SpaceError.self) { try namespace.write("job", 3) }
        withExtendedLifetime((token, changes)) {}
        let wasHeld = hold != nil
        #expect(wasHeld)
    }

    /// Threads use a namespace while the process leaves it, and opens it again.
    @Test(arguments: [StorageMode.fast, .durable])
    func threadsUseANamespaceThatIsLeft(_ mode: StorageMode) async throws {
        let options = NamespaceOptions(mode: mode, isPersistent: true)
        for _ in 0..<40 {
            let namespace = try root.space.namespace("n", options: options)
            let failures = await together(6) { number in
                if number == 0 {
                    while try namespace.count() < 20 { sched_yield() }
                    return try namespace.leave()
                }
                do {
                    while true {
                        try namespace.write("job", number)
                        _ = try namespace.readAll(matching: ["job", .any])
                        if number > 2 { _ = try namespace.takeIfExists("other", number) }
                        if number == 5 { _ = try namespace.take(matching: ["other", .any], timeout: .milliseconds(1)) }
                        if number == 4 { _ = try namespace.status() }
                    }
                } catch let error as SpaceError where error.code == .closed {
                    return
                }
            }
            #expect(failures == [])
            // The thread that ticks may still be in its look.
            #expect(try await eventually { try openFiles() == [] })
            _ = try root.space.namespace("n").takeAll(matching: ["job", .any])
            withExtendedLifetime(namespace) {}
        }
    }

    /// The names of this root's files that this process has open.
    private func openFiles() throws -> Set<String> {
        let folder = try OwnedDescriptor.open("/proc/self/fd", flags: O_RDONLY | O_DIRECTORY)
        let paths = try Directory.list(folder.raw).compactMap { try? Descriptors.path($0) }
        return Set(
            paths.filter { $0.hasPrefix(root.path) }.compactMap {
                $0.split(separator: "/").last.map(String.init)
            }
        )
    }

    /// How many addresses the data files and lock files of this root take.
    private func mappedBytes() throws -> Int {
        let maps = String(decoding: try FileBytes.read(at: AT_FDCWD, "/proc/self/maps", limit: 16 << 20), as: UTF8.self)
        return maps.split(separator: "\n").reduce(into: 0) { sum, line in
            guard line.contains("\(root.path)/"), line.hasSuffix(".mdb") else { return }
            let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { Int($0, radix: 16) }
            sum += bounds[1] - bounds[0]
        }
    }

    @Test func theLastUseClosesTheEnvironment() throws {
        let descriptors = try openDescriptors()
        for _ in 0..<20 {
            let namespace = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
            try namespace.write("job", 1)
        }
        #expect(try openDescriptors() == descriptors)
        #expect(try root.space.existingNamespace("n").count() == 20)
    }

    private func openDescriptors() throws -> Int {
        let folder = try OwnedDescriptor.open("/proc/self/fd", flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(folder.raw).count { (try? Descriptors.path($0))?.hasPrefix(root.path) == true }
    }

    /// A reader whose slot was cleared fails once: the next read gets another one.
    ///
    /// The second environment does what a second copy of a library would do.
    @Test func aReaderThatFailedLeavesThePool() throws {
        let namespace = try SpaceTest.namespace("n")
        try namespace.write("job", 1)
        #expect(try namespace.count() == 1)
        do {
            let second = try Environment(
                path: "\(root.path)/n",
                mapSize: Limits.mapBytes,
                maxReaders: Limits.readers,
                maxDatabases: 6,
                flags: [.writeMap, .noSync]
            )
            // After a read LMDB assumes that this environment has slots, and closing it clears all slots with this
            // process's PID.
            _ = try second.beginRead()
        }
        #expect(try namespace.core.engine.environment.readers().isEmpty, "the slot is not lost: nothing is shown here")
        let failure = try refusal { _ = try namespace.count() }
        #expect(failure.code == .inputOutput || failure.code == .damaged)
        #expect(try namespace.count() == 1)
        #expect(try namespace.takeIfExists("job", 1) != nil)
    }

    /// The lock stands for a second copy of the library in this process (a plug-in that has it linked in), whose
    /// registry does not know the first one's namespaces.
    @Test func aSecondCopyOfTheLibraryIsRefused() throws {
        let options = NamespaceOptions(isPersistent: true)
        try root.space.namespace("n", options: options).write("job", 1)
        let other = try OwnedDescriptor.open("\(root.path)/n/data.mdb", flags: O_RDWR)
        let position = OpenEnvironment.position(of: try ProcessIdentity.current)
        #expect(try FileLock.tryExclusive(other.raw, byte: position))

        let refused = try refusal { _ = try root.space.namespace("n") }
        #expect(refused.code == .incompatible)
        #expect("\(refused)".contains("another copy of the library in this same process"))
        // The attempt leaves no session behind.
        #expect(root.entries(of: "n/sessions") == [])
        // Another process is not refused.
        let agent = try Agent(root, "n")
        #expect(try agent.run("count") == "1")

        try FileLock.unlock(other.raw, byte: position)
        let namespace = try root.space.namespace("n")
        #expect(try FileLock.isHeldByAnother(other.raw, byte: position), "the second copy would not be refused")
        try namespace.leave()
    }

    /// A forked child's descriptor shares the lock that refuses a second copy, and must not keep the child's parent
    /// out.
    @Test func aForkedChildKeepsNobodyFromOpeningAnew() throws {
        let parent = try Agent(root, "n", "persistent=1")
        let child = try #require(Int32(try parent.run("fork-holding")))
        defer { kill(child, SIGKILL) }
        try parent.run("drop")
        try parent.open(root, "n")
        #expect(try parent.run("count") == "0")
    }
}

private enum Descriptors {
    static func path(_ number: String) throws -> String {
        var buffer = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/fd/\(number)", &buffer, buffer.count - 1) > 0 else {
            throw TestFailure("readlink: errno \(errno)")
        }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
