import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceEngine
@testable import TupleSpace

/// What one process keeps of namespaces that it has open, or had, and how its threads are in each other's way.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct OneProcessTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Whether a program that cleans folders by age would get its lock on the root.
    private func isLockable() -> Bool {
        let folder = open(root.space.root, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        return flock(folder, LOCK_EX | LOCK_NB) == 0
    }

    @Test func theRootIsLockedWhileANamespaceIsOpen() throws {
        let first = try root.space.namespace("a")
        let second = try root.space.namespace("b")
        #expect(!isLockable())
        try first.leave()
        #expect(!isLockable())
        try second.leave()
        #expect(isLockable())
        let again = try root.space.namespace("a")
        #expect(!isLockable())
        try again.leave()
        withExtendedLifetime((first, second)) {}
    }

    @Test func namespacesThatWereLeftAreForgotten() throws {
        for number in 0..<300 { try root.space.namespace("n\(number)").leave() }
        // Other tests of this process have namespaces open.
        #expect(CoreRegistry.shared.count < 250)
    }

    /// A look of this process pins the pages that a take frees; the write that needs them waits until it is over.
    @Test func aWriteWaitsForAReaderThatIsInItsWay() async throws {
        let namespace = try SpaceTest.namespace("small", options: NamespaceOptions(byteLimit: 16 << 20))
        let text = String(repeating: "x", count: 100_000)
        var count = 0
        while (try? namespace.write("row", count, text)) != nil { count += 1 }
        #expect(count > 10)

        let (reading, isReading) = AsyncStream.makeStream(of: Void.self)
        let (mayEnd, hasEnded) = (Flag(), Flag())
        let reader = Task {
            try await onThread {
                try namespace.core.read { _ in
                    isReading.yield()
                    while !mayEnd.isSet { usleep(100) }
                }
                hasEnded.set()
            }
        }
        for await _ in reading { break }
        #expect(try namespace.takeAll(matching: ["row", .any, .any], max: count / 2).count == count / 2)
        // The reader goes on once the write has found that there is no room.
        let hasWaited = Flag()
        CrashPoint.arm(
            .readerAwaited,
            action: .run {
                hasWaited.set()
                mayEnd.set()
                while !hasEnded.isSet { usleep(100) }
            }
        )
        for number in 0..<(count / 4) { try namespace.write("new", number, text) }
        #expect(hasWaited.isSet)
        mayEnd.set()
        try await reader.value
    }
}

private final class Flag: Sendable {
    private let flag = Atomic<Bool>(false)
    var isSet: Bool { flag.load(ordering: .acquiring) }
    func set() { flag.store(true, ordering: .releasing) }
}
