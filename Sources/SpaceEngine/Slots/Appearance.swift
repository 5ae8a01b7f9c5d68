import TupleCoding

/// A tuple that became visible, as a writer compares it with what the waiters wait for.
package struct Appearance {
    private let tuple: EncodedTuple
    private var pairHashes: [UInt64]?
    /// The kind of fields that was looked at last, and the result for it.
    ///
    /// Many waiters wait for one shape, and a writer's scan of a thousand slots consists of this comparison.
    private var lastKind: UInt64 = 0
    private var lastFits = false
    private var lastHash: UInt64 = 0

    init(_ tuple: EncodedTuple) { self.tuple = tuple }

    /// Whether a waiter may match.
    ///
    /// A false positive costs a grant that is handed on; there are no false negatives.
    @inline(__always)
    mutating func mayMatch(_ interest: Interest) -> Bool {
        interest.kind == lastKind
            ? lastFits && (interest.hash == lastHash || !interest.isHashed)
            : mayMatch(kind: interest.kind) { $0 == interest.hash }
    }

    /// Whether a waiter of a kind may match, if its hash is one that `isWanted` accepts.
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
