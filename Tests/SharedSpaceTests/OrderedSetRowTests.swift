import SharedSpace
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// An edit of an ordered set writes as many rows as it has reserved space for.
@Suite(.spaceTest) struct OrderedSetRowTests {
    /// An insertion before the first element of a full chunk, or behind its last, moves no other element.
    @Test(arguments: [0, 256]) func insertingAtTheEndsSplitsNothing(_ index: Int) throws {
        let namespace = try SpaceTest.namespace("n")
        let set = try namespace.orderedSet("s", of: Int.self)
        func chunks() throws -> [Int] {
            try set.read("look") { list throws(SpaceError) in list.directory.chunks.map(\.count) }
        }
        try set.append(contentsOf: 0..<256)
        #expect(try chunks() == [ElementList.chunkSize])
        // The case under test: the list says that it needs no space for a split.
        #expect(try set.read("look") { list throws(SpaceError) in list.hasRoom(for: 2, at: index) })
        try set.insert(contentsOf: [-2, -1], at: index)
        #expect(try chunks() == (index == 0 ? [2, 256] : [256, 2]))
        try set.insert(-3, at: index)
        #expect(try chunks() == (index == 0 ? [3, 256] : [256, 3]))
        let new = [-3, -2, -1]
        #expect(try Array(set.elements()) == (index == 0 ? new + (0..<256) : (0..<256) + new))
    }
}
