import SpaceSystem
import TupleCoding

// The rows of a tuple: one in `tuples`, one in `index` for each shape that it has a hash for, and one in `expiries` if
// it expires. Every change that makes a tuple visible or invisible goes through here, so the three tables agree.

extension WriteScope {
    /// Adds a new tuple.
    ///
    /// `expiry` is a time on the namespace's clock, or 0 for never.
    package func insert(
        _ tuple: EncodedTuple,
        expiry: Int64,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) -> UInt64 {
        precondition(!keepsNear, "a transaction that adds tuples takes over the near end")
        let id = counters.nextTuple
        guard id < 1 << 48 - 1 else {
            throw .limitReached(
                "the namespace has given out all of its tuple ids",
                advice: "make a new namespace"
            )
        }
        counters.nextTuple = id + 1
        try note(.write, id: id, isRecord: tuple.isRecord, new: tuple.bytes)
        try store(id, tuple, expiry: expiry, with: &cursors)
        appeared.add(id, tuple, expiry: expiry)
        return id
    }

    /// Stores the rows of a tuple whose id is higher than all others.
    @inline(__always)
    func store(_ id: UInt64, _ tuple: EncodedTuple, expiry: Int64, with cursors: inout TupleCursors?) throws(SpaceError)
    {
        let row = TupleRow(expiry: expiry, deliveries: 0, encoded: tuple)
        // Ids rise, so the row is the last one: its page is filled without being split.
        if try cursors?.tuples.append(id, row) == nil { try tuples.append(id, row) }
        try addReferences(id, tuple, expiry: expiry, with: &cursors)
    }

    /// Puts a tuple back under its old id.
    func putBack(_ id: UInt64, _ row: TupleRow, deliveries: UInt32) throws(SpaceError) {
        // The row lies in a page of `claims`, which writing the new row may move.
        let bytes = Array(row.encoded.bytes)
        let (expiry, isRecord) = (row.expiry, row.isRecord)
        try bytes.withBytes { (bytes) throws(SpaceError) in try note(.return, id: id, isRecord: isRecord, new: bytes) }
        try bytes.withBytes { (bytes) throws(SpaceError) in
            let tuple = EncodedTuple(bytes: bytes, isRecord: isRecord)
            try tuples.put(id, TupleRow(expiry: expiry, deliveries: deliveries, encoded: tuple))
            var cursors: TupleCursors?
            try addReferences(id, tuple, expiry: expiry, with: &cursors)
            if expiry == 0 || expiry > clock.milliseconds { appeared.add(id, tuple, expiry: expiry) }
        }
    }

    /// Removes a visible tuple.
    ///
    /// `row` is its row, which is not valid afterwards.
    package func remove(_ id: UInt64, _ row: TupleRow, as kind: ChangeKind = .take) throws(SpaceError) {
        // The references go first: the row's bytes stay valid until something is changed.
        let copy = isJournaling ? Array(row.encoded.bytes) : []
        let isRecord = row.isRecord
        try removeReferences(id, row)
        try copy.withBytes { (bytes) throws(SpaceError) in
            try note(kind, id: id, isRecord: isRecord, new: bytes, endsVisibility: true)
        }
        // In a damaged tree, a walk may find a tuple that its key does not lead to; without this check it would be
        // taken again and again.
        let wasThere = try tuples.delete(id)
        guard wasThere || !Safeguard.secondLook.stands else {
            throw .damaged("tuple \(id) is not found by its id")
        }
        appeared.remove(id)
    }

    private func addReferences(
        _ id: UInt64,
        _ tuple: EncodedTuple,
        expiry: Int64,
        with cursors: inout TupleCursors?
    ) throws(SpaceError) {
        for index in shapes.indexed {
            guard let hash = tuple.hash(of: index.shape) else { continue }
            let key = IndexKey(shape: index.number, hash: hash, id: id)
            if try cursors?.index.put(key, NoValue()) == nil { try self.index.put(key, NoValue()) }
        }
        guard expiry != 0 else { return }
        try addExpiry(ExpiryKey(kind: .tuple, deadline: expiry, id: id))
    }

    private func removeReferences(_ id: UInt64, _ row: TupleRow) throws(SpaceError) {
        let (tuple, expiry) = (row.encoded, row.expiry)
        let indexed = shapes.indexed
        try withUnsafeTemporaryAllocation(of: UInt64?.self, capacity: indexed.count) {
            (hashes) throws(SpaceError) in
            // The hashes come first: the row's bytes stay valid only until something is changed.
            for (place, index) in indexed.enumerated() {
                hashes.initializeElement(at: place, to: tuple.hash(of: index.shape))
            }
            for (place, index) in indexed.enumerated() {
                guard let hash = hashes[place] else { continue }
                // While an index is being built, a tuple below the watermark may have no row in it.
                try self.index.delete(IndexKey(shape: index.number, hash: hash, id: id))
            }
        }
        if expiry != 0 { try removeExpiry(ExpiryKey(kind: .tuple, deadline: expiry, id: id)) }
    }

    // MARK: What is due

    func addExpiry(_ expiry: ExpiryKey) throws(SpaceError) {
        try expiries.put(expiry, NoValue())
        noteAdded(due: expiry.deadline)
    }

    func removeExpiry(_ expiry: ExpiryKey) throws(SpaceError) {
        if try expiries.delete(expiry) { noteRemoved(due: expiry.deadline) }
    }

    /// Makes sure of the disk space for removing or returning what is due, before anything of it has changed.
    func expectMoving(_ due: [ExpiryKey]) throws(SpaceError) {
        var sizes: [Int] = []
        for key in due {
            // The journal's row has a header of its own.
            switch key.kind {
            case .claim:
                let size = try claimRow(key.id)?.size ?? 0
                sizes.append(size)
                if isJournaling { sizes.append(size + 256) }
            case .tuple:
                if isJournaling { sizes.append((try tuples.getValid(key.id)?.size ?? 0) + 256) }
            }
        }
        let rows: [RoomMeter.Tree] = [
            .init(database: tables.main, scattered: due.count + 1),
            .init(database: tables.tuples, scattered: due.count),
            .init(database: tables.index, scattered: due.count * shapes.indexed.count),
            .init(database: tables.expiries, scattered: 2 * due.count),
            .init(database: tables.journal, ends: isJournaling ? 5 * due.count : 0),
        ]
        try meter.expect(rows, sizes: sizes)
    }

    /// The first keys of all that are due: at most `most`, and no claim of a tuple larger than `bytes`.
    package func due(_ all: [ExpiryKey], _ most: Int, claimsUpTo bytes: Int) throws(SpaceError) -> [ExpiryKey] {
        var due: [ExpiryKey] = []
        for key in all where due.count < most {
            let size = key.kind == .claim ? try claimRow(key.id)?.size ?? 0 : 0
            if size <= bytes { due.append(key) }
        }
        return due
    }

    /// Removes the tuples and returns the claims that are due.
    package func remove(due: [ExpiryKey]) throws(SpaceError) {
        for key in due {
            try removeExpiry(key)
            noteRemovedDue()
            switch key.kind {
            case .tuple:
                if let row = try tuples.getValid(key.id), row.expiry == key.deadline {
                    try remove(key.id, row, as: .expire)
                }
            case .claim:
                try returnClaim(key.id) { $0.deadline == key.deadline }
            }
        }
    }
}

extension Snapshot {
    /// The earliest time at which a tuple or a claim expires, on the namespace's clock; 0 if none does.
    func earliestDue(_ counters: Counters) throws(SpaceError) -> Int64 {
        guard counters.expiring > 0 else { return 0 }
        var earliest = Int64.max
        for kind in [ExpiryKey.Kind.tuple, .claim] {
            var rows = try expiries.scan(from: ExpiryKey(kind: kind, deadline: 0, id: 0))
            if let (key, _) = try rows.nextValid(), key.kind == kind { earliest = min(earliest, key.deadline) }
        }
        return earliest
    }

    /// The tuples and claims whose time has come: at most `limit` of each, the oldest first.
    package func due(limit: Int) throws(SpaceError) -> [ExpiryKey] {
        let now = clock.milliseconds
        var due: [ExpiryKey] = []
        for kind in [ExpiryKey.Kind.tuple, .claim] {
            var rows = try expiries.scan(from: ExpiryKey(kind: kind, deadline: 0, id: 0))
            for _ in 0..<limit {
                guard let (key, _) = try rows.nextValid(), key.kind == kind, key.deadline <= now else { break }
                due.append(key)
            }
        }
        return due
    }
}
