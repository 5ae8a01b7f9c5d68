import SpaceSystem

/// The takes and claims of tuples in LMDB that no commit has applied yet.
///
/// A take or a claim of a tuple in the tables marks it here, by one store, and leaves its rows where they are. One
/// commit applies all marks: it removes the rows of what was taken, and gives what is claimed its rows in `claims`. So a long
/// queue costs one commit for `capacity` takes. A claim that is completed before that commit costs no row but the
/// removal.
///
/// Guarantees: a process that is killed between any two instructions leaves each take and each claim either made or not,
/// and each mark either applied or not.
///
/// - Everything is changed under the gate, while the ring's word is odd. A reader without the gate copies the marks and
///   checks that word, as for the ring's records (`NearView`).
/// - A tuple of the tables is visible if it is not marked. It keeps its id and its place, so whatever is looked for, and in
///   whichever order, is found in the tables.
/// - A commit applies all marks, or the last ones, and its row of counters says so: the generation of the marks, and how many of
///   them are left. After it, one store drops what was applied, and what is left is of the next generation. From before the commit
///   until then the word is odd. A process killed between the two leaves marks that are applied: a reader that finds an odd word
///   leaves them out by its snapshot's counters, and the next holder of the gate drops them.
/// - Nothing else changes a marked tuple's rows: what expires or ends with a holder is not marked, and each
///   transaction that may touch a tuple applies the marks first.
/// - A mark is made in a free place, before the store that commits it, and keeps its place until it is dropped.
///
/// (That the rows are gone does not show that a mark was applied: the same commit may have returned the tuple. If what
/// is left stayed in its generation, the next mark would count as applied. `tools/model/check marking` finds these runs
/// and others.)
struct NearMarks {
    // Layout, in bytes.
    private static let statesOffset = capacity * 8
    private static let holdersOffset = statesOffset + capacity * 4
    private static let numbersOffset = holdersOffset + capacity * 8
    private static let countOffset = numbersOffset + capacity * 8
    private static let headOffset = countOffset + 8
    static let byteCount = headOffset + 32
    /// The low bits of a word that has a number of marks beside a generation.
    private static let countBits: UInt64 = 8
    private static let countMask: UInt64 = 1 << countBits - 1
    /// Such a word is less; one more generation still is a number that the counters may have.
    private static let end: UInt64 = 1 << 60

    /// How many marks there may be.
    static let capacity = 64

    private static let taken: UInt32 = 1
    private static let claimed: UInt32 = 2

    private let base: UnsafeMutableRawPointer

    @inline(__always)
    init(at base: UnsafeMutableRawPointer) { self.base = base }

    @inline(__always)
    private func word(_ offset: Int) -> SharedWord64 {
        SharedWord64(at: (base + offset).assumingMemoryBound(to: UInt64.self))
    }

    @inline(__always)
    private func state(_ place: Int) -> SharedWord32 {
        SharedWord32(at: (base + Self.statesOffset + 4 * place).assumingMemoryBound(to: UInt32.self))
    }

    /// The marks' generation, and how many there are.
    @inline(__always)
    var counted: SharedWord64 { word(Self.countOffset) }

    /// How many marks there are; exact under the gate.
    @inline(__always)
    var count: Int { Self.count(counted.load()) }

    /// Whether the number and the generation are possible; only damage can make them impossible.
    @inline(__always)
    var isSound: Bool {
        let word = counted.load()
        return word & Self.countMask <= UInt64(Self.capacity) && word < Self.end
    }

    @inline(__always)
    private static func count(_ word: UInt64) -> Int { min(Int(word & countMask), capacity) }

    /// How many marks there are that a commit has not applied: `applied` is what its counters say.
    func count(beside applied: UInt64) -> Int { Self.count(countWord, beside: applied) }

    /// The word that has the generation and the number of marks.
    var countWord: UInt64 { counted.load() }

    /// The marks' generation.
    @inline(__always)
    var generation: UInt64 { counted.load() >> Self.countBits }

    /// The least generation of the marks that the commit with these counters has not applied.
    static func generation(applied: UInt64) -> UInt64 { applied >> countBits }

    static func count(_ word: UInt64, beside applied: UInt64) -> Int {
        let (own, others) = (word >> Self.countBits + 1, applied >> Self.countBits)
        return own > others ? count(word) : own < others ? 0 : min(count(word), count(applied))
    }

    /// What the counters of a commit say that leaves the first marks and applies the others.
    func applied(leaving count: Int) -> UInt64 {
        (counted.load() >> Self.countBits + 1) << Self.countBits | UInt64(count)
    }

    @inline(__always)
    func id(_ place: Int) -> UInt64 { word(8 * place).loadRelaxed() }

    @inline(__always)
    func isClaimed(_ place: Int) -> Bool { state(place).load() == Self.claimed }

    /// A claim's holder, as a row of `claims` has it.
    func holder(_ place: Int) -> UInt64 { word(Self.holdersOffset + 8 * place).loadRelaxed() }
    func number(_ place: Int) -> UInt64 { word(Self.numbersOffset + 8 * place).loadRelaxed() }

    /// The place of a tuple's mark, or `nil` if it is not marked.
    @inline(__always)
    func place(of id: UInt64) -> Int? { place(of: id, among: count) }

    @inline(__always)
    func place(of id: UInt64, among count: Int) -> Int? {
        for place in 0..<count where self.id(place) == id { return place }
        return nil
    }

    /// The place of a claim's mark, or `nil` if there is no such claim here.
    func place(of id: UInt64, claim number: UInt64) -> Int? {
        guard let place = place(of: id), isClaimed(place), self.number(place) == number else { return nil }
        return place
    }

    /// How many of the marks are claims.
    func claims(among count: Int) -> Int { (0..<count).count { isClaimed($0) } }

    // MARK: Changing, under the gate, while the ring's word is odd

    /// Makes a mark: of a take if `holder` is `nil`, else of a claim.
    @inline(__always)
    func add(_ id: UInt64, _ holder: UInt64?, number: UInt64) {
        let place = count
        word(8 * place).storeRelaxed(id)
        word(Self.holdersOffset + 8 * place).storeRelaxed(holder ?? 0)
        word(Self.numbersOffset + 8 * place).storeRelaxed(number)
        state(place).storeRelaxed(holder == nil ? Self.taken : Self.claimed)
        CrashPoint.reach(.marking)
        // This store commits.
        counted.store(counted.loadRelaxed() + 1)
        CrashPoint.reach(.marked)
    }

    /// Completes the claim of a mark.
    @inline(__always)
    func complete(_ place: Int) { state(place).store(Self.taken) }

    /// Drops what a commit has applied, as its counters say it.
    func drop(_ applied: UInt64) { counted.store(applied) }

    /// Continues after the generation that a commit's counters name, if there is no mark.
    ///
    /// The counters may have come from another namespace, with a backup or a log. Its generations would be taken for those of
    /// the next marks here.
    @inline(__always)
    func goOn(behind applied: UInt64) {
        let word = counted.loadRelaxed()
        guard word & Self.countMask == 0, applied >> Self.countBits > word >> Self.countBits else { return }
        counted.store(applied & ~Self.countMask)
    }

    /// Drops the marks that a commit has applied, if a killed holder of the gate did not do so.
    func recover(_ applied: UInt64) {
        // A commit of this number may come again, after a crash of the machine.
        word(Self.headOffset).store(0)
        guard applied >> Self.countBits > counted.load() >> Self.countBits else { return }
        let count = count(beside: applied)
        counted.store(applied & ~Self.countMask | UInt64(count))
    }

    /// Copies other marks; `isStill`: the ring's word is even, and so nothing is being changed if it stays the same.
    func copy(_ other: NearMarks, isStill: Bool) {
        // The number is copied first: then that many marks are whole.
        counted.storeRelaxed(other.counted.load())
        base.copyMemory(from: other.base, byteCount: Self.countOffset)
        let head = Self.headOffset
        (base + head).copyMemory(from: other.base + head, byteCount: Self.byteCount - head)
        // Its four words belong together.
        if !isStill { word(head).storeRelaxed(0) }
    }

    // MARK: Where the next look begins

    /// The first tuple by an index's shape and hash that may be visible, as of a commit: all older ones are marked, or
    /// claimed in the tables.
    ///
    /// It spares a take the walk past what was taken. It is stored after the mark that makes it true.
    @inline(__always)
    func head(ofShape shape: UInt16, _ hash: UInt64, asOf commit: Int) -> UInt64 {
        guard word(Self.headOffset).loadRelaxed() == UInt64(truncatingIfNeeded: commit),
            word(Self.headOffset + 8).loadRelaxed() == hash,
            word(Self.headOffset + 16).loadRelaxed() == UInt64(shape)
        else { return 0 }
        return word(Self.headOffset + 24).loadRelaxed()
    }

    @inline(__always)
    func noteHead(_ id: UInt64, ofShape shape: UInt16, _ hash: UInt64, asOf commit: Int) {
        // While the words are of two keys, they are of no commit.
        word(Self.headOffset).store(0)
        word(Self.headOffset + 8).store(hash)
        word(Self.headOffset + 16).store(UInt64(shape))
        word(Self.headOffset + 24).store(id)
        word(Self.headOffset).store(UInt64(truncatingIfNeeded: commit))
    }
}
