import SpaceSystem

extension WriteScope {
    /// Moves the near end's tuples, and the claims on them, to the tables of this transaction.
    ///
    /// They were written and claimed before, so nothing is numbered, journaled or granted here. The commit's counters have the next
    /// id, so each reader sees each of the tuples in one place.
    func takeOver(_ near: NearRing) throws(SpaceError) {
        let (head, tail) = (near.head.loadRelaxed(), near.tail.loadRelaxed())
        guard near.isSound(head, tail) else { throw .damaged(NearRing.nonsense) }
        let ids = max(head, counters.nextTuple)..<max(head, counters.nextTuple, tail)
        counters.nextTuple = ids.upperBound
        if ids.isEmpty { return }
        let (count, bytes) = try near.total(ids)
        if count == 0 { return }
        var cursors: TupleCursors?
        if count > 1 {
            let shapes = shapes.indexed.count
            let all = Tables.bytes(ofTuples: count, content: bytes, shapes: shapes)
            try meter.expect(tuples: count, bytes: all, shapes: shapes)
            cursors = try TupleCursors(self)
        }
        for id in ids {
            let record = near.record(id)
            if record.isPresent(id), let tuple = near.tuple(of: record) {
                try store(id, tuple, record.origin, end: RowEnd(), with: &cursors)
            } else if let (claim, tuple) = near.claimed(id) {
                try cursors.append(id, tuple, to: tuples)
                try claims.put(id, claim)
                counters.claimed += 1
            }
        }
        noteUpkeep()
    }
}

extension NearMarks {
    /// Applies the marks from a place on in a transaction: removes what was taken, and gives what is claimed its rows in
    /// `claims`.
    ///
    /// As with the ring's tuples, all of it was done before, so nothing is numbered, journaled or granted here.
    func apply(from first: Int, in scope: WriteScope) throws(SpaceError) {
        var cursors = count - first > 1 ? try TupleCursors(scope) : nil
        // The youngest first: LMDB then moves no younger rows within their pages (mdb.c, mdb_node_del).
        for place in (first..<count).reversed() {
            let id = id(place)
            // After a crash of the machine, the data file may be older than the control file.
            guard let row = try cursors == nil ? scope.tuples.get(id) : cursors?.tuples.find(id), !row.isClaimed
            else { continue }
            guard let claim = claim(place) else {
                try scope.remove(id, row, as: nil, with: &cursors)
                continue
            }
            try scope.hide(id, row, by: claim, as: nil, with: &cursors)
            scope.counters.claimed += 1
        }
        try scope.passClaimed()
        scope.counters.appliedMarks = applied(leaving: first)
        scope.noteUpkeep()
    }
}

extension NearRing {
    /// What is said of a ring whose numbers can't be right.
    static let nonsense = "the bounds of the newest tuples, or one of their records, make no sense"

    /// How many tuples, visible or claimed, have these ids, and how many bytes; under the gate.
    fileprivate func total(_ ids: Range<UInt64>) throws(SpaceError) -> (count: Int, bytes: Int) {
        var (count, bytes) = (0, 0)
        for id in ids {
            let record = record(id)
            if record.isTaken(id) { continue }
            guard record.isHere(id), let tuple = tuple(of: record) else {
                throw .damaged("tuple \(id) of the near end is damaged")
            }
            count += 1
            bytes += tuple.bytes.count
        }
        return (count, bytes)
    }
}
