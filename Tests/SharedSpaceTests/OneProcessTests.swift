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

    @Test func namespacesThatWereLeftAreForgotten() throws {
        for number in 0..<300 { try root.space.namespace("n\(number)").leave() }
        // Other tests of this process have namespaces open.
        #expect(CoreRegistry.shared.count < 250)
    }
}
