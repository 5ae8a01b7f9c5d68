import SpaceSystem

// The rows of a tuple: one in `tuples`, one in `index` for each shape that it has a hash for, and one in `expiries` if
// it expires. A claimed tuple has only the first. Every change that makes a tuple visible or invisible goes through
// here, so the three tables agree.

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

    /// Stores the rows of a visible tuple whose id is higher than all others.
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
        try cursors.append(id, row, to: tuples)
        try TupleReferences(scope: self).add(id, tuple, end, with: &cursors)
    }

    /// Changes when a visible tuple ends; nothing else of it changes.
    package func setEnd(of id: UInt64, _ row: TupleRow, _ end: RowEnd) throws(SpaceError) {
        try row.withCopy { (row) throws(SpaceError) in
            for key in row.end.keys(.tuple(id)) { try removeExpiry(key) }
            try tuples.replace(id, row.with(end: end))
            for key in end.keys(.tuple(id)) { try addExpiry(key) }
        }
        noteUpkeep()
    }

    /// Makes a claimed tuple visible again; watchers are told if `isNoted`.
    func show(_ id: UInt64, _ row: TupleRow, deliveries: UInt32, isNoted: Bool = true) throws(SpaceError) {
        try row.withCopy { (row) throws(SpaceError) in
            if isNoted {
                try note(.return, id: id, isRecord: row.isRecord, new: row.encoded.bytes)
            } else {
                noteUpkeep()
            }
            try tuples.replace(id, row.with(deliveries: deliveries, isClaimed: false))
            var cursors: TupleCursors?
            try TupleReferences(scope: self).add(id, row.encoded, row.end, with: &cursors)
            if row.end.isVisible(clock) { appeared.add(id, row.encoded, expiry: row.end.expiry) }
        }
        guard id < counters.firstVisible else { return }
        counters.firstVisible = id
        // The searches of this transaction read the row.
        try mainCounters.put(.counters, counters)
    }

    /// Makes a visible tuple a claimed one: its row stays, and nothing refers to it.
    ///
    /// `row` is its row; if `kind` is `nil`, no watcher is told. At the end of a batch with cursors, the caller calls
    /// ``passClaimed()``.
    func hide(
        _ id: UInt64,
        _ row: TupleRow,
        by claim: ClaimRow,
        as kind: ChangeKind?,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) {
        try row.withCopy { (row) throws(SpaceError) in
            try endVisibility(id, row, row.encoded.bytes, as: kind, with: &cursors)
            let claimed = row.with(isClaimed: true)
            if try cursors?.tuples.put(id, claimed) == nil { try tuples.replace(id, claimed) }
        }
        try claims.put(id, claim)
        if cursors == nil { try passClaimed() }
    }

    /// Makes walks begin behind the claimed tuples that are older than all visible ones, after one became invisible.
    func passClaimed() throws(SpaceError) {
        guard counters.claimed + counters.withoutHolder > 0 else { return }
        counters.firstVisible = try tuples.behindClaimed(from: counters.firstVisible)
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
        let copy = isJournaling ? Array(row.encoded.bytes) : []
        try copy.withBytes { (bytes) throws(SpaceError) in
            try endVisibility(id, row, bytes, as: kind, with: &cursors)
        }
        let wasThere = try cursors?.tuples.delete() != nil ? true : tuples.delete(id)
        guard wasThere || !Safeguard.secondLook.stands else { throw TupleRow.notFound(id) }
        if cursors == nil { try passClaimed() }
    }

    /// Removes what refers to a visible tuple, and tells watchers; `bytes` are the tuple's, or empty without watchers.
    @inline(__always)
    private func endVisibility(
        _ id: UInt64,
        _ row: TupleRow,
        _ bytes: UnsafeRawBufferPointer,
        as kind: ChangeKind?,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) {
        // The references go first: the row's bytes stay valid until something is changed.
        let isRecord = row.isRecord
        try TupleReferences(scope: self).remove(id, row, with: &cursors)
        if let kind {
            try note(kind, id: id, isRecord: isRecord, new: bytes, endsVisibility: true)
        } else {
            noteUpkeep()
        }
        appeared.remove(id)
    }
}
