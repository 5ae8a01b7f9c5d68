import TupleCoding

/// A tuple that became visible, as a writer compares it with what the waiters wait for.
package struct Appearance {
    private let tuple: EncodedTuple
    /// The tuple's record in the near end, which has the hashes of its first fields.
    private let record: NearRecord?
    private var pairHashes: [UInt64]?
    /// The kind of fields that was looked at last, and the result for it.
    ///
    /// Many waiters wait for one shape, and a writer's scan of a thousand slots consists of this comparison.
    private var lastKind: UInt64 = 0
    private var lastFits = false
    private var lastHash: UInt64 = 0

    @inline(__always)
    init(_ tuple: EncodedTuple, _ record: NearRecord? = nil) {
        self.tuple = tuple
        self.record = record
    }

    /// Whether a waiter may match.
    ///
    /// A false positive costs a grant that is handed on; there are no false negatives.
    @inline(__always)
    mutating func mayMatch(_ interest: Interest) -> Bool {
        interest.kind == lastKind
            ? lastFits && (interest.hash == lastHash || !interest.isHashed)
            : mayMatchAnother(interest)
    }

    private mutating func mayMatchAnother(_ interest: Interest) -> Bool {
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
            return pairHashes?.contains(interest.hash) ?? true
        case .fields:
            hashFields(interest)
            return lastFits && (!interest.isHashed || interest.hash == lastHash)
        }
    }

    /// Calls `body` with each hash with which a waiter with this selector may match; with 0 if its hash does not count.
    @inline(__always)
    mutating func forEachHash(of selector: UInt64, _ body: (UInt64) -> Void) {
        let interest = Interest(selector: selector, hash: 0)
        switch interest.form {
        case .none, .cell, .hold: break
        case .anything: body(0)
        case .record:
            guard tuple.isRecord else { break }
            if interest.isHashed { tuple.forEachPairHash(body) } else { body(0) }
        case .fields:
            if interest.kind != lastKind { hashFields(interest) }
            if lastFits { body(interest.isHashed ? lastHash : 0) }
        }
    }

    @inline(__always)
    private mutating func hashFields(_ interest: Interest) {
        let (arity, bound) = (interest.arity, interest.mask)
        let hash: UInt64?
        if let record, bound < 1 << UInt64(NearRecord.terms) {
            hash = record.hash(arity: arity, bound: bound)
        } else {
            hash = tuple.hash(of: .fields(arity: arity, bound: bound))
        }
        (lastKind, lastFits, lastHash) = (interest.kind, hash != nil, hash ?? 0)
    }
}
