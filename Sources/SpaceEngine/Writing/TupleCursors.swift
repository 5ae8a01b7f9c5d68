/// Walks that stay at the last tuple's rows, so the next tuple's rows are found from there and not from the root.
///
/// They are for a batch of tuples that are added, or removed from the youngest on; nothing else in the tables may
/// change during the batch.
package struct TupleCursors: ~Copyable {
    var tuples: Rows<UInt64, TupleRow>
    var index: Rows<IndexKey, NoValue>

    package init(_ scope: WriteScope) throws(SpaceError) {
        let tuples = try scope.tuples.scan()
        let index = try scope.index.scan()
        self.tuples = tuples
        self.index = index
    }
}

extension TupleCursors? {
    /// Stores the row of a tuple whose id is higher than all others: its page is filled without being split.
    @inline(__always)
    mutating func append(_ id: UInt64, _ row: TupleRow, to tuples: Table<UInt64, TupleRow>) throws(SpaceError) {
        if try self?.tuples.append(id, row) == nil { try tuples.append(id, row) }
    }
}
