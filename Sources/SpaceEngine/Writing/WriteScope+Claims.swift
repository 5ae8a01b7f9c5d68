import SpaceSystem
import TupleCoding

/// Claims: takes that can be undone.
///
/// Guarantees: a claimed tuple is in `claims` and nowhere else; each move there or back is one transaction. The tuple
/// returns when its holder ends, however it ends, and at its deadline. Completing, releasing, extending and burying
/// re-check the holder and the claim's number inside their write transaction. So a process that overran a deadline
/// can't end a later claim of another process, and can't return a tuple twice. A tuple that has returned as often as
/// the namespace's limit allows stays in `claims` without a holder. It is buried, and no taker finds it until it is
/// kicked back. A claim that is the first half of a take is not told to watchers: for them the tuple is there until the
/// take is completed, and stays if it is not. A tuple that is released with a delay rests: it stays in `claims` without
/// a holder, with the time of its return as its deadline, and returns then as an overdue claim does. The row outlives
/// all processes.
extension WriteScope {
    /// The numbers of claims and holds that were given out since a number was the next one.
    package func numbers(since first: UInt64) -> Range<UInt64> { first..<max(first, counters.nextNumber) }

    /// Moves a visible tuple to `claims`.
    package func claim(_ id: UInt64, _ row: TupleRow, _ terms: ClaimTerms) throws(SpaceError) -> ClaimMade {
        if !terms.isTake { meter.use(.claiming) }
        let number = counters.nextNumber
        counters.nextNumber += 1
        counters.claimed += 1
        let deliveries = row.deliveries
        let deadline = terms.deadline.map { clock.time(after: $0) } ?? 0
        let copy = row.copied()
        try remove(id, row, as: terms.isTake ? nil : .claim)
        try put(claim: id, terms.holder, number: number, deadline: deadline, isTake: terms.isTake, tuple: copy)
        if deadline != 0 { try addExpiry(ExpiryKey(.claim(id), at: deadline)) }
        return ClaimMade(number: number, deliveries: Int(deliveries))
    }

    /// The claim on a tuple, or `nil` if there is none.
    package func claimRow(_ id: UInt64) throws(SpaceError) -> ClaimRow? { try snapshot.claimRow(id) }

    /// Finds the claim with this number on a tuple, if the session may end it.
    ///
    /// If the tuple has returned, the call throws `claimLost`.
    private func claimRow(_ id: UInt64, number: UInt64, session: UInt64) throws(SpaceError) -> ClaimRow {
        if let row = try claimRow(id), row.number == number, row.holder.mayBeEnded(by: session) { return row }
        throw SpaceError(
            .claimLost,
            reason: "the claim on tuple \(id) has ended: it was completed, or the tuple has returned to the space",
            advice: "claim the tuple again, if it is there"
        )
    }

    /// Ends a claim: the tuple is removed permanently.
    package func complete(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let row = try claimRow(id, number: number, session: session)
        let (deadline, isTake) = (row.deadline, row.isTake)
        let copy = isJournaling ? TupleRow(row.tupleBytes).map { Array($0.encoded.bytes) } ?? [] : []
        let isRecord = TupleRow(row.tupleBytes)?.isRecord ?? false
        try dropClaim(id, deadline: deadline)
        try copy.withBytes { (bytes) throws(SpaceError) in
            try note(isTake ? .take : .complete, id: id, isRecord: isRecord, new: bytes, endsVisibility: isTake)
        }
    }

    /// Ends a claim and keeps its tuple: it is back in its place, and its deliveries are counted from zero again.
    package func keep(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let claim = try claimRow(id, number: number, session: session)
        guard let row = TupleRow(claim.tupleBytes) else { throw .damaged("the claim on tuple \(id)") }
        let (deadline, isTake) = (claim.deadline, claim.isTake)
        try putBack(id, row, deliveries: 0, isNoted: !isTake)
        try dropClaim(id, deadline: deadline)
    }

    /// Moves a claim's deadline to `duration` from now, if that is later.
    ///
    /// A claim without a deadline stays without one.
    package func extend(_ id: UInt64, session: UInt64, number: UInt64, by duration: Duration) throws(SpaceError) {
        let row = try claimRow(id, number: number, session: session)
        let (holder, old) = (row.holder, row.deadline)
        let deadline = clock.time(after: duration)
        guard old != 0, deadline > old else { return }
        try put(claim: id, holder, number: number, deadline: deadline, tuple: Array(row.tupleBytes))
        try removeExpiry(ExpiryKey(.claim(id), at: old))
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
        let row = try claimRow(id, number: number, session: session)
        guard row.holder != holder else { return }
        let (deadline, isTake) = (row.deadline, row.isTake)
        try put(
            claim: id,
            holder,
            number: number,
            deadline: deadline,
            isTake: isTake,
            tuple: Array(row.tupleBytes)
        )
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
        guard let claim = try claimRow(id), claim.holder != .nobody, condition(claim),
            let row = TupleRow(claim.tupleBytes)
        else { return false }
        let deadline = claim.deadline
        let deliveries = wasDelivered ? row.deliveries &+ 1 : row.deliveries
        if wasDelivered, counters.deliveryLimit != 0, deliveries >= counters.deliveryLimit {
            try bury(id, claim, deliveries: deliveries)
        } else if delay > .zero, !claim.isTake {
            let end = clock.time(after: delay)
            try keepWithoutHolder(id, claim, deliveries: deliveries, until: end)
            try addExpiry(ExpiryKey(.claim(id), at: end))
        } else {
            try putBack(id, row, deliveries: deliveries, isNoted: !claim.isTake)
            try dropClaim(id, deadline: deadline)
        }
        return true
    }

    private func dropClaim(_ id: UInt64, deadline: Int64) throws(SpaceError) {
        try claims.delete(id)
        counters.claimed -= min(1, counters.claimed)
        noteUpkeep()
        if deadline != 0 { try removeExpiry(ExpiryKey(.claim(id), at: deadline)) }
    }

    // MARK: Burying

    /// Buries a claimed tuple at its holder's request.
    package func bury(_ id: UInt64, session: UInt64, number: UInt64) throws(SpaceError) {
        let claim = try claimRow(id, number: number, session: session)
        let deliveries = TupleRow(claim.tupleBytes)?.deliveries ?? 0
        try bury(id, claim, deliveries: deliveries &+ 1)
    }

    /// Buries a visible tuple.
    package func bury(_ id: UInt64, _ row: TupleRow) throws(SpaceError) {
        let copy = row.copied()
        counters.withoutHolder += 1
        try remove(id, row, as: .bury)
        try put(claim: id, .nobody, number: 0, deadline: 0, tuple: copy)
    }

    /// Puts a resting tuple back in its place at the end of its rest; returns whether it was resting until then.
    func wake(_ id: UInt64, at time: Int64) throws(SpaceError) -> Bool {
        guard let claim = try claimRow(id), claim.isResting, claim.deadline == time,
            let row = TupleRow(claim.tupleBytes)
        else { return false }
        try putBack(id, row, deliveries: row.deliveries)
        try claims.delete(id)
        counters.withoutHolder -= min(1, counters.withoutHolder)
        noteUpkeep()
        return true
    }

    private func bury(_ id: UInt64, _ claim: ClaimRow, deliveries: UInt32) throws(SpaceError) {
        let isTake = claim.isTake
        let copy = try keepWithoutHolder(id, claim, deliveries: deliveries, until: 0)
        try copy.withBytes { (bytes) throws(SpaceError) in
            guard let row = TupleRow(bytes) else { return }
            try note(.bury, id: id, isRecord: row.isRecord, new: row.encoded.bytes, endsVisibility: isTake)
        }
    }

    /// Takes a claimed tuple from its holder, and keeps it in `claims` until a time, or until it is kicked if that is 0;
    /// returns the tuple's row.
    @discardableResult
    private func keepWithoutHolder(
        _ id: UInt64,
        _ claim: ClaimRow,
        deliveries: UInt32,
        until time: Int64
    ) throws(SpaceError) -> [UInt8] {
        let deadline = claim.deadline
        var copy = Array(claim.tupleBytes)
        copy.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: deliveries.littleEndian, toByteOffset: TupleRow.deliveriesOffset, as: UInt32.self)
        }
        try put(claim: id, .nobody, number: 0, deadline: time, tuple: copy)
        if deadline != 0 { try removeExpiry(ExpiryKey(.claim(id), at: deadline)) }
        counters.claimed -= min(1, counters.claimed)
        counters.withoutHolder += 1
        noteUpkeep()
        return copy
    }

    /// Puts a tuple that was buried back in its place, as if it had never been claimed, and returns whether it was
    /// buried.
    package func kick(_ id: UInt64) throws(SpaceError) -> Bool {
        guard let claim = try claimRow(id), claim.isBuried, let row = TupleRow(claim.tupleBytes) else {
            return false
        }
        try putBack(id, row, deliveries: 0)
        try claims.delete(id)
        counters.withoutHolder -= min(1, counters.withoutHolder)
        noteUpkeep()
        return true
    }

    func put(
        claim id: UInt64,
        _ holder: ClaimHolder,
        number: UInt64,
        deadline: Int64,
        isTake: Bool = false,
        tuple: [UInt8]
    ) throws(SpaceError) {
        try tuple.withBytes { (tuple) throws(SpaceError) in
            try claims.put(
                id,
                ClaimRow(holder: holder, number: number, deadline: deadline, isTake: isTake, tupleBytes: tuple)
            )
        }
    }
}

extension Snapshot {
    package func claimRow(_ id: UInt64) throws(SpaceError) -> ClaimRow? {
        try claims.get(id)
    }

    /// Walks through the claims of the tuples from an id on, in the order of writing, until `visit` returns `false`.
    ///
    /// Rows that don't decode are left out.
    package func forEachClaim(
        from first: UInt64 = 0,
        _ visit: (UInt64, ClaimRow) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        var marked = (near?.pointee.markedClaims ?? [])[...].drop { $0.id < first }
        var rows = try claims.scan(from: first)
        while let (id, row) = try rows.nextValid() {
            while let mark = marked.first, mark.id <= id {
                marked.removeFirst()
                // A mark that was just applied is the row.
                if mark.id < id, try !mark.visit(tuples, visit) { return }
            }
            if try !visit(id, row) { return }
        }
        for mark in marked { if try !mark.visit(tuples, visit) { return } }
        try near?.pointee.forEachClaim { (id, row) throws(SpaceError) in id < first ? true : try visit(id, row) }
    }

    /// Walks through the claims that are not in `claims` yet, like `forEachClaim`; `isInRing` distinguishes claims in
    /// the ring from claims of the tables' tuples, which come first.
    package func forEachNearClaim(
        _ visit: (UInt64, ClaimRow, _ isInRing: Bool) throws(SpaceError) -> Bool
    ) throws(SpaceError) {
        for mark in near?.pointee.markedClaims ?? [] {
            guard try mark.visit(tuples, { (id, row) throws(SpaceError) in try visit(id, row, false) }) else { return }
        }
        try near?.pointee.forEachClaim { (id, row) throws(SpaceError) in try visit(id, row, true) }
    }
}
