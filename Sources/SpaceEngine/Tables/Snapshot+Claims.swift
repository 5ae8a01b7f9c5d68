/// The claims as a snapshot shows them: in `claims`, in the marks, and in the ring.
extension Snapshot {
    /// The claim on a tuple, wherever it is; `nil` if there is none.
    package func claim(on id: UInt64) throws(SpaceError) -> ClaimRow? {
        if let claim = near?.pointee.claim(on: id) { return claim }
        return try claims.get(id)
    }

    /// The row of a claimed tuple, wherever it is; `nil` if it is missing or does not decode.
    package func claimedTuple(_ id: UInt64) throws(SpaceError) -> TupleRow? {
        if let row = near?.pointee.claimedTuple(id) { return row }
        return try tuples.getValid(id)
    }

    /// Walks through the claims of the tuples from an id on, in the order of writing, until `visit` returns `false`.
    ///
    /// Rows that don't decode are left out.
    package func forEachClaim(
        from first: UInt64 = 0,
        _ visit: (UInt64, ClaimRow) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        var marked = (near?.pointee.markedClaims ?? [])[...].drop { $0.id < first }
        var rows = try claims.scan(from: first)
        while let (id, row) = try rows.nextValid() {
            while let mark = marked.first, mark.id <= id {
                marked.removeFirst()
                // A mark that was just applied is the row.
                if mark.id < id, try !visit(mark.id, mark.claim) { return }
            }
            if try !visit(id, row) { return }
        }
        for mark in marked { if try !visit(mark.id, mark.claim) { return } }
        try near?.pointee.forEachClaim { (id, row) throws(SpaceError) in id < first ? true : try visit(id, row) }
    }

    /// Walks through the claims that are not in `claims` yet, like `forEachClaim`; `isInRing` distinguishes claims in
    /// the ring from claims of the tables' tuples, which come first.
    package func forEachNearClaim(
        _ visit: (UInt64, ClaimRow, _ isInRing: Bool) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        for mark in near?.pointee.markedClaims ?? [] { guard try visit(mark.id, mark.claim, false) else { return } }
        try near?.pointee.forEachClaim { (id, row) throws(SpaceError) in try visit(id, row, true) }
    }
}
