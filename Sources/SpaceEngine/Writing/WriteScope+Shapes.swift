extension WriteScope {
    package func put(_ index: IndexedShape) throws(SpaceError) {
        try indexedShapes.put(index.number, index)
        try noteShapesChanged()
    }

    /// Notes that the table of shapes changed.
    ///
    /// From here on, this transaction's own tuples are indexed by the changed table, because other operations may share
    /// the transaction.
    func noteShapesChanged() throws(SpaceError) {
        counters.shapesGeneration += 1
        noteUpkeep()
        shapes = try ShapeTable(reading: snapshot, generation: counters.shapesGeneration)
    }
}
