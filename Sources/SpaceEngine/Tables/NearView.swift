import SpaceSystem

/// The near end as a snapshot shows it.
package struct NearView {
    /// The copied records; there is no memory for them until the first are copied.
    private(set) var ring: NearRing?
    /// The ids that the copy has records for; not all of them are present.
    private(set) var ids: Range<UInt64> = 0..<0
    /// The next id, the number of the next claim, and that of the last change.
    private(set) var next: UInt64 = 0
    private(set) var nextNumber: UInt64 = 0
    private(set) var sequence: UInt64 = 0
    /// How many of the records and marks are claims.
    private(set) var claimed: UInt64 = 0
    /// How many marks there are that the snapshot has not applied.
    private(set) var markCount = 0
    /// Whether the last copy made sense; if it didn't, the reason is damage, or a change during the copy.
    private(set) var isSound = true

    func free() { ring?.free() }

    /// What a snapshot's counters say of the near end: the next id, and what is applied of the marks.
    package typealias Bounds = (next: UInt64, applied: UInt64)

    /// Copies the marks, and if `showsRing` the records, that a snapshot doesn't have.
    ///
    /// `bounds` is asked only if there are records, or if a commit may just be applying the marks.
    ///
    /// - Returns: Whether nothing has changed since `word` was read, before the snapshot.
    @inline(__always)
    mutating func copy<E>(
        _ source: NearRing,
        since word: UInt64,
        showsRing: Bool = true,
        bounds: () throws(E) -> Bounds
    ) throws(E) -> Bool {
        // The tail before the records that it commits; and a record's state before its claim.
        let (head, tail) = (source.head.loadRelaxed(), source.tail.load())
        ids = tail..<tail
        claimed = 0
        markCount = source.marks.count
        isSound = source.isSound(head, tail) && source.marks.isSound
        let hasRecords = head != tail && isSound && showsRing
        let isApplying = word & 1 != 0
        if markCount > 0, !isApplying { copyMarks(source, 0, isStill: true) }
        if hasRecords || markCount > 0 && isApplying {
            let bounds = try bounds()
            if isApplying { copyMarks(source, bounds.applied, isStill: false) }
            if hasRecords { copyRecords(source, head, tail, bounds.next) }
        }
        sequence = source.lastChange
        nextNumber = source.nextClaimNumber
        next = tail
        SharedWord64.acquireFence()
        return source.word.loadRelaxed() == word && isSound
    }

    @inline(never)
    private mutating func copyMarks(_ source: NearRing, _ applied: UInt64, isStill: Bool) {
        let target = ring ?? NearRing.allocate()
        ring = target
        target.marks.copy(source.marks, isStill: isStill)
        markCount = target.marks.count(beside: applied)
        claimed = UInt64(target.marks.claims(among: markCount))
    }

    @inline(never)
    private mutating func copyRecords(_ source: NearRing, _ head: UInt64, _ tail: UInt64, _ floor: UInt64) {
        let target = ring ?? NearRing.allocate()
        ring = target
        ids = min(max(head, floor), tail)..<tail
        for id in ids {
            let record = target.record(id)
            record.copy(source.record(id))
            SharedWord64.acquireFence()
            if record.isTaken(id) { continue }
            guard record.isHere(id), let tuple = source.tuple(of: record), let place = target.content(of: record) else {
                isSound = false
                return
            }
            place.copyMemory(from: tuple.bytes)
            guard record.isClaimed(id) else { continue }
            target.claim(of: id).copy(source.claim(of: id))
            claimed += 1
        }
    }

    @inline(__always)
    var isEmpty: Bool { ids.isEmpty }

    /// How many visible tuples there are.
    var count: Int {
        guard let ring else { return 0 }
        return ids.reduce(0) { $0 + (ring.record($1).isPresent($1) ? 1 : 0) }
    }

    /// A visible tuple.
    func row(_ id: UInt64) -> TupleRow? {
        guard let ring, ids.contains(id) else { return nil }
        let record = ring.record(id)
        guard record.isPresent(id), let tuple = ring.tuple(of: record) else { return nil }
        return TupleRow(tuple, record.origin)
    }

    /// Whether a tuple of the tables was taken or is claimed.
    @inline(__always)
    func isMarked(_ id: UInt64) -> Bool { markCount > 0 && place(of: id) != nil }

    @inline(__always)
    private func place(of id: UInt64) -> Int? { ring?.marks.place(of: id, among: markCount) }

    /// The first tuple of an index's key that may not be marked.
    @inline(__always)
    func head(of key: IndexKey, asOf commit: Int) -> UInt64 {
        markCount > 0 ? ring?.marks.head(ofShape: key.shape, key.hash, asOf: commit) ?? 0 : 0
    }

    /// The claims of the marks, on tuples that have their rows in LMDB, in the order of the tuples' ids.
    var markedClaims: [(id: UInt64, claim: ClaimRow)] {
        guard let marks = ring?.marks, markCount > 0 else { return [] }
        return (0..<markCount).compactMap { place in marks.claim(place).map { (marks.id(place), $0) } }
            .sorted { $0.id < $1.id }
    }

    /// The claim of a mark, or in the ring.
    func claim(on id: UInt64) -> ClaimRow? {
        if ids.contains(id) { return ring?.claimed(id)?.claim }
        return place(of: id).flatMap { ring?.marks.claim($0) }
    }

    /// A claimed tuple of the ring.
    func claimedTuple(_ id: UInt64) -> TupleRow? { ids.contains(id) ? ring?.claimed(id)?.tuple : nil }

    /// Calls `visit` for each claim of the ring, in the order of their ids, until it returns `false`.
    func forEachClaim(_ visit: (UInt64, ClaimRow) throws(SpaceError) -> Bool) throws(SpaceError) {
        guard let ring, !ids.isEmpty, claimed > 0 else { return }
        for id in ids {
            if let (claim, _) = ring.claimed(id), try !visit(id, claim) { return }
        }
    }
}

extension NearMarks {
    /// The claim of a mark; `nil` if the tuple was taken.
    func claim(_ place: Int) -> ClaimRow? {
        isClaimed(place) ? ClaimRow(holder: ClaimHolder(raw: holder(place)), number: number(place)) : nil
    }
}

extension NearRing {
    /// A claim and its tuple, as the tables have them; `nil` if the record isn't claimed, or is damaged.
    func claimed(_ id: UInt64) -> (claim: ClaimRow, tuple: TupleRow)? {
        let record = record(id)
        guard record.isClaimed(id), let tuple = tuple(of: record) else { return nil }
        let claim = claim(of: id)
        return (
            ClaimRow(holder: ClaimHolder(raw: claim.holder), number: claim.number),
            TupleRow(tuple, record.origin).with(isClaimed: true)
        )
    }
}
