import SharedSpaceObjects
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// An edit of an ordered set writes no more rows than it needs.
@Suite(.spaceTest) struct OrderedSetRowTests {
    /// An insertion before the first element of a full chunk, or behind its last, moves no other element.
    @Test(arguments: [0, 256]) func insertingAtTheEndsSplitsNothing(_ index: Int) throws {
        let namespace = try SpaceTest.namespace("n")
        let set = try namespace.orderedSet("s", of: Int.self)
        func chunks() throws -> [Int] {
            try set.read { list throws(SpaceError) in list.directory.chunks.map(\.count) }
        }
        try set.append(contentsOf: 0..<256)
        #expect(try chunks() == [ElementList.chunkSize])
        try set.insert(contentsOf: [-2, -1], at: index)
        // The case under test: these are the two elements' rows, and those of the chunks and the directory.
        let engine = namespace.core.engine
        #expect(engine.scope.meter.changes(of: engine.tables.elements) <= 8)
        #expect(try chunks() == (index == 0 ? [2, 256] : [256, 2]))
        try set.insert(-3, at: index)
        #expect(try chunks() == (index == 0 ? [3, 256] : [256, 3]))
        let new = [-3, -2, -1]
        #expect(try Array(set.elements()) == (index == 0 ? new + (0..<256) : (0..<256) + new))
    }
}
