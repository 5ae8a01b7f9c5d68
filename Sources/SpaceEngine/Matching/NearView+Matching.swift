import SpaceSystem
import TupleCoding

extension NearView {
    /// Calls `visit` for each tuple that a template matches until it returns `false`; returns whether it went to the
    /// end.
    func forEach(
        _ template: Template,
        _ order: MatchOrder,
        _ visit: (UInt64, TupleRow) throws(SpaceError) -> Bool
    ) throws(SpaceError) -> Bool {
        guard let ring else { return true }
        let sieve = NearSieve(template)
        for place in 0..<UInt64(ids.count) {
            let id = order.id(at: place, of: ids)
            guard ring.record(id).mayMatch(sieve), let row = row(id), template.matches(row.encoded) else { continue }
            if try !visit(id, row) { return false }
        }
        return true
    }
}

extension NearRing {
    /// Copies the first tuple that a template matches; without the gate the caller checks the word afterwards.
    ///
    /// `isSound` becomes false if a record makes no sense.
    func first(_ template: Template, _ order: MatchOrder, _ ids: Range<UInt64>, _ isSound: inout Bool) -> Match? {
        guard !ids.isEmpty else { return nil }
        let sieve = NearSieve(template)
        for place in 0..<UInt64(ids.count) {
            let id = order.id(at: place, of: ids)
            let record = record(id)
            guard record.isPresent(id) else {
                if !record.isTaken(id), !record.isClaimed(id) { isSound = false }
                continue
            }
            guard record.mayMatch(sieve) else { continue }
            guard let tuple = tuple(of: record) else {
                isSound = false
                continue
            }
            // The bytes are copied before they are decoded, because they may change at any moment.
            let match = Match(TupleID(rawValue: id), tuple)
            let isMatch = match.bytes.withUnsafeBytes {
                template.matches(EncodedTuple(bytes: $0, isRecord: match.isRecord))
            }
            if isMatch { return match }
        }
        return nil
    }
}

extension MatchOrder {
    /// The id that comes at a place of a range.
    @inline(__always)
    fileprivate func id(at place: UInt64, of ids: Range<UInt64>) -> UInt64 {
        self == .oldestFirst ? ids.lowerBound + place : ids.upperBound - 1 - place
    }
}
