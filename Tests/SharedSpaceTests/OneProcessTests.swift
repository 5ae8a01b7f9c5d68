import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import TupleSpace

/// What one process keeps of namespaces that it has open, or had.
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
        // A child that another test starts has the descriptor until its exec.
        #expect(try eventually { isLockable() })
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
}
