/// The rules of barriers: waiters pass together, once there are as many of them as parties.
package struct PartyRules: QueueRules {
    package init() {}

    /// The last party to come completes a barrier at once.
    package var countsWaiters: Bool { true }

    package func settle(_ name: String, in scope: WriteScope) throws(SpaceError) {
        let keys = PlaceKeys(name)
        var waiting: [PlaceRow] = []
        try scope.snapshot.forEachPlace(keys) { row throws(SpaceError) in
            if !row.isHolding { waiting.append(row) }
            return true
        }
        for row in Self.complete(waiting) { try scope.places.serve(row, keys) }
    }

    /// The waiters that can be let through, in whole groups of the barrier's parties.
    package static func complete(_ waiting: [PlaceRow]) -> ArraySlice<PlaceRow> {
        let parties = waiting.first?.details.permits ?? 0
        return parties > 0 ? waiting.prefix(waiting.count / parties * parties) : []
    }
}
