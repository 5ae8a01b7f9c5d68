import LMDB
import SpaceSystem
import TupleCoding

/// Claims: takes that can be undone.
///
/// Guarantees: a claimed tuple is in `claims` and nowhere else, moved there and back within one transaction; it
/// returns when its holder ends, however it ends, and at its deadline. Completing, releasing, extending and setting aside
/// re-check holder and claim number inside their write transaction: who overran a deadline can't end what another has
/// claimed since, nor return a tuple twice. A tuple that has returned as often as the namespace's limit says stays in
/// `claims`, held by nobody: set aside, out of every taker's way, until it is kicked back.
extension WriteScope {
    /// Moves a visible tuple to `claims`.
    package func claim(_ id: UInt64, _ row: TupleRow, _ terms: ClaimTerms) throws(SpaceError) -> ClaimMade {
        let number = counters.nextClaim
        counters.nextClaim += 1
        counters.claimed += 1
        let deliveries = row.deliveries
        let deadline = terms.deadline.map { clock.time(after: $0) } ?? 0
        let copy = row.copied()
        try remove(id, row, as: .claim)
        try put(claim: id, terms.holder, number: number, deadline: deadline, tuple: copy)
        if deadline != 0 { try addExpiry(ExpiryKey(kind: .claim, deadline: deadline, id: id)) }
        return ClaimMade(number: number, deliveries: Int(deliveries))
    }

    /// The claim on a tuple; `nil` when there is none.
    package func claimRow(_ id: UInt64) throws(SpaceError) -> ClaimRow? { try snapshot.claimRow(id) }

    /// The claim of this number on a tuple, if the session may end it.
    ///
    /// Claims held for a process are ended by whoever knows their number: they are handed from command to command.
    ///
    /// Throws: `claimLost` when it has returned.
    private func claimRow(_ id: UInt64, number: UInt64, session: UInt64) throws(SpaceError) -> ClaimRow {
        if let row = try claimRow(id), row.number == number {
            switch row.holder {
            case .session(session), .process: return row
            default: break
            }
        }
        throw SpaceError(
            .claimLost,
            operation,
            namespace: namespace,
            reason: "the claim on tuple \(id) has ended: it was completed, or the tuple has returned to the space",
            advice: "claim the tuple again, if it is there"
        )
    }

    /// Ends a claim: the tuple is gone for good.
    package func complete(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let row = try claimRow(id, number: number, session: session)
        let deadline = row.deadline
        let copy = isJournaling ? TupleRow(row.tupleBytes).map { Array($0.encoded.bytes) } ?? [] : []
        let isRecord = TupleRow(row.tupleBytes)?.isRecord ?? false
        try dropClaim(id, deadline: deadline)
        try copy.withBytes { (bytes) throws(SpaceError) in try note(.complete, id: id, isRecord: isRecord, new: bytes) }
    }

    /// Moves a claim's deadline to `duration` from now, if that is later.
    ///
    /// One without a deadline stays without.
    package func extend(_ id: UInt64, session: UInt64, number: UInt64, by duration: Duration) throws(SpaceError) {
        let row = try claimRow(id, number: number, session: session)
        let (holder, old) = (row.holder, row.deadline)
        let deadline = clock.time(after: duration)
        guard old != 0, deadline > old else { return }
        try put(claim: id, holder, number: number, deadline: deadline, tuple: Array(row.tupleBytes))
        try removeExpiry(ExpiryKey(kind: .claim, deadline: old, id: id))
        try addExpiry(ExpiryKey(kind: .claim, deadline: deadline, id: id))
        noteUpkeep()
    }

    /// Returns a claimed tuple to its place, if `condition` still holds of the claim; sets it aside if it has returned too
    /// often.
    ///
    /// `wasDelivered`: Whether it counts: what nobody got to see was not delivered.
    ///
    /// Returns: Whether it did.
    @discardableResult
    package func returnClaim(
        _ id: UInt64,
        wasDelivered: Bool = true,
        if condition: (ClaimRow) -> Bool
    ) throws(SpaceError) -> Bool {
        guard let claim = try claimRow(id), claim.holder != .nobody, condition(claim),
            let row = TupleRow(claim.tupleBytes)
        else { return false }
        let deadline = claim.deadline
        let deliveries = wasDelivered ? row.deliveries &+ 1 : row.deliveries
        if wasDelivered, counters.deliveryLimit != 0, deliveries >= counters.deliveryLimit {
            try setAside(id, claim, deliveries: deliveries)
        } else {
            try putBack(id, row, deliveries: deliveries)
            try dropClaim(id, deadline: deadline)
        }
        return true
    }

    private func dropClaim(_ id: UInt64, deadline: Int64) throws(SpaceError) {
        _ = try lmdb { () throws(LMDBError) in try access.delete(tables.claims, id) }
        counters.claimed -= min(1, counters.claimed)
        noteUpkeep()
        if deadline != 0 { try removeExpiry(ExpiryKey(kind: .claim, deadline: deadline, id: id)) }
    }

    // MARK: Setting aside

    /// Sets a claimed tuple aside at the wish of who holds it.
    package func bury(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let claim = try claimRow(id, number: number, session: session)
        let deliveries = TupleRow(claim.tupleBytes)?.deliveries ?? 0
        try setAside(id, claim, deliveries: deliveries &+ 1)
    }

    /// Sets a visible tuple aside.
    package func bury(_ id: UInt64, _ row: TupleRow) throws(SpaceError) {
        let copy = row.copied()
        counters.buried += 1
        try remove(id, row, as: .bury)
        try put(claim: id, .nobody, number: 0, deadline: 0, tuple: copy)
    }

    private func setAside(_ id: UInt64, _ claim: ClaimRow, deliveries: UInt32) throws(SpaceError) {
        let deadline = claim.deadline
        var copy = Array(claim.tupleBytes)
        copy.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: deliveries.littleEndian, toByteOffset: TupleRow.deliveriesOffset, as: UInt32.self)
        }
        try put(claim: id, .nobody, number: 0, deadline: 0, tuple: copy)
        if deadline != 0 { try removeExpiry(ExpiryKey(kind: .claim, deadline: deadline, id: id)) }
        counters.claimed -= min(1, counters.claimed)
        counters.buried += 1
        try copy.withBytes { (bytes) throws(SpaceError) in
            guard let row = TupleRow(bytes) else { return }
            try note(.bury, id: id, isRecord: row.isRecord, new: row.encoded.bytes)
        }
    }

    /// Puts a tuple that was set aside back in its place, as if it had never been claimed.
    ///
    /// Returns: Whether it was set aside.
    package func kick(_ id: UInt64) throws(SpaceError) -> Bool {
        guard let claim = try claimRow(id), claim.holder == .nobody, let row = TupleRow(claim.tupleBytes) else {
            return false
        }
        try putBack(id, row, deliveries: 0)
        _ = try lmdb { () throws(LMDBError) in try access.delete(tables.claims, id) }
        counters.buried -= min(1, counters.buried)
        noteUpkeep()
        return true
    }

    private func put(
        claim id: UInt64,
        _ holder: ClaimHolder,
        number: UInt64,
        deadline: Int64,
        tuple: [UInt8]
    ) throws(SpaceError) {
        let target = try lmdb { () throws(LMDBError) in
            try access.reserve(tables.claims, id, size: ClaimRow.headerSize + tuple.count)
        }
        target.storeBytes(of: holder.raw.littleEndian, toByteOffset: 0, as: UInt64.self)
        target.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        target.storeBytes(of: deadline.littleEndian, toByteOffset: 16, as: Int64.self)
        UnsafeMutableRawBufferPointer(rebasing: target[ClaimRow.headerSize...]).copyBytes(from: tuple)
    }
}

extension Snapshot {
    package func claimRow(_ id: UInt64) throws(SpaceError) -> ClaimRow? {
        guard let bytes = try lmdb({ () throws(LMDBError) in try access.get(tables.claims, id) }) else { return nil }
        guard let row = ClaimRow(bytes) else { throw damaged("the claim on tuple \(id) is too short") }
        return row
    }

    /// Looks through the rows of `claims`, in the order of writing, until `visit` says false; those that don't decode are
    /// left out.
    package func forEachClaim(_ visit: (UInt64, ClaimRow) throws(SpaceError) -> Bool) throws(SpaceError) {
        var cursor = try lmdb { () throws(LMDBError) in try access.cursor(tables.claims) }
        while true {
            let entry: Cursor.Entry?
            do throws(LMDBError) {
                entry = try cursor.next()
            } catch {
                throw SpaceError(error, operation, namespace: namespace)
            }
            guard let entry else { return }
            guard let id = UInt64(key: entry.key), let row = ClaimRow(entry.value) else { continue }
            if try !visit(id, row) { return }
        }
    }
}
