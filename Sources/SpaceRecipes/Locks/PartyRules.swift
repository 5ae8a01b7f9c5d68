/// The rules of barriers: waiters are let through together, once they are as many as there are parties.
package struct PartyRules: QueueRules {
    package init() {}

    /// The last party to come completes a barrier at once.
    package var countsWaiters: Bool { true }

    package func add(
        _ request: PlaceRequest,
        holder: ClaimHolder,
        waits: Bool,
        in scope: WriteScope
    ) throws(SpaceError) -> PlaceRow? {
        let row = try scope.newPlace(request, holder: holder)
        try scope.add(row, to: request.name)
        try settle(request.name, in: scope)
        return try scope.snapshot.place(PlaceKeys(request.name), row.ticket)
    }

    package func settle(_ name: String, in scope: WriteScope) throws(SpaceError) {
        var waiting: [PlaceRow] = []
        try scope.snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
            if !row.isHolding { waiting.append(row) }
            return true
        }
        for row in Self.complete(waiting) { try scope.serve(row, of: name) }
    }

    /// The waiters that can be let through, in whole groups of the barrier's parties.
    package static func complete(_ waiting: [PlaceRow]) -> ArraySlice<PlaceRow> {
        let parties = waiting.first?.details.permits ?? 0
        return parties > 0 ? waiting.prefix(waiting.count / parties * parties) : []
    }
}
