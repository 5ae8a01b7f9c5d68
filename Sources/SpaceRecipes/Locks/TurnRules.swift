/// The rules of locks, permits and leadership: the places at the front of the queue hold, as many as the kind allows.
///
/// A place that asks for more permits than there are, because their number was set to a smaller one, is passed over; its
/// process is woken, and gives the place up with an error.
package struct TurnRules: QueueRules {
    package init() {}

    package func add(
        _ request: PlaceRequest,
        holder: ClaimHolder,
        waits: Bool,
        in scope: WriteScope
    ) throws(SpaceError) -> PlaceRow? {
        // A new row changes nothing for the rows before it, so the name need not be settled.
        var request = request
        let permits = try request.kind == .semaphore ? scope.snapshot.permits(setFor: request.name) : nil
        // If a number was set, the process's own number does not count.
        if permits != nil { request.unit = nil }
        let keys = PlaceKeys(request.name)
        var front = TurnFront()
        var row = try scope.places.newPlace(request, keys, holder: holder) {
            // Behind a place that is passed over there may be holders.
            _ = front.admits($0, permits: permits)
            return !front.isClosed
        }
        let wish = TurnWish(row, permits: permits)
        if wish.isBeyondAll { throw wish.refusal }
        row.isHolding = front.admits(row, permits: permits)
        guard row.isHolding || waits else { return nil }
        if !row.isHolding, !request.own.isEmpty,
            let held = try scope.snapshot.isHeldUp(row, keys, by: request.own)
        {
            throw .wouldDeadlock(request, heldAs: held.ticket)
        }
        try scope.places.add(row, keys)
        return row
    }

    package func refusal(of row: PlaceRow, at name: String, in snapshot: Snapshot) throws(SpaceError) -> SpaceError? {
        guard row.kind == .semaphore else { return nil }
        let wish = TurnWish(row, permits: try snapshot.permits(setFor: name))
        return wish.isBeyondAll ? wish.refusal : nil
    }

    package func settle(_ name: String, in scope: WriteScope) throws(SpaceError) {
        let keys = PlaceKeys(name)
        let permits = try scope.snapshot.permits(setFor: name)
        var front = TurnFront()
        var served: [PlaceRow] = []
        try scope.snapshot.forEachPlace(keys) { row throws(SpaceError) in
            let isAdmitted = front.admits(row, permits: permits)
            if isAdmitted, !row.isHolding { served.append(row) }
            guard !isAdmitted, !row.isHolding, TurnWish(row, permits: permits).isBeyondAll else { return isAdmitted }
            scope.note(Interest(hold: row.ticket))
            return true
        }
        for row in served { try scope.places.serve(row, keys) }
    }
}
