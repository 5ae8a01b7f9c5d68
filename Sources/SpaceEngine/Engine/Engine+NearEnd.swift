import SpaceSystem

/// Writing, taking and reading in the near end, without a transaction.
///
/// Each of these functions may answer that it does not know or can't do it; then the caller uses LMDB instead.
extension Engine {
    /// What a look at the near end without the gate has found.
    package enum NearSight {
        /// The first match, the tables included.
        case match(TupleID)
        /// There was no match, neither here nor in the tables.
        case nothing
        /// The tables have to be searched.
        case unknown
    }

    /// How often a reader looks again because a writer has changed the ring during the look.
    static let looks = 16

    /// The outcome of an attempt to write into the ring.
    enum Placing {
        case written(UInt64)
        /// The ring is full; the value is that of the word on which a writer sleeps for a place.
        case full(UInt32)
        /// The tuple has to be written to LMDB.
        case refused
    }

    /// Writes a tuple that does not expire; `nil` if it has to be written to LMDB.
    package func writeNear(_ tuple: EncodedTuple) throws(SpaceError) -> UInt64? {
        guard let near, tuple.bytes.count <= NearRing.longestTuple, near.off.loadRelaxed() == 0 else { return nil }
        try checkUsable()
        if near.mayHavePlace {
            switch try place(tuple, in: near, isWaiting: false) {
            case .written(let id): return id
            case .refused: return nil
            case .full: break
            }
        }
        // If the ring is empty and has no place, no taker can change that.
        return !near.isEmpty && ringWait.isDue() ? try ringWait.wait(for: tuple, in: near, on: self) : nil
    }

    /// Writes a tuple into the ring if it has a place; a writer that waits is noted if it has none.
    @inline(__always)
    func place(_ tuple: EncodedTuple, in near: NearRing, isWaiting: Bool) throws(SpaceError) -> Placing {
        try underGate { () throws(SpaceError) in
            if near.allowed.loadRelaxed() == 0 { try nearRoom.make(for: near, on: self) }
            guard !isSomethingDue(near) else { return .refused }
            guard let id = near.append(tuple, .now(scope.process), control.sequence) else {
                guard near.isFull else { return .refused }
                if near.allowed.loadRelaxed() >= UInt64(nearRoom.recordsAsked) { nearRoom.askForMore() }
                return .full(isWaiting ? near.awaitPlace() : 0)
            }
            lastWriter.note(gate)
            // The waiter's side is: publish, fence, look. The writer's side is: commit, fence, scan.
            SharedWord64.fence()
            if slots.isAnybodyWaiting {
                var appearance = Appearance(tuple, near.record(id).knownTerms)
                slots.grant(id, &appearance, into: wakes)
            }
            CrashPoint.reach(.granted)
            if control.isCut { try checkUsable() }
            return .written(id)
        }
    }

    /// Notes that writers that wait for a place have to be woken, if a change has freed enough of the ring.
    @inline(__always)
    func wakeForPlace(_ near: NearRing) {
        if near.raisePlace() { wakes.addPlace(near.placeFutex) }
    }

    /// Removes a tuple from the ring, under the gate.
    @inline(__always)
    private func remove(_ id: UInt64, from near: NearRing) {
        near.remove(id, control.sequence, on: gate.processor.loadRelaxed())
        wakeForPlace(near)
    }

    /// Whether a commit of LMDB is due, which removes or returns what has expired.
    @inline(__always)
    func isSomethingDue(_ near: NearRing) -> Bool {
        guard let due = near.earliestDue else { return false }
        return due <= clock.milliseconds
    }

    /// Takes a tuple that a look has found; `false` if it is not in the near end, because it was taken or moved.
    package func takeNear(_ id: UInt64) throws(SpaceError) -> Bool {
        guard let near else { return false }
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            guard near.contains(id), !isSomethingDue(near) else { return !Safeguard.secondLook.stands }
            remove(id, from: near)
            return true
        }
    }

    /// Claims a tuple that a look has found; `nil` if that has to be done in LMDB, or the tuple is gone.
    package func claimNear(_ id: UInt64, _ terms: ClaimTerms) throws(SpaceError) -> ClaimMade? {
        // A record does not say that a claim is the first half of a take.
        guard let near, terms.deadline == nil, !terms.isTake else { return nil }
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            guard near.contains(id), !isSomethingDue(near),
                let number = near.claim(id, by: terms.holder.raw, control.sequence)
            else { return nil }
            return ClaimMade(number: number, deliveries: 0)
        }
    }

    /// Completes a claim that is in the near end; `false` if it is in LMDB, or has ended.
    package func completeNear(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) -> Bool {
        // A claim never moves back from LMDB to the ring or to a mark, so a look without the gate is enough.
        guard let near, near.mayCover(id) || near.marks.place(of: id) != nil else { return false }
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            if let holder = near.holder(of: id, claim: number) {
                guard ClaimHolder(raw: holder).mayBeEnded(by: session) else { return false }
                remove(id, from: near)
                return true
            }
            guard let place = near.marks.place(of: id, claim: number),
                ClaimHolder(raw: near.marks.holder(place)).mayBeEnded(by: session)
            else { return false }
            near.completeMark(place, control.sequence)
            return true
        }
    }

    /// Looks for the first match without the gate and without a snapshot of LMDB.
    ///
    /// It has an answer only if this process knows that LMDB has no match as of its last commit, and if that commit is
    /// still the last one afterwards.
    ///
    /// A match is a copy on the stack, which is lent to `borrow`.
    package func lookNear(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ borrow: (CopiedMatch) -> Void
    ) throws(SpaceError) -> NearSight {
        guard let near, absences.mayHave, near.off.loadRelaxed() == 0 else { return .unknown }
        try checkUsable()
        return withUnsafeTemporaryAllocation(byteCount: NearRing.longestTuple, alignment: 8) {
            lookNear(near, template, order, copyingTo: $0, borrow)
        }
    }

    @inline(__always)
    private func lookNear(
        _ near: NearRing,
        _ template: TemplateForm,
        _ order: MatchOrder,
        copyingTo buffer: UnsafeMutableRawBufferPointer,
        _ borrow: (CopiedMatch) -> Void
    ) -> NearSight {
        for _ in 0..<Self.looks {
            let word = near.word.load()
            let commit = lastCommit
            let (head, tail) = (near.head.loadRelaxed(), near.tail.load())
            guard let floor = absences.floor(template, asOf: commit), near.isSound(head, tail) else { return .unknown }
            var isSound = true
            let match = near.first(template, order, min(max(head, floor), tail)..<tail, copiedTo: buffer, &isSound)
            SharedWord64.acquireFence()
            guard near.word.loadRelaxed() == word, lastCommit == commit else { continue }
            guard isSound, !control.isCut else { return .unknown }
            guard let match else { return .nothing }
            borrow(match)
            return .match(match.id)
        }
        return .unknown
    }

    /// Looks for the first match in the ring, without the gate, after a search of the tables.
    ///
    /// - `floor`: The next id by the counters of the search's snapshot, which has all tuples below it.
    /// - `word`: The ring's word before the snapshot.
    ///
    /// Returns `nil` if the ring has changed since, and then the tables have to be searched again.
    package func lookNear(
        _ template: TemplateForm,
        _ order: MatchOrder,
        floor: UInt64,
        since word: UInt64,
        _ borrow: (Match) -> Void
    ) -> NearSight? {
        guard let near else { return .nothing }
        let (head, tail) = (near.head.loadRelaxed(), near.tail.load())
        guard near.isSound(head, tail) else { return nil }
        let ids = min(max(head, floor), tail)..<tail
        return withUnsafeTemporaryAllocation(byteCount: NearRing.longestTuple, alignment: 8) { buffer in
            var isSound = true
            let match = near.first(template, order, ids, copiedTo: buffer, &isSound)
            SharedWord64.acquireFence()
            guard isSound, !control.isCut, near.word.loadRelaxed() == word else { return nil }
            guard let match else { return .nothing }
            match.lend(to: borrow)
            return .match(match.id)
        }
    }

    /// The ring's word, and whether there may be tuples in the ring, and marks.
    @inline(__always)
    package var nearState: (word: UInt64, mayHaveTuples: Bool, mayHaveMarks: Bool) {
        guard let near else { return (0, false, false) }
        let word = near.word.load()
        return (word, near.head.loadRelaxed() != near.tail.loadRelaxed(), near.marks.count > 0)
    }

    /// Whether it is known that nothing is claimed and that nothing expires, in LMDB as of its last commit and here.
    package var hasNothingToReturn: Bool {
        absences.hasNothingToReturn(asOf: lastCommit) && !(near?.hasClaims ?? false)
    }

    /// Notes what the tables' counters say, so that a look that finds nothing need not read them again.
    package func noteCounters(_ counters: Counters, of snapshot: Snapshot) {
        guard counters.claimed == 0, counters.expiring == 0 else { return }
        absences.noteNothingToReturn(asOf: snapshot.commit)
    }

    /// Notes that a search has found no match of a template in LMDB's tables.
    package func noteAbsence(_ template: TemplateForm, _ search: Search) throws(SpaceError) {
        guard near != nil, search.isAbsent else { return }
        if try search.hasSeenNoVisible(template) {
            absences.noteEmpty(asOf: search.snapshot.commit, floor: try search.snapshot.nearBounds().next)
        } else if search.examinedVisible == 0, search.shapes.index(for: template.shape)?.watermark == 0 {
            absences.note(template, asOf: search.snapshot.commit, floor: try search.snapshot.nearBounds().next)
        }
    }
}
