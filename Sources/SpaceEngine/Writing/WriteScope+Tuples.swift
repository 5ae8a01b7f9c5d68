import SpaceSystem
import TupleCoding

// The rows of a tuple: one in `tuples`, one in `index` for each shape that it has a hash for, and one in `expiries` if
// it expires. Every change that makes a tuple visible or invisible goes through here, so the three tables agree.

extension WriteScope {
    /// Adds a new tuple; one that is loaded from a dump may have come back from claims, and have an older origin.
    package func insert(
        _ tuple: EncodedTuple,
        end: RowEnd,
        deliveries: UInt32 = 0,
        origin: Origin? = nil,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) -> UInt64 {
        precondition(!keeps.contains(.ring), "a transaction that adds tuples takes over the near end")
        let id = counters.nextTuple
        guard id < 1 << 48 - 1 else {
            throw .limitReached(
                "the namespace has given out all of its tuple ids",
                advice: "make a new namespace"
            )
        }
        counters.nextTuple = id + 1
        try note(.write, id: id, isRecord: tuple.isRecord, new: tuple.bytes)
        try store(id, tuple, origin ?? ownOrigin, end: end, deliveries: deliveries, with: &cursors)
        appeared.add(id, tuple, expiry: end.expiry)
        return id
    }

    /// Stores the rows of a tuple whose id is higher than all others.
    @inline(__always)
    func store(
        _ id: UInt64,
        _ tuple: EncodedTuple,
        _ origin: Origin,
        end: RowEnd,
        deliveries: UInt32 = 0,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) {
        let row = TupleRow(
            expiry: end.expiry,
            rawHolder: end.rawHolder,
            deliveries: deliveries,
            origin: origin,
            encoded: tuple
        )
        // Ids rise, so the row is the last one: its page is filled without being split.
        if try cursors?.tuples.append(id, row) == nil { try tuples.append(id, row) }
        try TupleReferences(scope: self).add(id, tuple, end, with: &cursors)
    }

    /// Changes when a visible tuple ends; nothing else of it changes.
    package func setEnd(of id: UInt64, _ row: TupleRow, _ end: RowEnd) throws(SpaceError) {
        let (before, deliveries, origin, isRecord) = (row.end, row.deliveries, row.origin, row.isRecord)
        let bytes = Array(row.encoded.bytes)
        for key in before.keys(.tuple(id)) { try removeExpiry(key) }
        try bytes.withBytes { (bytes) throws(SpaceError) in
            let encoded = EncodedTuple(bytes: bytes, isRecord: isRecord)
            try tuples.put(
                id,
                TupleRow(
                    expiry: end.expiry,
                    rawHolder: end.rawHolder,
                    deliveries: deliveries,
                    origin: origin,
                    encoded: encoded
                )
            )
        }
        for key in end.keys(.tuple(id)) { try addExpiry(key) }
        noteUpkeep()
    }

    /// Puts a tuple back under its old id; watchers are told if `isNoted`.
    func putBack(_ id: UInt64, _ row: TupleRow, deliveries: UInt32, isNoted: Bool = true) throws(SpaceError) {
        // The row lies in a page of `claims`, which writing the new row may move.
        let bytes = Array(row.encoded.bytes)
        let (end, rawHolder, origin, isRecord) = (row.end, row.rawHolder, row.origin, row.isRecord)
        if isNoted {
            try bytes.withBytes { (bytes) throws(SpaceError) in
                try note(.return, id: id, isRecord: isRecord, new: bytes)
            }
        } else {
            noteUpkeep()
        }
        try bytes.withBytes { (bytes) throws(SpaceError) in
            let tuple = EncodedTuple(bytes: bytes, isRecord: isRecord)
            try tuples.put(
                id,
                TupleRow(
                    expiry: end.expiry,
                    rawHolder: rawHolder,
                    deliveries: deliveries,
                    origin: origin,
                    encoded: tuple
                )
            )
            var cursors: TupleCursors?
            try TupleReferences(scope: self).add(id, tuple, end, with: &cursors)
            if end.isVisible(clock) { appeared.add(id, tuple, expiry: end.expiry) }
        }
    }

    /// Removes a visible tuple.
    ///
    /// `row` is its row, which is not valid afterwards. If `kind` is `nil`, no watcher is told.
    package func remove(_ id: UInt64, _ row: TupleRow, as kind: ChangeKind? = .take) throws(SpaceError) {
        var cursors: TupleCursors?
        try remove(id, row, as: kind, with: &cursors)
    }

    /// The same; with cursors, `row` is the one that they are at.
    func remove(
        _ id: UInt64,
        _ row: TupleRow,
        as kind: ChangeKind?,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) {
        // The references go first: the row's bytes stay valid until something is changed.
        let copy = isJournaling ? Array(row.encoded.bytes) : []
        let isRecord = row.isRecord
        try TupleReferences(scope: self).remove(id, row, with: &cursors)
        if let kind {
            try copy.withBytes { (bytes) throws(SpaceError) in
                try note(kind, id: id, isRecord: isRecord, new: bytes, endsVisibility: true)
            }
        } else {
            noteUpkeep()
        }
        // In a damaged tree, a walk may find a tuple that can't be found by its key; without this check the tuple would
        // be taken again and again.
        let wasThere = try cursors?.tuples.delete() != nil ? true : tuples.delete(id)
        guard wasThere || !Safeguard.secondLook.stands else {
            throw .damaged("tuple \(id) is not found by its id")
        }
        appeared.remove(id)
    }
}
