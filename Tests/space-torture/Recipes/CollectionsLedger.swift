import Glibc
import SpaceSystem

/// The edits that editors of an ordered set noted before and after making them, and the states that observers noted:
/// memory of all processes of a run, which a kill leaves as it was at that instant.
///
/// Each editor's place has a list of edits, which its lives fill one after the other. An editor notes an edit with its
/// elements before it makes the edit, and its outcome afterwards. So a killed life leaves at most its last edit open.
struct CollectionsLedger: Sendable {
    static let name = "collections"
    /// The number of edits of each editor's place in a round.
    static let edits = 1 << 13
    static let samples = 1 << 17
    static let observers = 3
    /// More elements than an ordered set of the torture ever has.
    static let longestCopy = 1 << 13

    let editors: Int
    private let memory: SharedMemory

    private static let editSize = 64
    private static let header = 64 * 64
    private static let counts = 256 * 8
    private static let copySize = 16 + longestCopy * 4
    private static let editStart = header + counts
    private let sampleStart: Int
    private let copyStart: Int

    init(editors: Int) throws {
        self.editors = editors
        sampleStart = Self.editStart + editors * Self.edits * Self.editSize
        copyStart = sampleStart + Self.samples * 16
        memory = try SharedMemory(size: copyStart + 2 * Self.copySize)
    }

    private func word(_ index: Int) -> SharedWord64 { memory.word64(index * 64) }

    // Words of the whole run.
    var kills: SharedWord64 { word(0) }
    var observerKills: SharedWord64 { word(1) }
    var acknowledged: SharedWord64 { word(2) }
    var changesTold: SharedWord64 { word(3) }
    var resumed: SharedWord64 { word(4) }
    var failures: SharedWord64 { word(5) }
    /// Changes that did not fit an observer's copy, or came out of order, or were missing.
    var misfits: SharedWord64 { word(6) }
    /// Copies that differed from the ordered set.
    var differing: SharedWord64 { word(7) }
    var compared: SharedWord64 { word(8) }
    var rounds: SharedWord64 { word(9) }
    var lost: SharedWord64 { word(10) }
    var doubled: SharedWord64 { word(11) }
    var unmade: SharedWord64 { word(12) }
    var unexplained: SharedWord64 { word(13) }
    var indeterminate: SharedWord64 { word(14) }
    var damage: SharedWord64 { word(15) }

    // Words of a round.
    /// Set once there is an ordered set to be observed.
    var start: SharedWord64 { word(20) }
    var ready: SharedWord64 { word(21) }
    var stop: SharedWord64 { word(22) }
    /// Set once the last edit of the round was made: an observer that begins now lives to the end.
    var ending: SharedWord64 { word(23) }
    private var nextElement: SharedWord64 { word(24) }
    private var sampleCount: SharedWord64 { word(25) }
    /// Which of the two places has the copy for the observer that resumes; 0: neither.
    private var copyPlace: SharedWord64 { word(26) }

    func beginRound() {
        for index in 20..<32 { word(index).store(0) }
        for editor in 0..<editors { editCount(editor).store(0) }
    }

    /// Returns elements that were never used before; 0 is the one that ends a round.
    func newElements(_ count: Int) -> [Int] {
        let first = Int(nextElement.add(UInt64(count))) + 1
        return Array(first..<first + count)
    }

    // MARK: Edits

    enum Kind: UInt32 { case insert = 1, remove, subtract, replace, move, exchange, sort, renew }

    enum Outcome: UInt32 {
        /// The edit was begun; whether it was made is not known.
        case open
        case made
        /// There was nothing to do, or the edit was refused: nothing has changed.
        case nothing
        /// The edit was acknowledged, and may have found nothing to do, or done a part.
        case perhaps
    }

    struct Edit {
        let pid: Int32
        let kind: Kind
        let elements: [Int]
        let outcome: Outcome
    }

    static let mostElements = 12

    private func editCount(_ editor: Int) -> SharedWord64 { memory.word64(Self.header + editor * 8) }

    private func edit(_ editor: Int, _ index: Int) -> UnsafeMutablePointer<UInt32> {
        let offset = Self.editStart + (editor * Self.edits + index) * Self.editSize
        return (memory.base + offset).assumingMemoryBound(to: UInt32.self)
    }

    /// Notes an edit that an editor is about to make.
    ///
    /// Returns: The edit; `nil` when the round's list is full.
    func begin(_ editor: Int, _ kind: Kind, _ elements: [Int]) -> Int? {
        let index = Int(editCount(editor).load())
        guard index < Self.edits else { return nil }
        let place = edit(editor, index)
        place[0] = kind.rawValue
        place[1] = Outcome.open.rawValue
        place[2] = UInt32(bitPattern: getpid())
        place[3] = UInt32(min(elements.count, Self.mostElements))
        for (offset, element) in elements.prefix(Self.mostElements).enumerated() { place[4 + offset] = UInt32(element) }
        editCount(editor).store(UInt64(index + 1))
        return index
    }

    func end(_ editor: Int, _ index: Int, _ outcome: Outcome) {
        SharedWord32(at: edit(editor, index) + 1).store(outcome.rawValue)
        if outcome != .nothing { _ = acknowledged.add(1) }
    }

    /// The edits of an editor's lives, in order.
    func edits(of editor: Int) -> [Edit] {
        (0..<Int(editCount(editor).load())).compactMap { index in
            let place = edit(editor, index)
            guard let kind = Kind(rawValue: place[0]), let outcome = Outcome(rawValue: place[1]) else { return nil }
            let elements = (0..<Int(place[3])).map { Int(place[4 + $0]) }
            return Edit(pid: Int32(bitPattern: place[2]), kind: kind, elements: elements, outcome: outcome)
        }
    }

    // MARK: States that observers saw

    /// Notes the state of an observer's copy after a change.
    func sample(_ sequence: UInt64, _ copy: [Int]) {
        let index = Int(sampleCount.add(1))
        guard index < Self.samples else { return }
        memory.word64(sampleStart + index * 16 + 8).store(Self.hash(copy))
        // Written last: until then there is no sample.
        memory.word64(sampleStart + index * 16).store(sequence)
    }

    func takeSamples() -> [(sequence: UInt64, hash: UInt64)] {
        (0..<min(Int(sampleCount.load()), Self.samples)).compactMap { index in
            let sequence = memory.word64(sampleStart + index * 16).exchange(0)
            return sequence == 0 ? nil : (sequence, memory.word64(sampleStart + index * 16 + 8).load())
        }
    }

    static func hash(_ copy: [Int]) -> UInt64 {
        copy.reduce(UInt64(copy.count)) { ($0 ^ UInt64(truncatingIfNeeded: $1)) &* 0x9E37_79B9_7F4A_7C15 &+ $0 >> 29 }
    }

    /// Keeps the copy of an observer that may be killed and resumed, beside the copy before, so that one of the two is
    /// always whole.
    func keep(_ copy: [Int], at sequence: UInt64) {
        guard copy.count <= Self.longestCopy else { return }
        let place = copyPlace.load() == 1 ? 2 : 1
        let offset = copyStart + (place - 1) * Self.copySize
        memory.word64(offset).store(sequence)
        memory.word64(offset + 8).store(UInt64(copy.count))
        for (index, element) in copy.enumerated() { memory.word32(offset + 16 + index * 4).store(UInt32(element)) }
        copyPlace.store(UInt64(place))
    }

    /// The copy of the killed observer; `nil` if it had kept none.
    func keptCopy() -> (sequence: UInt64, copy: [Int])? {
        let place = Int(copyPlace.load())
        guard place > 0 else { return nil }
        let offset = copyStart + (place - 1) * Self.copySize
        let count = Int(memory.word64(offset + 8).load())
        return (
            memory.word64(offset).load(),
            (0..<count).map { Int(memory.word32(offset + 16 + $0 * 4).load()) }
        )
    }
}
