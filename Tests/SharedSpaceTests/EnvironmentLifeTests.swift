import Glibc
import LMDB
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

/// How long an environment is open, which copy of the library may open it, and what happens to a reader whose slot was
/// cleared.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(2))) struct EnvironmentLifeTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// A thread that waits in a namespace that was left keeps the environment open until it is out; a handle opened
    /// meanwhile shares it.
    @Test func aCoreThatWasLeftSharesItsEnvironmentWithTheNext() throws {
        let options = NamespaceOptions(isPersistent: true)
        var first: Namespace? = try root.space.namespace("n", options: options)
        try first?.write("job", 1)
        var core = first?.core
        let environment = try #require(core?.engine.environment)
        first = nil
        #expect(core?.isLeft == true)

        let second = try SpaceTest.namespace("n")
        #expect(second.core !== core)
        #expect(second.core.engine.environment === environment)
        core = nil
        #expect(second.core.engine.environment === environment)
        #expect(try second.takeIfExists("job", 1) != nil)
        #expect(try environment.readers().map(\.pid) == [getpid()])
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
