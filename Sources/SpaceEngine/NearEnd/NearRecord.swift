import SpaceSystem
import TupleCoding

/// One record of the ring.
///
///     0   id
///     8   state: 1 present, 2 taken, 3 claimed
///     12  length of the tuple in bytes
///     16  where the tuple begins, counted without wrapping around
///     24  bits 0 to 9, the number of fields, 1022 for more, or 1023 for a record with names; above them the PID of the
///         process that wrote it
///     28  when it was written, seconds since 1970
///     32  for each of the first four fields, its term in the hash of a shape that binds it
struct NearRecord {
    static let size = 64
    private static let present: UInt32 = 1
    private static let taken: UInt32 = 2
    private static let claimed: UInt32 = 3
    private static let recordKind: UInt32 = 0x3FF
    private static let kindBits: UInt32 = 10
    private static let kindMask: UInt32 = 1 << kindBits - 1

    /// How a record keeps a number of fields; those with very many look alike.
    @inline(__always)
    fileprivate static func kind(arity: Int) -> UInt32 { UInt32(truncatingIfNeeded: min(arity, 0x3FE)) & kindMask }

    static let terms = 4

    private let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    @inline(__always)
    private func word(_ offset: Int) -> UInt64 { base.load(fromByteOffset: offset, as: UInt64.self) }
    @inline(__always)
    private func half(_ offset: Int) -> UInt32 { base.load(fromByteOffset: offset, as: UInt32.self) }
    @inline(__always)
    private var state: SharedWord32 { SharedWord32(at: (base + 8).assumingMemoryBound(to: UInt32.self)) }

    /// These two may change while a reader without the gate checks them, so each is read once.
    var length: UInt32 { SharedWord32(at: (base + 12).assumingMemoryBound(to: UInt32.self)).loadRelaxed() }
    var position: UInt64 { SharedWord64(at: (base + 16).assumingMemoryBound(to: UInt64.self)).loadRelaxed() }
    private var kind: UInt32 {
        @inline(__always) get { half(24) & Self.kindMask }
    }
    var isRecord: Bool { kind == Self.recordKind }
    var origin: Origin { Origin(pid: Int32(bitPattern: half(24) >> Self.kindBits), seconds: half(28)) }

    @inline(__always)
    func isPresent(_ id: UInt64) -> Bool { word(0) == id && state.loadRelaxed() == Self.present }

    @inline(__always)
    func isClaimed(_ id: UInt64) -> Bool { word(0) == id && state.loadRelaxed() == Self.claimed }

    /// Whether the tuple was taken.
    ///
    /// A record between the ring's bounds that is neither here nor taken is damaged, or torn.
    @inline(__always)
    func isTaken(_ id: UInt64) -> Bool { word(0) == id && state.loadRelaxed() == Self.taken }

    /// Whether the tuple is present or claimed.
    @inline(__always)
    func isHere(_ id: UInt64) -> Bool {
        let state = state.loadRelaxed()
        return word(0) == id && (state == Self.present || state == Self.claimed)
    }

    func copy(_ other: NearRecord) { base.copyMemory(from: other.base, byteCount: Self.size) }

    @inline(__always)
    func markTaken() { state.store(Self.taken) }

    @inline(__always)
    func markClaimed() { state.store(Self.claimed) }

    @inline(__always)
    func fill(_ id: UInt64, _ tuple: EncodedTuple, _ origin: Origin, _ position: UInt64) {
        base.storeBytes(of: id, toByteOffset: 0, as: UInt64.self)
        state.storeRelaxed(Self.present)
        base.storeBytes(of: UInt32(tuple.bytes.count), toByteOffset: 12, as: UInt32.self)
        base.storeBytes(of: position, toByteOffset: 16, as: UInt64.self)
        var kind = Self.recordKind
        if !tuple.isRecord {
            let terms = UnsafeMutableBufferPointer(
                start: (base + 32).assumingMemoryBound(to: UInt64.self),
                count: Self.terms
            )
            kind = Self.kind(arity: tuple.fillTerms(terms))
        }
        let writer = UInt32(bitPattern: origin.pid) << Self.kindBits
        base.storeBytes(of: kind | writer, toByteOffset: 24, as: UInt32.self)
        base.storeBytes(of: origin.seconds, toByteOffset: 28, as: UInt32.self)
    }

    /// Whether a tuple that matches a template of this shape and hash can be in the record.
    @inline(__always)
    func mayMatch(_ sieve: NearSieve) -> Bool {
        switch sieve {
        case .all: return true
        case .records: return kind == Self.recordKind
        case .fields(let arity, let bound, let hash):
            guard kind == arity else { return false }
            return bound == 0 || sum(bound) == hash
        }
    }

    /// The terms of a tuple without names, unless it has very many fields.
    @inline(__always)
    var knownTerms: KnownTerms? {
        guard kind < Self.kind(arity: .max) else { return nil }
        let terms = (base + 32).assumingMemoryBound(to: UInt64.self)
        return KnownTerms(arity: Int(kind), terms: UnsafeBufferPointer(start: terms, count: Self.terms))
    }

    @inline(__always)
    private func sum(_ bound: UInt64) -> UInt64 {
        var sum: UInt64 = 0
        for place in 0..<Self.terms where bound & (1 << UInt64(place)) != 0 {
            sum &+= word(32 + 8 * place)
        }
        return sum
    }
}

/// Who has claimed a record's tuple; it counts while the record is claimed.
///
///     0   holder, as a claim's row has it
///     8   the claim's number
struct NearClaim {
    static let size = 16

    private let base: UnsafeMutableRawPointer

    @inline(__always)
    init(_ base: UnsafeMutableRawPointer) { self.base = base }

    var holder: UInt64 { base.load(as: UInt64.self) }
    var number: UInt64 { base.load(fromByteOffset: 8, as: UInt64.self) }

    @inline(__always)
    func fill(_ holder: UInt64, _ number: UInt64) {
        base.storeBytes(of: holder, as: UInt64.self)
        base.storeBytes(of: number, toByteOffset: 8, as: UInt64.self)
    }

    func copy(_ other: NearClaim) { base.copyMemory(from: other.base, byteCount: Self.size) }
}

/// What a record must have so that a template can match its tuple.
enum NearSieve {
    case all
    case records
    /// `bound` is empty if the template binds fields beyond those of which a record has the terms.
    case fields(arity: UInt32, bound: UInt64, hash: UInt64)

    init(_ template: TemplateForm) {
        switch template.shape {
        case .anything: self = .all
        case .record: self = .records
        case .fields(let arity, let bound):
            let isKnown = bound < 1 << UInt64(NearRecord.terms)
            self = .fields(arity: NearRecord.kind(arity: arity), bound: isKnown ? bound : 0, hash: template.boundHash)
        }
    }
}
