extension NearView {
    /// Calls `visit` for each tuple that a template matches until it returns `false`; returns whether it went to the
    /// end.
    func forEach(
        _ template: TemplateForm,
        _ order: MatchOrder,
        within bounds: Range<UInt64>,
        _ visit: (UInt64, TupleRow) throws(SpaceError) -> Bool
    ) throws(SpaceError) -> Bool {
        guard let ring else { return true }
        let sieve = NearSieve(template)
        let ids = ids.clamped(to: bounds)
        for place in 0..<UInt64(ids.count) {
            let id = order.id(at: place, of: ids)
            guard ring.record(id).mayMatch(sieve), let row = row(id), template.matches(row.encoded) else { continue }
            if try !visit(id, row) { return false }
        }
        return true
    }
}

extension NearRing {
    /// Copies the first tuple that a template matches to `buffer`; without the gate the caller checks the word afterwards.
    ///
    /// `isSound` becomes false if a record makes no sense.
    func first(
        _ template: TemplateForm,
        _ order: MatchOrder,
        _ ids: Range<UInt64>,
        copiedTo buffer: UnsafeMutableRawBufferPointer,
        _ isSound: inout Bool
    ) -> CopiedMatch? {
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
            buffer.copyMemory(from: tuple.bytes)
            let copy = EncodedTuple(
                bytes: UnsafeRawBufferPointer(rebasing: buffer[..<tuple.bytes.count]),
                isRecord: tuple.isRecord
            )
            if template.matches(copy) {
                return CopiedMatch(id: TupleID(rawValue: id), tuple: copy, origin: record.origin)
            }
        }
        return nil
    }
}

/// A tuple copied out of the ring, or out of a list of those that come next.
package struct CopiedMatch {
    package let id: TupleID
    package let tuple: EncodedTuple
    let origin: Origin
    var deliveries: UInt32 = 0

    /// Lends the copy.
    @inline(__always)
    package func lend(to borrow: (Match) -> Void) {
        withUnsafePointer(to: tuple) { borrow(match(lending: $0)) }
    }

    /// The match while the copy is lent; with `nil`, after it was returned.
    @inline(__always)
    func match(lending lent: UnsafePointer<EncodedTuple>?) -> Match {
        let row = TupleRow(expiry: 0, rawHolder: 0, deliveries: deliveries, origin: origin, encoded: tuple)
        return Match(lending: lent, id.rawValue, row)
    }
}

extension MatchOrder {
    /// The id that comes at a place of a range.
    @inline(__always)
    fileprivate func id(at place: UInt64, of ids: Range<UInt64>) -> UInt64 {
        self == .oldestFirst ? ids.lowerBound + place : ids.upperBound - 1 - place
    }
}
