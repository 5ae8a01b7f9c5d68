/// The hashes of the first fields of a tuple without names, as they are known where it is kept.
struct KnownTerms {
    /// The number of the tuple's fields.
    let arity: Int
    /// The term of each of the first fields in the hash of a shape that binds it.
    let terms: UnsafeBufferPointer<UInt64>

    /// The hash of the fields that a shape binds, all of them among the known; `nil` if the tuple has another number of
    /// fields.
    @inline(__always)
    func hash(arity: Int, bound: UInt64) -> UInt64? {
        guard arity == self.arity else { return nil }
        var sum: UInt64 = 0
        for place in 0..<terms.count where bound & (1 << UInt64(place)) != 0 { sum &+= terms[place] }
        return sum
    }
}

/// A tuple that became visible, as a writer compares it with what the waiters wait for.
package struct Appearance {
    private let tuple: EncodedTuple
    private let known: KnownTerms?
    private var pairHashes: [UInt64]?
    /// The kind of fields that was looked at last, and the result for it.
    ///
    /// Many waiters wait for one shape, and a writer's scan of a thousand slots consists of this comparison.
    private var lastKind: UInt64 = 0
    private var lastFits = false
    private var lastHash: UInt64 = 0

    @inline(__always)
    init(_ tuple: EncodedTuple, _ known: KnownTerms? = nil) {
        self.tuple = tuple
        self.known = known
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
        if let known, bound < 1 << UInt64(known.terms.count) {
            hash = known.hash(arity: arity, bound: bound)
        } else {
            hash = tuple.hash(of: .fields(arity: arity, bound: bound))
        }
        (lastKind, lastFits, lastHash) = (interest.kind, hash != nil, hash ?? 0)
    }
}
