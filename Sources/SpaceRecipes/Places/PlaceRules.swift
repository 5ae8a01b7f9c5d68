/// What a kind of place adds to the core, which keeps the rows of places and knows no kind.
///
/// The kinds are beside the core: locks, permits and leadership (`TurnRules`), barriers (`PartyRules`), takers of items
/// (`TakerRules`), responders (`ResponderRules`) and requests (`RequestRules`).
package protocol PlaceRules: Sendable {
    /// Does what the end of a place requires in addition, in the transaction that has removed its row.
    func hasEnded(_ row: PlaceRow, of name: String, in scope: WriteScope) throws(SpaceError)

    /// Makes holders of the places of a name that may hold now.
    ///
    /// Every transaction that adds or removes places of a name settles the name at its end (`UnsettledNames`).
    func settle(_ name: String, in scope: WriteScope) throws(SpaceError)
}

extension PlaceRules {
    package func hasEnded(_ row: PlaceRow, of name: String, in scope: WriteScope) throws(SpaceError) {}
}

/// The rules of a kind whose places wait for their turn.
package protocol QueueRules: PlaceRules {
    /// Whether places that only wait decide who is served, so that those of dead processes must be removed first.
    var countsWaiters: Bool { get }

    /// Puts a new place at the end of its queue, and returns the place as it is afterwards.
    ///
    /// If the place would have to wait and `waits` is false, the result may be `nil`; then nothing was written.
    func add(
        _ request: PlaceRequest,
        holder: ClaimHolder,
        waits: Bool,
        in scope: WriteScope
    ) throws(SpaceError) -> PlaceRow?

    /// Why a place that waits can no longer be served, or `nil` if it can.
    func refusal(of row: PlaceRow, at name: String, in snapshot: Snapshot) throws(SpaceError) -> SpaceError?

    /// Settles a name to which the place with the ticket was added; the place's process sees at once whether it holds.
    func settle(_ name: String, seenBy ticket: UInt64, in scope: WriteScope) throws(SpaceError)
}

extension QueueRules {
    package var countsWaiters: Bool { false }

    package func refusal(of row: PlaceRow, at name: String, in snapshot: Snapshot) throws(SpaceError) -> SpaceError? {
        nil
    }

    package func add(
        _ request: PlaceRequest,
        holder: ClaimHolder,
        waits: Bool,
        in scope: WriteScope
    ) throws(SpaceError) -> PlaceRow? {
        let keys = PlaceKeys(request.name)
        let row = try scope.places.newPlace(request, keys, holder: holder)
        try scope.places.add(row, keys)
        try scope.unsettled.settle(Name(request.name)) { () throws(SpaceError) in
            try settle(request.name, seenBy: row.ticket, in: scope)
        }
        return try scope.snapshot.place(keys, row.ticket)
    }

    package func settle(_ name: String, seenBy ticket: UInt64, in scope: WriteScope) throws(SpaceError) {
        try settle(name, in: scope)
    }
}
