import LMDB
import SpaceSystem
import TupleCoding

/// Named things that processes hold for as long as they live: locks, permits, leadership; and the queues for them.
///
/// Guarantees: who came first is served first, and nobody is overtaken; what is held is held by those alone whom the
/// rule of its kind allows side by side; it is let go when its holder says so or ends, however it ends, and the next in the
/// queue holds it by that very transaction. Who waits has a row too, and does nothing but wait until somebody turns it
/// into a holder's: no two race for what was let go, and the ticket of a later holder is always the greater.
///
/// The rows say it all. Whoever adds or removes one settles the name within the same write transaction, so a kill leaves
/// every name settled; the rows of the dead are removed where their claims are returned. A waiter's own death
/// is noticed the same way, whether it had been turned into a holder or not.
extension WriteScope {
    /// Enters the queue of a name, and holds at once if it may.
    ///
    /// Returns: The ticket, and whether it holds; `nil` when it would have had to wait and `waits` is false.
    /// Throws: `typeMismatch` when the name is something else, or those who use it mean another number of permits.
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
        // A queue's taker, and who completes a barrier, stand in the queue for the time of the transaction at least.
        let isServedLater = request.kind == .queue || request.kind == .barrier
        guard row.isHolding || waits || isServedLater else { return nil }
        counters.nextClaim += 1
        counters.holds += 1
        try put(row, keys)
        // What came last changes nothing for those before it, but that it may complete a barrier; and a queue's taker gets an item.
        guard isServedLater else { return (ticket, row.isHolding) }
        try settle(request.name, seenBy: ticket)
        return (ticket, try snapshot.hold(keys, ticket)?.isHolding ?? false)
    }

    /// Leaves the queue of a name, or lets go of it.
    ///
    /// `wasDelivered`: Whether it counts when a queue's item returns by it: what nobody got to see was not delivered. What
    /// its taker has not seen (`HoldRow.isUnseen`) never counts.
    ///
    /// Returns: The row as it was; `nil` when it had gone already.
    @discardableResult
    func removeHold(_ name: String, _ ticket: UInt64, wasDelivered: Bool = true) throws(SpaceError) -> HoldRow? {
        guard let row = try takeOut(name, ticket, wasDelivered: wasDelivered) else { return nil }
        try settle(name, after: row.kind)
        return row
    }

    /// Removes the rows of those who have ended, all of them before any name is settled.
    ///
    /// So none of them is served what another of them lets go of.
    ///
    /// `takesOver`: Whether what they asked within requests is taken over, or fails these for want of room.
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

    /// Removes a row, and leaves it to the caller to settle the name.
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
        // Whoever asks whether it is still held.
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

    /// Turns those who wait for a name into holders who may be it now.
    ///
    /// `seenBy`: Whose ticket it is that knows at once what it is served: that of who asks in this transaction; 0: nobody's.
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

    /// Notes that a holder has looked at its row: from here on a queue's item is delivered.
    ///
    /// Returns: The row as it was; `nil` when it has gone.
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

    /// Throws: `typeMismatch` when somebody holds the name, or waits for it, as something else.
    func checkNotHeld(_ name: String, as kind: SharedObjectKind) throws(SpaceError) {
        guard counters.holds > 0 else { return }
        try snapshot.forEachHold(HoldKeys(name)) { row throws(SpaceError) in
            if row.kind != kind { throw snapshot.mismatch(name, row.kind, wanted: kind) }
            return false
        }
    }

    /// Throws: `typeMismatch` when an object has the name.
    private func checkUnused(_ name: String, for kind: SharedObjectKind) throws(SpaceError) {
        guard let object = try snapshot.object(name) else { return }
        guard object.kind == kind else { throw snapshot.mismatch(name, object.kind, wanted: kind) }
    }
}

extension Value {
    /// How many permits a semaphore's row says there are, or how many a barrier's waits for.
    package var permits: Int { if case .int(let count) = self { count } else { 0 } }
}

extension Snapshot {
    /// Why a request can't stand in a queue beside another row; `nil`: it can.
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
