import SharedSpace
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Which rows of an ordered set an edit writes: as many as it has made room for.
@Suite(.spaceTest) struct OrderedSetRowTests {
    /// Before the first of a full chunk, and behind its last, no other element moves.
    @Test(arguments: [0, 256]) func insertingAtTheEndsSplitsNothing(_ index: Int) throws {
        let namespace = try SpaceTest.namespace("n")
        let set = try namespace.orderedSet("s", of: Int.self)
        func chunks() throws -> [Int] {
            try set.read("look") { list throws(SpaceError) in list.directory.chunks.map(\.count) }
        }
        try set.append(contentsOf: 0..<256)
        #expect(try chunks() == [ElementList.chunkSize])
        // What this is about: it is said to need no room for a split.
        #expect(try set.read("look") { list throws(SpaceError) in list.hasRoom(for: 2, at: index) })
        try set.insert(contentsOf: [-2, -1], at: index)
        #expect(try chunks() == (index == 0 ? [2, 256] : [256, 2]))
        try set.insert(-3, at: index)
        #expect(try chunks() == (index == 0 ? [3, 256] : [256, 3]))
        let new = [-3, -2, -1]
        #expect(try Array(set.elements()) == (index == 0 ? new + (0..<256) : (0..<256) + new))
    }
}
