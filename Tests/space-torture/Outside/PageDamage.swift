import SeededRandom

/// One damage of one page, or of two, and the rows that it may cost.
struct PageDamage: CustomStringConvertible {
    static let pageSize = 4096

    enum Kind: String, CaseIterable { case zeroed, noise, byte, header, swapped, meta }

    let kind: Kind
    let page: Int
    let other: Int
    /// The bytes of the damaged pages, and where they belong.
    let parts: [(offset: Int, bytes: [UInt8])]
    /// How many records the pages hold, at most.
    let records: Int

    var description: String { "page \(page) \(kind)\(kind == .swapped ? " with \(other)" : "")" }

    /// Zeroes that page; `pristine`: the pages in use.
    init(zeroing page: Int, _ pristine: [UInt8]) {
        kind = .zeroed
        (self.page, other) = (page, page)
        parts = [(page * Self.pageSize, [UInt8](repeating: 0, count: Self.pageSize))]
        records = Self.records(Self.bytes(page, pristine), page)
    }

    /// Chooses a page and its damage; `pristine`: the pages in use.
    init(_ round: Round, _ pristine: [UInt8]) {
        let count = pristine.count / Self.pageSize
        func bytes(_ page: Int) -> [UInt8] { Self.bytes(page, pristine) }
        kind = round.one(of: Kind.allCases)
        // Of hundreds of pages two are meta pages, and each of their bytes counts.
        let (first, second) = (round.random(0..<(kind == .meta ? 2 : count)), round.random(0..<count))
        (page, other) = (first, second)
        var changed = bytes(first)
        switch kind {
        case .zeroed: changed = [UInt8](repeating: 0, count: Self.pageSize)
        case .noise: for index in changed.indices { changed[index] = round.random(0..<UInt8.max) }
        case .byte: changed[round.random(0..<Self.pageSize)] ^= round.random(1..<UInt8.max)
        case .header: changed[round.random(0..<(first < 2 ? 152 : 24))] ^= round.random(1..<UInt8.max)
        case .swapped: changed = bytes(second)
        case .meta: changed[round.random(16..<152)] = round.one(of: [0, 1, 65, 255, round.random(0..<UInt8.max)])
        }
        var parts = [(first * Self.pageSize, changed)]
        var records = Self.records(bytes(first), first)
        if kind == .swapped, first != second {
            parts.append((second * Self.pageSize, bytes(first)))
            records += Self.records(bytes(second), second)
        }
        self.parts = parts
        self.records = records
    }

    private static func bytes(_ page: Int, _ pristine: [UInt8]) -> [UInt8] {
        Array(pristine[page * pageSize..<(page + 1) * pageSize])
    }

    /// How many records a page holds: a leaf as many as it has nodes, another page a part of one, a branch none.
    ///
    /// Without a meta page, the last commit's changes may be missing.
    private static func records(_ bytes: [UInt8], _ page: Int) -> Int {
        if page < 2 { return 1 }
        let flags = UInt16(bytes[10]) | UInt16(bytes[11]) << 8
        let lower = Int(bytes[12]) | Int(bytes[13]) << 8
        switch flags {
        case 1: return 0
        case 2: return max(0, (lower - 16) / 2)
        default: return 1
        }
    }
}
