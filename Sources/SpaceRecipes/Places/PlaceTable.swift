/// Names that processes hold as long as they live (locks, permits, leadership), and the queues for them.
///
/// Guarantees: waiters are served in the order in which they came, and none is overtaken. Only as many processes hold a
/// name at the same time as the rules of its kind allow (`PlaceRules`). A hold ends when its holder releases it or ends
/// in any way, and the same transaction makes the next waiter the holder. A waiter has a row too, and only waits until
/// another process turns that row into a holder's. So no two processes race for a released name, and a later holder's
/// ticket is always greater.
///
///     none → WAITS → HOLDS → none
///
///     event             moved by                            from → to
///     enter             the process                         none → WAITS, or none → HOLDS if it may hold at once
///     serve             the process that settles the name   WAITS → HOLDS
///     leave, release    the process                         WAITS, HOLDS → none
///     the holder ended  a process that looks                WAITS, HOLDS → none (`PlacesPart`)
///
/// The rows are the whole state. A process that adds or removes a row also settles the name in the same write
/// transaction, at its end (`UnsettledNames`): it makes holders of the waiters that may hold now. So a kill leaves every
/// name settled. The rows of dead processes are removed where their claims are returned. A waiter's death is noticed in
/// the same way, whether its row had been turned into a holder's or not. (`tools/model/check turns` searches all orders of
/// these steps.)
package struct PlaceTable {
    let scope: WriteScope

    /// The row of a new place, which waits and is not stored yet; `visit` gets the places before it, in turn, until it
    /// returns false.
    ///
    /// Throws `typeMismatch` if the name belongs to another kind of object, or if its users give another number.
    func newPlace(
        _ request: PlaceRequest,
        _ keys: PlaceKeys,
        holder: ClaimHolder,
        behind visit: (PlaceRow) -> Bool = { _ in false }
    ) throws(SpaceError) -> PlaceRow {
        var isAlone = true
        var refusal: SpaceError?
        try scope.snapshot.forEachPlace(keys) { other throws(SpaceError) in
            if isAlone { refusal = scope.snapshot.refusal(request, beside: other) }
            isAlone = false
            return refusal == nil && visit(other)
        }
        if let refusal { throw refusal }
        if isAlone { try checkUnused(request.name, for: request.kind) }
        return PlaceRow(
            ticket: scope.counters.nextNumber,
            kind: request.kind,
            holder: holder,
            since: scope.time,
            pid: scope.process,
            isHolding: false,
            isShared: request.isShared,
            weight: request.weight,
            ends: request.ends,
            details: request.details
        )
    }

    /// Stores the row of a new place, whose ticket is the next one.
    func add(_ row: PlaceRow, _ keys: PlaceKeys) throws(SpaceError) {
        scope.counters.nextNumber += 1
        scope.counters.holds += 1
        try put(row, keys)
        if row.isHolding { try noteHeld(.hold, row, of: keys.name) }
    }

    /// Makes a waiting place hold, and wakes its process.
    func serve(_ row: PlaceRow, _ keys: PlaceKeys) throws(SpaceError) {
        var row = row
        row.isHolding = true
        try put(row, keys)
        scope.note(Interest(hold: row.ticket))
        try noteHeld(.hold, row, of: keys.name)
    }

    /// Ends a place; returns the row as it was, or `nil` if it was gone already.
    @discardableResult
    func remove(_ place: Place) throws(SpaceError) -> PlaceRow? {
        try remove(place.ticket, of: place.name, by: place.rules)
    }

    /// Ends the place with a ticket.
    @discardableResult
    func remove(_ ticket: UInt64, of name: String, by rules: any PlaceRules) throws(SpaceError) -> PlaceRow? {
        let keys = PlaceKeys(name)
        guard let row = try scope.snapshot.place(keys, ticket) else { return nil }
        try scope.placeRows.delete(keys.key(ticket))
        scope.counters.holds -= min(1, scope.counters.holds)
        scope.noteUpkeep()
        // Processes that watch whether the place still exists look now.
        scope.note(Interest(hold: ticket))
        if row.isHolding { try noteHeld(.release, row, of: name) }
        try rules.hasEnded(row, of: name, in: scope)
        scope.unsettled.note(Name(name)) { scope throws(SpaceError) in try rules.settle(name, in: scope) }
        return row
    }

    /// Notes that a process has looked at its row since it was served.
    ///
    /// Returns the row as it was, or `nil` if it has gone.
    func see(_ place: Place) throws(SpaceError) -> PlaceRow? {
        let keys = PlaceKeys(place.name)
        guard let row = try scope.snapshot.place(keys, place.ticket) else { return nil }
        if row.isUnseen {
            var seen = row
            seen.isUnseen = false
            try put(seen, keys)
        }
        return row
    }

    package func put(_ row: PlaceRow, _ keys: PlaceKeys) throws(SpaceError) {
        try scope.placeRows.put(keys.key(row.ticket), row)
        scope.noteUpkeep()
    }

    /// Makes an object, which must not exist yet, and returns its number.
    ///
    /// Throws `typeMismatch` if a process holds the name, or waits for it, as another kind.
    package func makeObject(_ name: String, _ kind: SharedObjectKind, details: Value) throws(SpaceError) -> UInt64 {
        if scope.counters.holds > 0 {
            try scope.snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
                if row.kind != kind { throw .mismatch(name, row.kind, wanted: kind) }
                return false
            }
        }
        return try scope.objects.add(name, kind, details: details)
    }

    /// Throws `typeMismatch` if an object of another kind has the name.
    private func checkUnused(_ name: String, for kind: SharedObjectKind) throws(SpaceError) {
        guard let object = try scope.snapshot.object(name) else { return }
        guard object.kind == kind else { throw .mismatch(name, object.kind, wanted: kind) }
    }
}

extension WriteScope {
    /// The places of the namespace.
    package var places: PlaceTable { PlaceTable(scope: self) }
}

extension Snapshot {
    /// The error if a place can't stand in a queue beside another, or `nil` if it can.
    fileprivate func refusal(_ request: PlaceRequest, beside other: PlaceRow) -> SpaceError? {
        guard other.kind == request.kind else { return .mismatch(request.name, other.kind, wanted: request.kind) }
        guard let unit = request.unit, other.details != request.details else { return nil }
        return .mismatch(
            "\(request.name.quotedForPeople) is in use with \(other.details.json) \(unit), "
                + "and was asked for with \(request.details.json)",
            advice: "use the same number everywhere, or wait until nobody uses it"
        )
    }
}
