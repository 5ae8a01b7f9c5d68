extension Table where Key == UInt64, Row == TupleRow {
    /// The most claimed tuples that one claim passes, so that it does not hold the gate for long.
    private static let mostPassed = 1000

    /// Stores a tuple's row again, with other details; its bytes are the same, and are not those of a page.
    func replace(_ id: UInt64, _ row: TupleRow) throws(SpaceError) {
        var rows = try scan()
        guard try rows.find(id) != nil else { throw TupleRow.notFound(id) }
        try rows.put(id, row)
    }

    /// The row of a claimed tuple; `nil` if it is damaged.
    func claimed(_ id: UInt64) throws(SpaceError) -> TupleRow? {
        guard let row = try getValid(id), row.isClaimed else { return nil }
        return row
    }

    /// An id from which a walk finds the same visible tuples as from another one: behind the claimed ones that come first.
    func behindClaimed(from first: UInt64) throws(SpaceError) -> UInt64 {
        var rows = try scan(from: first)
        var next = first
        for _ in 0..<Self.mostPassed {
            guard let (key, value) = try rows.nextBytes(), let id = UInt64(key: key), let row = TupleRow(value),
                row.isClaimed
            else { return next }
            next = id + 1
        }
        return next
    }
}

extension TupleRow {
    /// In a damaged tree, a walk may find a tuple that can't be found by its key; without this error the tuple would be
    /// taken again and again.
    static func notFound(_ id: UInt64) -> SpaceError { .damaged("tuple \(id) is not found by its id") }
}
