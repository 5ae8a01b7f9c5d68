/// The rules of locks, permits and leadership: the places at the front of the queue hold, as many as the kind allows.
package struct TurnRules: QueueRules {
    package init() {}

    package func add(
        _ request: PlaceRequest,
        holder: ClaimHolder,
        waits: Bool,
        in scope: WriteScope
    ) throws(SpaceError) -> PlaceRow? {
        // A new row changes nothing for the rows before it, so the name need not be settled.
        let request = try scope.withSetPermits(request)
        let keys = PlaceKeys(request.name)
        var front = TurnFront()
        var row = try scope.newPlace(request, keys, holder: holder) { front.admits($0) }
        row.isHolding = front.admits(row)
        guard row.isHolding || waits else { return nil }
        if !row.isHolding, !request.own.isEmpty,
            let held = try scope.snapshot.isHeldUp(row, keys, by: request.own)
        {
            throw .wouldDeadlock(request, heldAs: held.ticket)
        }
        try scope.add(row, keys)
        return row
    }

    package func settle(_ name: String, in scope: WriteScope) throws(SpaceError) {
        let keys = PlaceKeys(name)
        var front = TurnFront()
        var served: [PlaceRow] = []
        try scope.snapshot.forEachPlace(keys) { row throws(SpaceError) in
            let isAdmitted = front.admits(row)
            if isAdmitted, !row.isHolding { served.append(row) }
            return isAdmitted
        }
        for row in served { try scope.serve(row, keys) }
    }
}
