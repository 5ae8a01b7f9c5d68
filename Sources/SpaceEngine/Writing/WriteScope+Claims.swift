import SpaceSystem

/// Claims: takes that can be undone.
///
/// Guarantees: a claimed tuple has a row in `claims`, and its own row says so, so that no look finds it; each claim and
/// each return is one transaction. The tuple returns when its holder ends, however it ends, and at its deadline.
/// Completing, releasing, extending and burying re-check the holder and the claim's number inside their write
/// transaction. So a process that overran a deadline can't end a later claim of another process, and can't return a
/// tuple twice. A tuple that has returned as often as the namespace's limit allows stays claimed without a holder. It
/// is buried, and no taker finds it until it is kicked back. A claim that is the first half of a take is not reported
/// to watchers: for them the tuple is there until the take is completed, and stays if it is not. A tuple that is
/// released with a delay rests: it stays claimed without a holder, with the time of its return as its deadline, and
/// returns then as an overdue claim does. The row outlives all processes.
extension WriteScope {
    /// The numbers of claims and holds that were given out since a number was the next one.
    package func numbers(since first: UInt64) -> Range<UInt64> { first..<max(first, counters.nextNumber) }

    /// Claims a visible tuple.
    package func claim(_ id: UInt64, _ row: TupleRow, _ terms: ClaimTerms) throws(SpaceError) -> ClaimMade {
        if !terms.isTake { meter.use(.claiming) }
        let number = counters.nextNumber
        counters.nextNumber += 1
        counters.claimed += 1
        let deliveries = row.deliveries
        let deadline = terms.deadline.map { clock.time(after: $0) } ?? 0
        let claim = ClaimRow(holder: terms.holder, number: number, deadline: deadline, isTake: terms.isTake)
        var cursors: TupleCursors?
        try hide(id, row, by: claim, as: terms.isTake ? nil : .claim, with: &cursors)
        if deadline != 0 { try addExpiry(ExpiryKey(.claim(id), at: deadline)) }
        return ClaimMade(number: number, deliveries: Int(deliveries))
    }

    /// Finds the claim with this number on a tuple, if the session may end it.
    ///
    /// If the tuple has returned, the call throws `claimLost`.
    private func claim(on id: UInt64, number: UInt64, session: UInt64) throws(SpaceError) -> ClaimRow {
        if let row = try claims.get(id), row.number == number, row.holder.mayBeEnded(by: session) { return row }
        throw SpaceError(
            .claimLost,
            reason: "the claim on tuple \(id) has ended: it was completed, or the tuple has returned to the space",
            advice: "claim the tuple again, if it is there"
        )
    }

    /// Ends a claim: the tuple is removed permanently.
    package func complete(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let claim = try self.claim(on: id, number: number, session: session)
        let row = isJournaling ? try tuples.getValid(id) : nil
        let (copy, isRecord) = (row.map { Array($0.encoded.bytes) } ?? [], row?.isRecord ?? false)
        try tuples.delete(id)
        try drop(claim, on: id)
        try copy.withBytes { (bytes) throws(SpaceError) in
            let kind: ChangeKind = claim.isTake ? .take : .complete
            try note(kind, id: id, isRecord: isRecord, new: bytes, endsVisibility: claim.isTake)
        }
    }

    /// Ends a claim and keeps its tuple: it is back in its place, and its deliveries are counted from zero again.
    package func keep(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let claim = try self.claim(on: id, number: number, session: session)
        guard let row = try tuples.claimed(id) else { throw .damaged("the claim on tuple \(id)") }
        try show(id, row, deliveries: 0, isNoted: !claim.isTake)
        try drop(claim, on: id)
    }

    /// Moves a claim's deadline to `duration` from now, if that is later.
    ///
    /// A claim without a deadline stays without one.
    package func extend(_ id: UInt64, session: UInt64, number: UInt64, by duration: Duration) throws(SpaceError) {
        let claim = try self.claim(on: id, number: number, session: session)
        let deadline = clock.time(after: duration)
        guard claim.deadline != 0, deadline > claim.deadline else { return }
        try claims.put(id, ClaimRow(holder: claim.holder, number: number, deadline: deadline))
        try removeExpiry(ExpiryKey(.claim(id), at: claim.deadline))
        try addExpiry(ExpiryKey(.claim(id), at: deadline))
        noteUpkeep()
    }

    /// Hands a claim on to another holder; if that has it already, nothing changes.
    package func handOver(
        _ id: UInt64,
        session: UInt64,
        number: UInt64,
        to holder: ClaimHolder
    ) throws(SpaceError) {
        let claim = try self.claim(on: id, number: number, session: session)
        guard claim.holder != holder else { return }
        let changed = ClaimRow(holder: holder, number: number, deadline: claim.deadline, isTake: claim.isTake)
        try claims.put(id, changed)
        noteUpkeep()
    }

    /// Returns a claimed tuple to its place if `condition` is true of the claim, or buries it if it has returned
    /// too often.
    ///
    /// With a delay above zero it rests for that time first.
    ///
    /// `wasDelivered` says whether this delivery counts: a tuple that no process got to see was not delivered. The
    /// result says whether the claim ended.
    @discardableResult
    package func returnClaim(
        _ id: UInt64,
        wasDelivered: Bool = true,
        delay: Duration = .zero,
        if condition: (ClaimRow) -> Bool
    ) throws(SpaceError) -> Bool {
        guard let claim = try claims.get(id), claim.holder != .nobody, condition(claim),
            let row = try tuples.claimed(id)
        else { return false }
        let deliveries = wasDelivered ? row.deliveries &+ 1 : row.deliveries
        if wasDelivered, counters.deliveryLimit != 0, deliveries >= counters.deliveryLimit {
            try bury(id, claim, row, deliveries: deliveries)
        } else if delay > .zero, !claim.isTake {
            let end = clock.time(after: delay)
            try keepWithoutHolder(id, claim, row, deliveries: deliveries, until: end)
            try addExpiry(ExpiryKey(.claim(id), at: end))
        } else {
            try show(id, row, deliveries: deliveries, isNoted: !claim.isTake)
            try drop(claim, on: id)
        }
        return true
    }

    /// Removes the row of a claim that had a holder.
    private func drop(_ claim: ClaimRow, on id: UInt64) throws(SpaceError) {
        try claims.delete(id)
        counters.claimed -= min(1, counters.claimed)
        noteUpkeep()
        if claim.deadline != 0 { try removeExpiry(ExpiryKey(.claim(id), at: claim.deadline)) }
    }

    // MARK: Burying

    /// Buries a claimed tuple at its holder's request.
    package func bury(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let claim = try self.claim(on: id, number: number, session: session)
        guard let row = try tuples.claimed(id) else { throw .damaged("the claim on tuple \(id)") }
        try bury(id, claim, row, deliveries: row.deliveries &+ 1)
    }

    /// Buries a visible tuple.
    package func bury(_ id: UInt64, _ row: TupleRow) throws(SpaceError) {
        counters.withoutHolder += 1
        meter.use(.claiming)
        var cursors: TupleCursors?
        try hide(id, row, by: ClaimRow(holder: .nobody, number: 0), as: .bury, with: &cursors)
    }

    /// Puts a resting tuple back in its place at the end of its rest; returns whether it was resting until then.
    func wake(_ id: UInt64, at time: Int64) throws(SpaceError) -> Bool {
        guard let claim = try claims.get(id), claim.isResting, claim.deadline == time,
            let row = try tuples.claimed(id)
        else { return false }
        return try putBack(id, row, deliveries: row.deliveries)
    }

    private func bury(_ id: UInt64, _ claim: ClaimRow, _ row: TupleRow, deliveries: UInt32) throws(SpaceError) {
        try row.withCopy { (row) throws(SpaceError) in
            try keepWithoutHolder(id, claim, row, deliveries: deliveries, until: 0)
            try note(.bury, id: id, isRecord: row.isRecord, new: row.encoded.bytes, endsVisibility: claim.isTake)
        }
    }

    /// Takes a claimed tuple from its holder, and keeps it claimed until a time, or until it is kicked if that is 0.
    private func keepWithoutHolder(
        _ id: UInt64,
        _ claim: ClaimRow,
        _ row: TupleRow,
        deliveries: UInt32,
        until time: Int64
    ) throws(SpaceError) {
        if deliveries != row.deliveries {
            try row.withCopy { (row) throws(SpaceError) in try tuples.replace(id, row.with(deliveries: deliveries)) }
        }
        try claims.put(id, ClaimRow(holder: .nobody, number: 0, deadline: time))
        if claim.deadline != 0 { try removeExpiry(ExpiryKey(.claim(id), at: claim.deadline)) }
        counters.claimed -= min(1, counters.claimed)
        counters.withoutHolder += 1
        noteUpkeep()
    }

    /// Puts a tuple that was buried back in its place, as if it had never been claimed, and returns whether it was
    /// buried.
    package func kick(_ id: UInt64) throws(SpaceError) -> Bool {
        guard let claim = try claims.get(id), claim.isBuried, let row = try tuples.claimed(id) else { return false }
        return try putBack(id, row, deliveries: 0)
    }

    /// Makes a claimed tuple without a holder visible again.
    private func putBack(_ id: UInt64, _ row: TupleRow, deliveries: UInt32) throws(SpaceError) -> Bool {
        try show(id, row, deliveries: deliveries)
        try claims.delete(id)
        counters.withoutHolder -= min(1, counters.withoutHolder)
        noteUpkeep()
        return true
    }
}
