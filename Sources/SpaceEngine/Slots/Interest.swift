import TupleCoding

/// What a waiter waits for, in 16 bytes that a writer can compare without reading the template: enough to skip most
/// waiters that can't match, never one that can.
///
/// Types, ranges and patterns can't be seen here.
///
/// A shape of field tuples is its arity and the mask of its bound positions; the hash is the sum of the bound fields'
/// hashes. For records the hash is that of one bound name and value, so that no table of shapes is needed between the
/// processes.
struct Interest: Equatable, Sendable {
    var selector: UInt64
    var hash: UInt64

    enum Form: UInt64, Sendable { case none, anything, fields, record, cell, hold }

    fileprivate static let taking: UInt64 = 1 << 63
    private static let hashed: UInt64 = 1 << 62
    private static let maskBits: UInt64 = 48
    private static let largestArity = 0x3FF

    init(selector: UInt64, hash: UInt64) {
        self.selector = selector
        self.hash = hash
    }

    private init(_ form: Form, arity: Int = 0, mask: UInt64 = 0, hash: UInt64?, isTaking: Bool) {
        selector = form.rawValue << 58 | UInt64(arity) << Self.maskBits | mask
        if isTaking { selector |= Self.taking }
        if hash != nil { selector |= Self.hashed }
        self.hash = hash ?? 0
    }

    init(_ template: Template, isTaking: Bool) {
        switch template.shape {
        case .fields(let arity, let bound) where arity < Self.largestArity && bound >> Self.maskBits == 0:
            self.init(
                .fields,
                arity: arity,
                mask: bound,
                hash: bound == 0 ? nil : template.boundHash,
                isTaking: isTaking
            )
        case .record:
            self.init(.record, hash: template.firstPairHash, isTaking: isTaking)
        default:
            self.init(.anything, hash: nil, isTaking: isTaking)
        }
    }

    /// Waits for a cell to be set.
    init(cell key: String) {
        var key = key
        self.init(.cell, hash: key.withUTF8 { Hash64.hash(UnsafeRawBufferPointer($0)) }, isTaking: false)
    }

    /// Waits until something becomes of a place in a queue: it is served, or gone.
    init(hold ticket: UInt64) { self.init(.hold, hash: ticket, isTaking: false) }

    /// Waits until something changes about a named object; its hash may be a ticket too, which costs a look.
    init(object name: String) {
        var name = name
        self.init(.hold, hash: name.withUTF8 { Hash64.hash(UnsafeRawBufferPointer($0)) }, isTaking: false)
    }

    /// What waiters are counted by: all but whether it takes, and the hash.
    var kind: UInt64 { selector & ~Self.taking }
    var form: Form { Form(rawValue: selector >> 58 & 0xF) ?? .none }
    var isTaking: Bool { selector & Self.taking != 0 }
    var isHashed: Bool { selector & Self.hashed != 0 }
    var arity: Int { Int(selector >> Self.maskBits & UInt64(Self.largestArity)) }
    var mask: UInt64 { selector & (1 << Self.maskBits - 1) }
}

/// A tuple that became visible, as a writer compares it with what the waiters wait for.
struct Appearance {
    private let tuple: EncodedTuple
    private var pairHashes: [UInt64]?
    /// The last kind of fields that was looked at, and what it came to: many wait for one shape, and a writer's scan of a
    /// thousand slots is made of this comparison.
    private var lastKind: UInt64 = 0
    private var lastFits = false
    private var lastHash: UInt64 = 0

    init(_ tuple: EncodedTuple) { self.tuple = tuple }

    /// Whether a waiter may match.
    ///
    /// False positives are handed on; false negatives don't exist.
    @inline(__always)
    mutating func mayMatch(_ interest: Interest) -> Bool {
        interest.kind == lastKind
            ? lastFits && (interest.hash == lastHash || !interest.isHashed)
            : mayMatch(kind: interest.kind) { $0 == interest.hash }
    }

    /// Whether a waiter of a kind may match, if its hash is among those that are wanted.
    mutating func mayMatch(kind: UInt64, where isWanted: (UInt64) -> Bool) -> Bool {
        let interest = Interest(selector: kind, hash: 0)
        switch interest.form {
        case .none, .cell, .hold: return false
        case .anything: return true
        case .record:
            guard tuple.isRecord else { return false }
            guard interest.isHashed else { return true }
            if pairHashes == nil {
                var hashes: [UInt64] = []
                tuple.forEachPairHash { hashes.append($0) }
                pairHashes = hashes
            }
            return pairHashes?.contains(where: isWanted) ?? true
        case .fields:
            let hash = tuple.hash(of: .fields(arity: interest.arity, bound: interest.mask))
            (lastKind, lastFits, lastHash) = (kind, hash != nil, hash ?? 0)
            return lastFits && (!interest.isHashed || isWanted(lastHash))
        }
    }
}
