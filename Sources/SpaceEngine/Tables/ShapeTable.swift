/// The shapes of a namespace in one commit.
package final class ShapeTable: Sendable {
    package static let empty = ShapeTable(generation: 0, all: [])

    package let generation: UInt64
    package let all: [IndexedShape]
    /// The shapes that every new tuple is indexed for.
    package let indexed: [IndexedShape]
    let isDropping: Bool

    package init(generation: UInt64, all: [IndexedShape]) {
        self.generation = generation
        self.all = all
        indexed = all.filter { $0.state != .dropping }
        isDropping = indexed.count != all.count
    }

    package func index(for shape: Shape) -> IndexedShape? { indexed.first { $0.shape == shape } }

    package init(reading snapshot: Snapshot, generation: UInt64) throws(SpaceError) {
        var all: [IndexedShape] = []
        var rows = try snapshot.indexedShapes.scan()
        while let (_, shape) = try rows.nextValid() { all.append(shape) }
        guard all.count <= Limits.shapes else { throw .damaged("it has more than \(Limits.shapes) shapes") }
        self.generation = generation
        self.all = all
        indexed = all.filter { $0.state != .dropping }
        isDropping = indexed.count != all.count
    }
}
