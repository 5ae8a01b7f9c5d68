import LMDB
import SpaceSystem
import TupleCoding

/// Writing, taking and reading in the near end, without a transaction.
///
/// Each of these functions may answer that it can't tell or can't do it; the caller then goes the way through LMDB.
extension Engine {
    /// What a look at the near end without the gate has found.
    package enum NearSight {
        /// The first match, the tables included.
        case match(Match)
        /// There was no match, neither here nor in the tables.
        case nothing
        /// The tables have to be searched.
        case unknown
    }

    /// How often a reader looks again because a writer has changed the ring meanwhile.
    private static let looks = 16

    /// What an attempt to write into the ring has come to.
    private enum Placing {
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
        return !near.isEmpty && placePolicy.isDue() ? try waitForPlace(near, tuple) : nil
    }

    /// Writes a tuple into the ring if it has a place; a writer that waits is noted if it has none.
    @inline(__always)
    private func place(_ tuple: EncodedTuple, in near: NearRing, isWaiting: Bool) throws(SpaceError) -> Placing {
        try underGate { () throws(SpaceError) in
            if near.allowed.loadRelaxed() == 0 { try makeRoom(near) }
            guard !isSomethingDue(near) else { return .refused }
            guard let id = near.append(tuple, .now(scope.process), control.sequence) else {
                guard near.isFull else { return .refused }
                if near.allowed.loadRelaxed() >= UInt64(recordsAsked) { askForMore() }
                return .full(isWaiting ? near.awaitPlace() : 0)
            }
            lastWriter.note(gate)
            // The waiter's side is: publish, fence, look. The writer's side is: commit, fence, scan.
            SharedWord64.fence()
            if slots.isAnybodyWaiting {
                var appearance = Appearance(tuple)
                slots.grant(id, &appearance, into: wakes)
            }
            CrashPoint.reach(.granted)
            if control.isCut { try checkUsable() }
            return .written(id)
        }
    }

    /// Waits for a full ring to have a place, while takers come and make progress; `nil` if they don't.
    ///
    /// Takers are several times as quick with tuples in the ring as with those in LMDB. So a writer that is quicker than
    /// the takers does better to let them go first than to move their tuples to LMDB. That takes about as long as the
    /// commit that would move them: longer would be too long if no taker comes, and shorter would be too short for one
    /// that has just been woken. A taker may also have to empty the tables first, which shows in LMDB's commits.
    ///
    /// The writer spins for a taker on another processor, and otherwise sleeps until half of the ring is free. That may
    /// never happen: no taker comes, or each works on its job for an hour, or the oldest tuple is one that no taker
    /// wants, or a taker is killed or stopped before it wakes the writer. So the sleep has a limit.
    @inline(never)
    private func waitForPlace(_ near: NearRing, _ tuple: EncodedTuple) throws(SpaceError) -> UInt64? {
        if near.isTakerApart {
            _ = Spin.wait(for: Self.spinForPlace, while: { near.isTakerApart }, until: { near.mayHavePlace })
        }
        let start = MonotonicInstant.now
        var (lastSign, signs) = (start, signsOfTakers(near))
        while true {
            let heard: UInt32
            switch try place(tuple, in: near, isWaiting: true) {
            case .written(let id):
                placePolicy.note(isAnswered: true)
                return id
            case .refused: return nil
            case .full(let word): heard = word
            }
            let (now, seen) = (MonotonicInstant.now, signsOfTakers(near))
            if seen != signs { (lastSign, signs) = (now, seen) }
            let end = min(
                start.advanced(by: Self.patienceForPlace),
                lastSign.advanced(by: Self.patienceForTaker)
            )
            guard now < end else {
                placePolicy.note(isAnswered: false)
                return nil
            }
            // The only possible errors are a bad address and a bad time; even then the thread looks again.
            _ = try? near.placeFutex.wait(while: heard, until: end)
        }
    }

    /// Numbers that change when a taker makes progress while the ring is full.
    ///
    /// The ring's head is no such number: it stands still while its tuple is claimed, or one that no taker wants.
    private func signsOfTakers(_ near: NearRing) -> (UInt64, Int) { (near.lastChange, environment.lastTransaction) }

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

    /// A taker takes some tuples in this time.
    private static let spinForPlace = Duration.microseconds(5)
    /// How long a writer waits for a sign of a taker, and how long for a place.
    private static let patienceForTaker = Duration.microseconds(100)
    private static let patienceForPlace = Duration.milliseconds(1)

    /// Makes sure of the disk space for moving records to LMDB: for a full ring, or for fewer records.
    ///
    /// It holds until a commit of LMDB takes over all records. If there is no space even for the fewest, the tuple is
    /// written to LMDB, and that write says what is missing. In a young data file it asks for few, and for more each time that
    /// these were full.
    @inline(never)
    private func makeRoom(_ near: NearRing) throws(SpaceError) {
        guard near.isEmpty else { return }
        let reader = try lendReader(holdsGate: true)
        defer { takeBack(reader) }
        let snapshot = snapshot(of: reader)
        let counters = try snapshot.counters()
        let due = try snapshot.earliestDue(counters)
        let shapes = try shapeCache.table(of: snapshot).indexed.count
        let most = diskReserve.isYoung ? recordsAsked : NearRing.capacity
        for count in NearRing.counts where count <= most {
            let bytes = min(count * NearRing.longestTuple, NearRing.contentSize)
            let all = Tables.bytes(ofTuples: count, content: bytes, shapes: shapes)
            let isPromised = scope.meter.promise(
                tuples: count,
                bytes: all,
                shapes: shapes,
                slack: NearRing.slackPages(count),
                reader.transaction.access
            )
            guard isPromised else { continue }
            let end = environment.info.lastPage + 1
            return near.allow(count, end: end, nextNumber: counters.nextNumber, due: due)
        }
    }

    private func askForMore() { recordsAsked = NearRing.counts.last { $0 > recordsAsked } ?? recordsAsked }

    /// Whether a commit of LMDB is due, which removes or returns what has expired.
    @inline(__always)
    private func isSomethingDue(_ near: NearRing) -> Bool {
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
        guard let near, terms.deadline == nil else { return nil }
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
        // A claim does not come back from LMDB into the ring, so without the gate a look at the bounds is enough.
        guard let near, near.mayCover(id) else { return false }
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            guard let holder = near.holder(of: id, claim: number),
                ClaimHolder(raw: holder).mayBeEnded(by: session)
            else { return false }
            remove(id, from: near)
            return true
        }
    }

    /// Looks for the first match without the gate and without a snapshot of LMDB.
    ///
    /// It can tell only if it is known that LMDB has no match as of its last commit, and that commit is still the last
    /// one afterwards.
    ///
    /// A match is a copy on the stack, which is lent to `borrow`.
    package func lookNear(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ borrow: (Match) -> Void
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
        _ borrow: (Match) -> Void
    ) -> NearSight {
        for _ in 0..<Self.looks {
            let word = near.word.load()
            let commit = environment.lastTransaction
            let (head, tail) = (near.head.loadRelaxed(), near.tail.load())
            guard let floor = absences.floor(template, asOf: commit), near.isSound(head, tail) else { return .unknown }
            var isSound = true
            let match = near.first(template, order, min(max(head, floor), tail)..<tail, copiedTo: buffer, &isSound)
            SharedWord64.acquireFence()
            guard near.word.loadRelaxed() == word, environment.lastTransaction == commit else { continue }
            guard isSound, !control.isCut else { return .unknown }
            guard let match else { return .nothing }
            return .match(match.lend(to: borrow))
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
            guard isSound, near.word.loadRelaxed() == word else { return nil }
            guard let match else { return .nothing }
            return .match(match.lend(to: borrow))
        }
    }

    /// The ring's word, and whether the ring may have tuples.
    @inline(__always)
    package var nearState: (word: UInt64, mayHaveTuples: Bool) {
        guard let near else { return (0, false) }
        let word = near.word.load()
        return (word, near.head.loadRelaxed() != near.tail.loadRelaxed())
    }

    /// Whether it is known that nothing is claimed and that nothing expires, in LMDB as of its last commit and here.
    package var hasNothingToReturn: Bool {
        absences.hasNothingToReturn(asOf: environment.lastTransaction) && !(near?.hasClaims ?? false)
    }

    /// Notes what the tables' counters say, so that a look that finds nothing need not read them again.
    package func noteCounters(_ counters: Counters, of snapshot: Snapshot) {
        guard counters.claimed == 0, counters.expiring == 0 else { return }
        absences.noteNothingToReturn(asOf: snapshot.commit)
    }

    /// Notes that a search has found no match of a template in LMDB's tables.
    package func noteAbsence(_ template: TemplateForm, _ search: Search) throws(SpaceError) {
        guard near != nil, search.isAbsent else { return }
        if try search.snapshot.tuples.count == 0 {
            absences.noteEmpty(asOf: search.snapshot.commit, floor: try search.snapshot.floor())
        } else if search.examined == 0, search.shapes.index(for: template.shape)?.watermark == 0 {
            absences.note(template, asOf: search.snapshot.commit, floor: try search.snapshot.floor())
        }
    }

    /// Renews a reader's snapshot, and copies the near end beside it, so that both show one moment.
    ///
    /// If it throws, the reader is back in the pool, or dropped.
    ///
    /// The word may be odd, because a writer is in the middle of a change, or is stopped there. Each of a change's
    /// stores leaves a state that may be seen. So two equal words are enough: at most one change has moved between them.
    @inline(__always)
    func renewBoth(_ near: NearRing, _ reader: Reader, holdsGate: Bool) throws(SpaceError) {
        if try !renewAndCopy(near, reader, holdsGate: holdsGate) { try renewAgain(near, reader, holdsGate: holdsGate) }
    }

    /// Makes one attempt; if the result is `false`, the reader has a snapshot.
    @inline(__always)
    private func renewAndCopy(_ near: NearRing, _ reader: Reader, holdsGate: Bool) throws(SpaceError) -> Bool {
        let word = near.word.load()
        try renew(reader, holdsGate: holdsGate)
        do throws(SpaceError) {
            return try reader.near.pointee.copy(near, since: word) { () throws(SpaceError) in
                // A commit may have taken records over that are still here.
                let snapshot = Snapshot(access: reader.transaction.access, tables: tables, clock: clock)
                return try snapshot.floor()
            }
        } catch {
            takeBack(reader)
            throw error
        }
    }

    @inline(never)
    private func renewAgain(_ near: NearRing, _ reader: Reader, holdsGate: Bool) throws(SpaceError) {
        for _ in 0..<Self.looks {
            reader.transaction.reset()
            if try renewAndCopy(near, reader, holdsGate: holdsGate) { return }
        }
        reader.transaction.reset()
        var isDone = false
        var isLent = true
        do throws(SpaceError) {
            // Writers are too quick.
            let look = { () throws(SpaceError) in
                isLent = false
                isDone = try self.renewAndCopy(near, reader, holdsGate: true)
            }
            if holdsGate { try look() } else { try underGate(look) }
        } catch {
            if isLent { readers.put(reader) }
            throw error
        }
        if isDone { return }
        takeBack(reader)
        throw .damaged(NearRing.nonsense)
    }
}
