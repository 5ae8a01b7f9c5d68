import LMDB
import SpaceSystem
import TupleCoding

/// Names that processes hold as long as they live (locks, permits, leadership), and the queues for them.
///
/// Guarantees: waiters are served in the order in which they came, and none is overtaken. Only as many processes hold a
/// name at the same time as the rule of its kind allows. A hold ends when its holder releases it or ends in any way,
/// and the same transaction makes the next waiter the holder. A waiter has a row too, and only waits until another
/// process turns that row into a holder's. So no two processes race for a released name, and a later holder's ticket is
/// always greater.
///
/// The rows are the whole state. A process that adds or removes a row also settles the name in the same write
/// transaction: it makes holders of the waiters that may hold now. So a kill leaves every name settled. The rows of
/// dead processes are removed where their claims are returned. A waiter's death is noticed in the same way, whether its
/// row had been turned into a holder's or not.
extension WriteScope {
    /// Enters the queue of a name, and holds at once if it may.
    ///
    /// Returns the ticket and whether it holds, or `nil` if it would have to wait and `waits` is false. Throws
    /// `typeMismatch` if the name belongs to another kind of object, or if its users give another number of permits.
    func addHold(
        _ request: HoldRequest,
        holder: ClaimHolder,
        waits: Bool
    ) throws(SpaceError) -> (ticket: UInt64, isHolding: Bool)? {
        let keys = HoldKeys(request.name)
        let ticket = counters.nextClaim
        var row = HoldRow(ticket: ticket, request, holder: holder, since: time, isHolding: false)
        var front = HoldFront()
        var isAlone = true
        var refusal: SpaceError?
        try snapshot.forEachHold(keys) { other throws(SpaceError) in
            if isAlone { refusal = snapshot.refusal(request, beside: other) }
            isAlone = false
            return refusal == nil && front.admits(other)
        }
        if let refusal { throw refusal }
        if isAlone { try checkUnused(request.name, for: request.kind) }
        row.isHolding = front.admits(row)
        // A queue's taker, and the last party of a barrier, have a row at least for the time of this transaction.
        let isServedLater = request.kind == .queue || request.kind == .barrier
        guard row.isHolding || waits || isServedLater else { return nil }
        counters.nextClaim += 1
        counters.holds += 1
        try put(row, keys)
        // For most kinds a new row changes nothing for the rows before it. But it may complete a barrier, and a queue's
        // taker may get an item.
        guard isServedLater else { return (ticket, row.isHolding) }
        try settle(request.name, seenBy: ticket)
        return (ticket, try snapshot.hold(keys, ticket)?.isHolding ?? false)
    }

    /// Leaves the queue of a name, or ends a hold of it; returns the row as it was, or `nil` if it was gone already.
    ///
    /// `wasDelivered` says whether the return of a queue's item counts as a delivery: it does not if no worker got to
    /// see the item. If the taker has not looked at its row (`HoldRow.isUnseen`), the return never counts.
    @discardableResult
    func removeHold(_ name: String, _ ticket: UInt64, wasDelivered: Bool = true) throws(SpaceError) -> HoldRow? {
        guard let row = try takeOut(name, ticket, wasDelivered: wasDelivered) else { return nil }
        try settle(name, after: row.kind)
        return row
    }

    /// Removes the rows of ended holders, all of them before any name is settled.
    ///
    /// So none of them is served what another of them held. `takesOver` says whether outer requests take over the inner
    /// ones that are removed, or fail for lack of disk space.
    func removeHolds(_ ended: [(name: String, row: HoldRow)], takesOver: Bool) throws(SpaceError) {
        var left: [Name: SharedObjectKind] = [:]
        for (name, row) in ended {
            let row = try takeOut(name, row.ticket, wasDelivered: true, takesOver: takesOver)
            if let row { left[Name(name)] = row.kind }
        }
        for (name, _) in ended {
            if let kind = left.removeValue(forKey: Name(name)) { try settle(name, after: kind) }
        }
    }

    /// Removes a row; the caller settles the name.
    private func takeOut(
        _ name: String,
        _ ticket: UInt64,
        wasDelivered: Bool,
        takesOver: Bool = true
    ) throws(SpaceError) -> HoldRow? {
        let keys = HoldKeys(name)
        guard let row = try snapshot.hold(keys, ticket) else { return nil }
        _ = try lmdb { () throws(LMDBError) in
            try keys.key(ticket).withBytes { (key) throws(LMDBError) in try access.delete(tables.holds, key) }
        }
        counters.holds -= min(1, counters.holds)
        noteUpkeep()
        // Waiters that watch whether the hold still exists look now.
        noteMoved(hold: ticket)
        if row.kind == .request, let request = RequestRow(row) {
            try dropRequest(request, takesOver: takesOver)
        }
        if row.kind == .queue, row.isHolding {
            try returnItem(row, of: name, wasDelivered: wasDelivered && !row.isUnseen)
        }
        return row
    }

    private func settle(_ name: String, after kind: SharedObjectKind) throws(SpaceError) {
        switch kind {
        case .responder: try settleResponders(to: name)
        case .request: break
        default: try settle(name)
        }
    }

    /// Makes holders of all waiters of a name that may hold now.
    ///
    /// `ticket` is the caller's own ticket, whose item counts as seen at once; 0 if the caller has none.
    package func settle(_ name: String, seenBy ticket: UInt64 = 0) throws(SpaceError) {
        let keys = HoldKeys(name)
        var front = HoldFront()
        var served: [HoldRow] = []
        try snapshot.forEachHold(keys) { row throws(SpaceError) in
            let isAdmitted = front.admits(row)
            if isAdmitted, !row.isHolding { served.append(row) }
            return isAdmitted || row.kind == .barrier || row.kind == .queue
        }
        if front.takers.isEmpty {
            for row in served + front.complete { try serve(row, keys) }
        } else {
            try serve(front.takers, name, keys, seenBy: ticket)
        }
    }

    func serve(_ row: HoldRow, _ keys: HoldKeys) throws(SpaceError) {
        var row = row
        row.isHolding = true
        try put(row, keys)
        noteMoved(hold: row.ticket)
    }

    /// Notes that a holder has looked at its row: from now on a queue's item counts as delivered.
    ///
    /// Returns the row as it was, or `nil` if it has gone.
    func see(_ place: HoldPlace) throws(SpaceError) -> HoldRow? {
        let keys = HoldKeys(place.name)
        guard let row = try snapshot.hold(keys, place.ticket) else { return nil }
        if row.isUnseen {
            var seen = row
            seen.isUnseen = false
            try put(seen, keys)
        }
        return row
    }

    package func put(_ row: HoldRow, _ keys: HoldKeys) throws(SpaceError) {
        let value = row.encoded
        try lmdb { () throws(LMDBError) in
            try keys.key(row.ticket).withBytes { (key) throws(LMDBError) in
                try value.withBytes { (value) throws(LMDBError) in try access.put(tables.holds, key, value) }
            }
        }
        noteUpkeep()
    }

    /// Throws `typeMismatch` if a process holds the name, or waits for it, as another kind.
    func checkNotHeld(_ name: String, as kind: SharedObjectKind) throws(SpaceError) {
        guard counters.holds > 0 else { return }
        try snapshot.forEachHold(HoldKeys(name)) { row throws(SpaceError) in
            if row.kind != kind { throw snapshot.mismatch(name, row.kind, wanted: kind) }
            return false
        }
    }

    /// Throws `typeMismatch` if an object of another kind has the name.
    private func checkUnused(_ name: String, for kind: SharedObjectKind) throws(SpaceError) {
        guard let object = try snapshot.object(name) else { return }
        guard object.kind == kind else { throw snapshot.mismatch(name, object.kind, wanted: kind) }
    }
}

extension Value {
    /// The number of permits in a semaphore's row, or the number of parties in a barrier's.
    package var permits: Int { if case .int(let count) = self { count } else { 0 } }
}

extension Snapshot {
    /// The error if a request can't stand in a queue beside another row, or `nil` if it can.
    fileprivate func refusal(_ request: HoldRequest, beside other: HoldRow) -> SpaceError? {
        guard other.kind == request.kind else { return mismatch(request.name, other.kind, wanted: request.kind) }
        guard request.kind == .semaphore || request.kind == .barrier, other.details != request.details else {
            return nil
        }
        let what = request.kind == .semaphore ? "permits" : "parties"
        return SpaceError(
            .typeMismatch,
            operation,
            namespace: namespace,
            reason: "\(request.name.quotedForPeople) is in use with \(other.details.json) \(what), "
                + "and was asked for with \(request.details.json)",
            advice: "use the same number everywhere, or wait until nobody uses it"
        )
    }
}
