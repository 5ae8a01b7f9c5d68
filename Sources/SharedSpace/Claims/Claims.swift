import LMDB
import SpaceSystem
import TupleCoding

/// A tuple that this process has claimed: out of sight for others, and back in its old place unless it is completed.
package struct HeldClaim: Sendable {
    package let id: TupleID
    /// Tells this claim from an earlier or later one on the same tuple.
    package let number: UInt64
    package let tuple: Tuple
}

/// Claims: takes that can be undone.
///
/// Guarantees: a claimed tuple is in `claims` and nowhere else, moved there and back within one transaction; it
/// returns when its session ends, however it ends. Completing and releasing re-check session and claim number
/// inside their write transaction: who overran a deadline can't complete what another has claimed since.
extension WriteScope {
    /// Moves a visible tuple to `claims`.
    ///
    /// `deadline`: On the namespace's clock; 0: none.
    func claim(_ id: UInt64, _ row: TupleRow, session: UInt64, deadline: Int64) throws(SpaceError) -> UInt64 {
        let number = counters.nextClaim
        counters.nextClaim += 1
        counters.claimed += 1
        let copy = Array(row.bytes)
        try remove(id, row, as: .claim)
        let target = try lmdb { () throws(LMDBError) in
            try access.reserve(tables.claims, id, size: ClaimRow.headerSize + copy.count)
        }
        target.storeBytes(of: session.littleEndian, toByteOffset: 0, as: UInt64.self)
        target.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        target.storeBytes(of: deadline.littleEndian, toByteOffset: 16, as: Int64.self)
        UnsafeMutableRawBufferPointer(rebasing: target[ClaimRow.headerSize...]).copyBytes(from: copy)
        if deadline != 0 { try addExpiry(ExpiryKey(kind: .claim, deadline: deadline, id: id)) }
        return number
    }

    /// The claim on a tuple; `nil` when there is none.
    func claimRow(_ id: UInt64) throws(SpaceError) -> ClaimRow? {
        guard let bytes = try lmdb({ () throws(LMDBError) in try access.get(tables.claims, id) }) else { return nil }
        guard let row = ClaimRow(bytes) else { throw snapshot.damaged("the claim on tuple \(id) is too short") }
        return row
    }

    /// Ends a claim: the tuple is gone for good.
    func complete(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        guard let row = try claimRow(id), row.session == session, row.number == number else {
            throw SpaceError(
                .claimLost,
                operation,
                namespace: namespace,
                reason: "the claim on tuple \(id) had returned to the space already",
                advice: "claim it again"
            )
        }
        let deadline = row.deadline
        let copy = isJournaling ? TupleRow(row.tupleBytes).map { Array($0.encoded.bytes) } ?? [] : []
        let isRecord = TupleRow(row.tupleBytes)?.isRecord ?? false
        try dropClaim(id, deadline: deadline)
        try copy.withBytes { (bytes) throws(SpaceError) in try note(.complete, id: id, isRecord: isRecord, new: bytes) }
    }

    /// Returns a claimed tuple to its place, if `condition` still holds of the claim.
    ///
    /// - Returns: Whether it did.
    @discardableResult
    func returnClaim(_ id: UInt64, if condition: (ClaimRow) -> Bool) throws(SpaceError) -> Bool {
        guard let claim = try claimRow(id), condition(claim), let row = TupleRow(claim.tupleBytes) else { return false }
        let deadline = claim.deadline
        try putBack(id, row)
        try dropClaim(id, deadline: deadline)
        return true
    }

    private func dropClaim(_ id: UInt64, deadline: Int64) throws(SpaceError) {
        _ = try lmdb { () throws(LMDBError) in try access.delete(tables.claims, id) }
        counters.claimed -= min(1, counters.claimed)
        noteUpkeep()
        if deadline != 0 { try removeExpiry(ExpiryKey(kind: .claim, deadline: deadline, id: id)) }
    }
}

extension NamespaceCore {
    func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        let bytes = claims.reduce(0) { $0 + $1.tuple.encoded.count }
        try write("complete a claim", .removing(claims.count, removed: bytes)) { (scope) throws(SpaceError) in
            for claim in claims {
                try scope.complete(claim.id.rawValue, session: session.number, number: claim.number)
            }
        }
    }

    /// Returns claims; those that have returned already are left alone.
    func release(_ claims: [HeldClaim]) throws(SpaceError) {
        let bytes = claims.reduce(0) { $0 + $1.tuple.encoded.count + 64 }
        try write("release a claim", .removing(claims.count, bytes: bytes)) { (scope) throws(SpaceError) in
            for claim in claims {
                try scope.returnClaim(claim.id.rawValue) { $0.session == session.number && $0.number == claim.number }
            }
        }
    }

    /// Returns what sessions have claimed that have ended.
    ///
    /// `timeout`: For the gate; `nil`: the space's.
    func returnClaims(of ended: Set<UInt64>, timeout: Duration? = nil) throws(SpaceError) {
        guard !ended.isEmpty else { return }
        while try returnSlice(of: ended, timeout: timeout) {}
    }

    /// Returns every claim: after a reboot no session lives whose number stands in one, and numbers begin anew.
    func returnAllClaims() throws(SpaceError) {
        while try returnSlice(of: nil, timeout: nil) {}
    }

    private func returnSlice(of ended: Set<UInt64>?, timeout: Duration?) throws(SpaceError) -> Bool {
        let operation = "return claims"
        let (ids, bytes) = try read(operation) { (snapshot) throws(SpaceError) -> ([UInt64], Int) in
            guard try snapshot.counters().claimed > 0 else { return ([], 0) }
            var ids: [UInt64] = []
            var bytes = 0
            try snapshot.lmdb { () throws(LMDBError) in
                var cursor = try snapshot.access.cursor(snapshot.tables.claims)
                // A slice of bounded size: what it moves must fit the reserve.
                while ids.count < 64, bytes < 1 << 20, let found = try cursor.next() {
                    if let id = UInt64(key: found.key), let row = ClaimRow(found.value),
                        ended?.contains(row.session) ?? true
                    {
                        ids.append(id)
                        bytes += row.bytes.count
                    }
                }
            }
            return (ids, bytes)
        }
        guard !ids.isEmpty else { return false }
        var returned = 0
        try write(operation, .removing(ids.count, bytes: bytes), timeout: timeout) { (scope) throws(SpaceError) in
            returned = 0
            for id in ids where try scope.returnClaim(id, if: { ended?.contains($0.session) ?? true }) { returned += 1 }
        }
        // Nothing returned: somebody else was at it. No reason to go round for ever.
        return returned > 0
    }

    /// The sessions that have claims out.
    private func claimingSessions() throws(SpaceError) -> Set<UInt64> {
        try read("look at the claims") { (snapshot) throws(SpaceError) in
            var sessions: Set<UInt64> = []
            guard try snapshot.counters().claimed > 0 else { return sessions }
            try snapshot.lmdb { () throws(LMDBError) in
                var cursor = try snapshot.access.cursor(snapshot.tables.claims)
                while let found = try cursor.next() {
                    if let row = ClaimRow(found.value) { sessions.insert(row.session) }
                }
            }
            return sessions
        }
    }

    /// Returns the claims of sessions that no longer live.
    ///
    /// A failure leaves it to the next tick or opener.
    func returnClaimsOfTheDead(timeout: Duration) {
        guard let sessions = try? claimingSessions(), !sessions.isEmpty else { return }
        let dead = sessions.filter { $0 != session.number && !isAlive(session: $0) }
        try? returnClaims(of: dead, timeout: timeout)
    }
}
