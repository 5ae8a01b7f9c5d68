/// The rows that refer to a tuple: in `index`, one for each shape that it has a hash for, and in `expiries`.
struct TupleReferences {
    let scope: WriteScope

    /// Adds the rows that refer to a new tuple.
    func add(
        _ id: UInt64,
        _ tuple: EncodedTuple,
        _ end: RowEnd,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) {
        for index in scope.shapes.indexed {
            guard let hash = tuple.hash(of: index.shape) else { continue }
            let key = IndexKey(shape: index.number, hash: hash, id: id)
            if try cursors?.index.put(key, NoValue()) == nil { try scope.index.put(key, NoValue()) }
        }
        guard !end.isNever else { return }
        for key in end.keys(.tuple(id)) { try scope.addExpiry(key) }
    }

    /// Removes the rows that refer to a tuple.
    func remove(_ id: UInt64, _ row: TupleRow, with cursors: inout TupleCursors?) throws(SpaceError) {
        let (tuple, end) = (row.encoded, row.end)
        let indexed = scope.shapes.indexed
        try withUnsafeTemporaryAllocation(of: UInt64?.self, capacity: indexed.count) {
            (hashes) throws(SpaceError) in
            // The hashes come first: the row's bytes stay valid only until something is changed.
            for (place, index) in indexed.enumerated() {
                hashes.initializeElement(at: place, to: tuple.hash(of: index.shape))
            }
            for (place, index) in indexed.enumerated() {
                guard let hash = hashes[place] else { continue }
                let key = IndexKey(shape: index.number, hash: hash, id: id)
                // While an index is being built, a tuple below the watermark may have no row in it.
                if indexed.count > 1 || cursors == nil {
                    try scope.index.delete(key)
                } else if try cursors?.index.find(key) != nil {
                    try cursors?.index.delete()
                }
            }
        }
        guard !end.isNever else { return }
        for key in end.keys(.tuple(id)) { try scope.removeExpiry(key) }
    }
}
