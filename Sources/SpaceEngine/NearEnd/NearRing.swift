import Glibc
package import SpaceSystem
import TupleCoding

/// The newest tuples of a `.fast` namespace, in the control file, in front of LMDB.
///
/// Guarantees: a tuple is written, taken and claimed by one store each, and a claim is completed by one store. So a
/// process that is killed between any two instructions leaves each change either made or not. No tuple is in the ring
/// and in LMDB at once for a reader that follows the rules below. No id and no claim's number is used twice.
///
/// - Everything is changed under the gate. A record's position is its tuple's id, and `tail` is the next id. The ids
///   below `head` are in LMDB, or gone.
/// - `word` is odd while something is changed, and even otherwise. It only rises. A reader without the gate reads an
///   even word, reads what it wants to know, and reads the word again: if that is the same, what it has read was the
///   state of one moment.
/// - A commit of LMDB takes all records over (`WriteScope.takeOver`), and its row of counters has the next id. After the
///   commit, still under the gate, `head` becomes `tail`. A process killed between the two leaves records that are in
///   LMDB too: a reader leaves out the ids below the next id of its snapshot's counters, and the next holder of the gate
///   moves the head (`Engine.recover`).
/// - A commit that only takes a tuple from LMDB leaves the records, and the counters' next id, as they are, for some
///   times: otherwise a queue that was once long would never come back into the ring.
/// - So all ids in the ring are higher than those in LMDB, and "the oldest first" is: LMDB, then the ring.
/// - A claim's holder and number are stored before the word that commits it. A claim ends by its tuple's id and its
///   number: in the ring if it is completed, and otherwise in LMDB, where a commit has taken it over.
///
/// (If the next id were stored apart from the tail, a kill between the two stores would use an id twice. If a reader
/// compared only the head, it would see half of a record. `tools/model/check nearend` finds these runs and others.)
///
/// A second `NearRing` reads a copy of this memory (`NearView`).
///
/// Unchecked Sendable: the words are atomic, and the other bytes are written under the gate; what is read of them
/// without the gate counts only if the word proves it.
package struct NearRing: @unchecked Sendable {
    // Layout, in bytes.
    private static let headerSize = 128
    private static let claimsOffset = headerSize + capacity * NearRecord.size
    private static let marksOffset = claimsOffset + capacity * NearClaim.size
    private static let contentOffset = (marksOffset + NearMarks.byteCount + 63) / 64 * 64
    /// The bytes that the ring takes in the control file: whole pages.
    static let byteCount = (contentOffset + contentSize + 4095) / 4096 * 4096

    /// How many records there are.
    package static let capacity = 256
    /// For how many records disk space is asked, until there is enough.
    static let counts = [capacity, 32, 8, fewest]
    package static let fewest = 2
    /// How many bytes the records' tuples have together.
    static let contentSize = 64 << 10
    /// How many commits may leave records here, and how many pages they may add, before a commit has to take them over.
    private static let mostKept: UInt32 = 128
    private static func mostPagesKept(_ count: Int) -> Int { count / 2 }
    /// The pages that these commits may add while `count` records may be here, together with the list of free pages.
    static func slackPages(_ count: Int) -> Int { 2 * mostPagesKept(count) }
    /// The longest tuple for which the ring is used.
    package static let longestTuple = 1024

    private let base: UnsafeMutableRawPointer

    init(at base: UnsafeMutableRawPointer) { self.base = base }

    /// Memory for a copy, which its owner frees.
    static func allocate() -> NearRing {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
        memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        return NearRing(at: memory)
    }

    func free() { base.deallocate() }

    // MARK: The header

    @inline(__always)
    private func word64(_ offset: Int) -> SharedWord64 {
        SharedWord64(at: (base + offset).assumingMemoryBound(to: UInt64.self))
    }

    @inline(__always)
    private func word32(_ offset: Int) -> SharedWord32 {
        SharedWord32(at: (base + offset).assumingMemoryBound(to: UInt32.self))
    }

    /// Odd while something is changed.
    @inline(__always)
    var word: SharedWord64 { word64(0) }

    /// The first id that may have a record.
    @inline(__always)
    var head: SharedWord64 { word64(8) }

    /// The next id.
    @inline(__always)
    var tail: SharedWord64 { word64(16) }

    /// How many records there may be at once, because there is disk space for moving that many to LMDB; 0 after each
    /// commit that has taken them over.
    @inline(__always)
    var allowed: SharedWord64 { word64(24) }

    /// Not 0 while no tuple may be written here.
    @inline(__always)
    var off: SharedWord32 { word32(32) }

    /// How many records are not used: tests use few records, and few marks, so that these are full all the time.
    @inline(__always)
    package var unused: SharedWord32 { word32(36) }

    /// The number of the ring's last change.
    ///
    /// It rises only while the word is odd, so what a look has read of it belongs to the records that it has read. (The
    /// control file's number also rises with LMDB's commits, and may be of a later one than a reader's snapshot.)
    @inline(__always)
    var sequence: SharedWord64 { word64(40) }

    /// The disk space holds until the data file's pages reach this one, or until `mostKept` commits.
    @inline(__always)
    private var promisedEnd: SharedWord64 { word64(48) }

    /// How many commits have left the records here since the disk space was promised.
    @inline(__always)
    private var kept: SharedWord32 { word32(56) }

    /// The number of the next claim.
    @inline(__always)
    var nextNumber: SharedWord64 { word64(64) }

    /// The earliest time at which something in LMDB expires, on the namespace's clock; 0 if nothing does.
    ///
    /// From then on each operation goes through LMDB, until a commit has removed or returned what is due.
    @inline(__always)
    private var due: SharedWord64 { word64(72) }

    /// The word on which writers sleep that wait for a place: raised by a change that leaves at most half in use.
    @inline(__always)
    var place: SharedWord32 { word32(80) }

    /// Not 0 if a writer may sleep on `place`.
    ///
    /// The process that raises `place` clears it. It is not a count of sleepers, so a writer that is killed in its sleep
    /// leaves nothing to undo.
    @inline(__always)
    private var isPlaceAwaited: SharedWord32 { word32(84) }

    /// The number of the processor on which a tuple was last removed here (`Spin.processor`).
    @inline(__always)
    private var taker: SharedWord32 { word32(88) }

    /// What was taken and claimed of the tuples in LMDB.
    @inline(__always)
    var marks: NearMarks { NearMarks(at: base + Self.marksOffset) }

    // MARK: Reading

    @inline(__always)
    func record(_ id: UInt64) -> NearRecord {
        NearRecord(base + Self.headerSize + Int(id % UInt64(Self.capacity)) * NearRecord.size)
    }

    /// Who has claimed the tuple of a record, if it is claimed.
    @inline(__always)
    func claim(of id: UInt64) -> NearClaim {
        NearClaim(base + Self.claimsOffset + Int(id % UInt64(Self.capacity)) * NearClaim.size)
    }

    /// The tuple of a record; `nil` if the record's numbers don't fit the ring, as in a torn or damaged one.
    @inline(__always)
    func tuple(of record: NearRecord) -> EncodedTuple? {
        let (start, length) = (Int(record.position % UInt64(Self.contentSize)), Int(record.length))
        guard length <= Self.longestTuple, start + length <= Self.contentSize else { return nil }
        let bytes = UnsafeRawBufferPointer(start: base + Self.contentOffset + start, count: length)
        return EncodedTuple(bytes: bytes, isRecord: record.isRecord)
    }

    /// The place of a record's tuple, like `tuple(of:)`.
    func content(of record: NearRecord) -> UnsafeMutableRawBufferPointer? {
        guard let tuple = tuple(of: record) else { return nil }
        let start = Int(record.position % UInt64(Self.contentSize))
        return UnsafeMutableRawBufferPointer(start: base + Self.contentOffset + start, count: tuple.bytes.count)
    }

    /// Whether there are no records; under the gate.
    @inline(__always)
    var isEmpty: Bool { head.loadRelaxed() == tail.loadRelaxed() }

    /// Whether a tuple is in the ring, and visible; under the gate.
    @inline(__always)
    func contains(_ id: UInt64) -> Bool { covers(id) && record(id).isPresent(id) }

    /// The holder of the claim with this number on a tuple of the ring, or `nil` if there is no such claim; under the
    /// gate.
    @inline(__always)
    func holder(of id: UInt64, claim number: UInt64) -> UInt64? {
        guard covers(id), record(id).isClaimed(id) else { return nil }
        let claim = claim(of: id)
        return claim.number == number ? claim.holder : nil
    }

    /// Whether an id of the past may have a record: asked without the gate, when the bounds may be of two moments.
    ///
    /// The ring's head does not pass a tuple that is claimed, so a claim in the ring always has a record here.
    @inline(__always)
    func mayCover(_ id: UInt64) -> Bool { id >= head.loadRelaxed() && id < tail.loadRelaxed() }

    /// Whether the ring's bounds have an id between them; under the gate.
    @inline(__always)
    private func covers(_ id: UInt64) -> Bool {
        let (head, tail) = (head.loadRelaxed(), tail.loadRelaxed())
        return isSound(head, tail) && id >= head && id < tail
    }

    /// Whether a record or a mark may be a claim; without the gate, this is so of some moment during the call.
    var hasClaims: Bool {
        if marks.claims(among: marks.count) > 0 { return true }
        let (head, tail) = (head.loadRelaxed(), tail.loadRelaxed())
        guard isSound(head, tail) else { return true }
        return (head..<tail).contains { record($0).isClaimed($0) }
    }

    /// Whether the ring's numbers are possible; only damage can make them impossible.
    @inline(__always)
    func isSound(_ head: UInt64, _ tail: UInt64) -> Bool {
        head <= tail && tail &- head <= UInt64(Self.capacity) && tail < 1 << 48
    }

    /// The number of the ring's last change, or 0 if the word is damaged.
    var lastChange: UInt64 { sequence.loadRelaxed().orZeroIfDamaged }

    /// The number of the next claim, or 0 if the word is damaged.
    var nextClaimNumber: UInt64 { nextNumber.loadRelaxed().orZeroIfDamaged }

    /// The earliest time at which something in LMDB expires; `nil` if nothing did as of the last commit.
    @inline(__always)
    var earliestDue: Int64? {
        let due = due.loadRelaxed()
        return due == 0 ? nil : Int64(clamping: due)
    }

    // MARK: Changing, under the gate

    /// Runs `change` while the word is odd.
    @inline(__always)
    func changing(_ change: () -> Void) {
        let even = word.loadRelaxed()
        word.storeRelaxed(even | 1)
        SharedWord64.releaseFence()
        change()
        word.store((even | 1) &+ 1)
    }

    /// Gives a change its number, before the store that commits it.
    @inline(__always)
    func raise(_ last: SharedWord64) {
        let number = last.loadRelaxed() &+ 1
        sequence.storeRelaxed(number)
        last.storeRelaxed(number)
    }

    /// Adds a tuple, and raises the number of changes, of which `last` is the last; `nil` if it has no place here.
    @inline(__always)
    func append(_ tuple: EncodedTuple, _ origin: Origin, _ last: SharedWord64) -> UInt64? {
        let (head, id) = (head.loadRelaxed(), tail.loadRelaxed())
        let length = tuple.bytes.count
        guard off.loadRelaxed() == 0, length <= Self.longestTuple, isSound(head, id),
            id &- head < allowed.loadRelaxed(),
            id &- head &+ UInt64(unused.loadRelaxed()) < UInt64(Self.capacity), id < 1 << 48 - 1,
            let position = place(length, head, id)
        else { return nil }
        let record = record(id)
        changing {
            record.fill(id, tuple, origin, position)
            let start = Int(position % UInt64(Self.contentSize))
            let content = UnsafeMutableRawBufferPointer(start: base + Self.contentOffset + start, count: length)
            content.copyMemory(from: tuple.bytes)
            raise(last)
            CrashPoint.reach(.nearFilled)
            // This store commits.
            tail.store(id + 1)
            CrashPoint.reach(.nearWritten)
        }
        return id
    }

    /// Whether there may be a place for one more; asked before the gate is taken.
    @inline(__always)
    var mayHavePlace: Bool {
        let used = tail.loadRelaxed() &- head.loadRelaxed() &+ UInt64(unused.loadRelaxed())
        return off.loadRelaxed() == 0 && used < UInt64(Self.capacity)
    }

    /// Whether `append` has found no place because of what is in the ring; under the gate.
    var isFull: Bool { off.loadRelaxed() == 0 && allowed.loadRelaxed() != 0 && !isEmpty }

    /// Whether a taker last ran on another processor than this thread runs on.
    var isTakerApart: Bool { Spin.isApart(taker.loadRelaxed()) }

    var placeFutex: Futex { Futex(at: place.address) }

    /// Notes that this thread is about to sleep until there is a place; under the gate, after `append` has found none.
    ///
    /// Places are freed and the word is raised under the gate as well. So either the word rises after this, or there was
    /// a place. (`tools/model/check placing`: if the word is read after the gate's release, a wake-up is lost.)
    ///
    /// - Returns: the value of `place` for the sleep.
    func awaitPlace() -> UInt32 {
        isPlaceAwaited.storeRelaxed(1)
        CrashPoint.reach(.placeAwaited)
        return place.loadRelaxed()
    }

    /// Raises `place` after a change that may have freed places, if a writer waits for one, and at most half of the ring is in
    /// use; under the gate.
    ///
    /// It is not enough to do so only when the half is crossed: the process that crossed it may have been killed.
    ///
    /// - Returns: whether all writers that sleep on `place` have to be woken.
    @inline(__always)
    func raisePlace() -> Bool {
        guard isPlaceAwaited.loadRelaxed() != 0, isHalfFree else { return false }
        raisePlaceNow()
        return true
    }

    @inline(never)
    func raisePlaceNow() {
        isPlaceAwaited.storeRelaxed(0)
        place.add(1)
        CrashPoint.reach(.placeRaised)
    }

    /// Whether at most half is in use, both of the records that there may be and of the bytes.
    private var isHalfFree: Bool {
        let (head, tail) = (head.loadRelaxed(), tail.loadRelaxed())
        guard isSound(head, tail), head < tail else { return true }
        let last = record(tail - 1)
        let bytes = last.position &+ UInt64(last.length) &- record(head).position
        let most = min(allowed.loadRelaxed(), UInt64(max(0, Self.capacity - Int(unused.loadRelaxed()))))
        return tail - head <= most / 2 && bytes <= UInt64(Self.contentSize / 2)
    }

    /// Where the bytes of the next tuple begin; `nil` if there is no room for them.
    @inline(__always)
    private func place(_ length: Int, _ head: UInt64, _ tail: UInt64) -> UInt64? {
        let size = UInt64(Self.contentSize)
        guard head < tail else { return 0 }
        let last = record(tail - 1)
        var position = last.position &+ (UInt64(last.length) + 7) & ~7
        // A tuple's bytes lie together.
        if position % size + UInt64(length) > size { position &+= size &- position % size }
        return position &+ UInt64(length) &- record(head).position <= size ? position : nil
    }

    /// Claims a tuple that the ring contains, and raises the number of changes; `nil` if the numbers are used up, or
    /// damaged.
    @inline(__always)
    func claim(_ id: UInt64, by holder: UInt64, _ last: SharedWord64) -> UInt64? {
        let number = nextClaimNumber
        guard number != 0 else { return nil }
        changing {
            raise(last)
            nextNumber.storeRelaxed(number + 1)
            claim(of: id).fill(holder, number)
            CrashPoint.reach(.nearClaiming)
            // This store commits.
            record(id).markClaimed()
            CrashPoint.reach(.nearClaimed)
        }
        return number
    }

    /// Takes a tuple that the ring contains, or completes a claim on it, and raises the number of changes.
    ///
    /// - `processor`: The number of this thread's processor.
    @inline(__always)
    func remove(_ id: UInt64, _ last: SharedWord64, on processor: UInt32) {
        // Writers read other words of this cache line at each write.
        if taker.loadRelaxed() != processor { taker.storeRelaxed(processor) }
        changing {
            raise(last)
            CrashPoint.reach(.nearTaking)
            // This store commits.
            record(id).markTaken()
            CrashPoint.reach(.nearTaken)
            var first = head.loadRelaxed()
            guard first == id else { return }
            let end = tail.loadRelaxed()
            repeat { first += 1 } while first < end && record(first).isTaken(first)
            head.store(first)
        }
    }

    /// Empties the ring after a commit that has taken over all records: `next` is the next id by its counters.
    @inline(__always)
    func empty(next: UInt64, isOff: Bool) {
        let isOff: UInt32 = isOff ? 1 : 0
        guard
            head.loadRelaxed() != next || tail.loadRelaxed() != next || allowed.loadRelaxed() != 0
                || off.loadRelaxed() != isOff
        else { return }
        changing {
            // The tail first: the head is never beyond it.
            tail.store(next)
            head.store(next)
            allowed.store(0)
            off.store(isOff)
        }
    }

    /// Keeps writers out of the ring, before a commit that begins to journal.
    @inline(__always)
    func turnOff() { if off.loadRelaxed() == 0 { off.store(1) } }

    /// Notes the earliest time at which something expires, before the commit that may make it earlier.
    @inline(__always)
    func noteDue(before commit: Int64) {
        let (old, new) = (due.loadRelaxed(), UInt64(max(0, commit)))
        if new != 0, old == 0 || new < old { due.store(new) }
    }

    /// Notes what a commit has left: the number of the next claim, and the earliest time at which something expires.
    @inline(__always)
    func note(nextNumber number: UInt64, due time: Int64) {
        if nextNumber.loadRelaxed() != number { nextNumber.store(number) }
        let time = UInt64(max(0, time))
        if due.loadRelaxed() != time { due.store(time) }
    }

    /// Allows `count` records at once from now on.
    ///
    /// `end` is the first page after the data file's last one. `number` is the number of the next claim, by the counters
    /// of the last commit, and `time` the earliest time at which something expires, or 0.
    func allow(_ count: Int, end: Int, nextNumber number: UInt64, due time: Int64) {
        promisedEnd.store(UInt64(end + Self.mostPagesKept(count)))
        kept.store(0)
        note(nextNumber: max(nextClaimNumber, number), due: time)
        allowed.store(UInt64(count))
    }

    /// Whether a commit may leave the records here; `end` is as above.
    @inline(__always)
    func mayKeep(end: @autoclosure () -> Int) -> Bool {
        !isEmpty && allowed.loadRelaxed() != 0 && kept.loadRelaxed() < Self.mostKept
            && UInt64(end()) <= promisedEnd.loadRelaxed()
    }

    /// Notes that a commit is about to leave the records here.
    @inline(__always)
    func noteKept() { kept.store(kept.loadRelaxed() &+ 1) }

    /// Repairs what a killed holder of the gate left.
    ///
    /// `next` is the next id, `number` the number of the next claim, and `applied` what was applied of the marks, by the
    /// counters of the last commit. `time` is the earliest time at which something expires, or 0.
    func recover(next: UInt64, nextNumber number: UInt64, applied: UInt64, due time: Int64, isOff: Bool) {
        // Another odd word than the killed holder's: a look may have begun under that, before its commit.
        let old = word.load()
        let odd = old & 1 == 0 ? old &+ 1 : old &+ 2
        word.storeSequential(odd)
        tail.store(max(tail.load(), next))
        head.store(max(head.load(), next))
        allowed.store(0)
        marks.recover(applied)
        note(nextNumber: max(nextClaimNumber, number), due: time)
        off.store(isOff ? 1 : 0)
        word.storeSequential(odd &+ 1)
    }
}

extension UInt64 {
    /// The number, or 0 if it is one that only damage explains.
    ///
    /// The counters of LMDB are refused as damaged from 2⁶² on: a number that gets into them has room to grow.
    @inline(__always)
    fileprivate var orZeroIfDamaged: UInt64 { self < 1 << 61 ? self : 0 }
}
