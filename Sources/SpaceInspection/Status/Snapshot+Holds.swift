// The holds as they are shown to people, and the check of their rows.

extension Snapshot {
    /// The status of all holds.
    func holdStatus(_ holders: Holders) throws(SpaceError) -> [NamespaceStatus.Hold] {
        guard try counters().holds > 0 else { return [] }
        return try allPlaces().filter { $0.row.kind != .responder && $0.row.kind != .request }.map { (name, row) in
            NamespaceStatus.Hold(
                named: Name(name),
                kind: row.kind,
                isHeld: row.isHolding,
                isShared: row.isShared,
                weight: Int(row.weight),
                fencing: row.ticket,
                process: holders.process(of: row.holder, pid: row.pid),
                since: row.since,
                details: row.details
            )
        }
    }

    /// The damage in the rows of `holds`, one sentence for each finding.
    package func damageInHolds(_ counters: Counters) throws(SpaceError) -> [String] {
        var damage: [String] = []
        var rows: [(name: String, row: PlaceRow)] = []
        var count = 0
        var stored = try placeRows.scan()
        while let (key, value) = try stored.nextBytes() {
            count += 1
            if let (name, _) = PlaceKeys.parts(of: key), let row = PlaceRow(key: key, value: value) {
                rows.append((name, row))
            } else {
                damage.append("a row of what is held does not decode")
            }
        }
        if count != counters.holds { damage.append("\(count) holds are kept, and the counter says \(counters.holds)") }
        var name: String?
        var front = TurnFront()
        var parties: [PlaceRow] = []
        var isFirst = true
        var kind = SharedObjectKind.lock
        var permits: Int?
        func endName() {
            if let name, !PartyRules.complete(parties).isEmpty {
                damage.append("enough wait at the barrier \(name.quotedForPeople)")
            }
        }
        for (rowName, row) in rows {
            if !name.isSame(as: rowName) {
                endName()
                (name, front, parties, isFirst, kind) = (rowName, TurnFront(), [], true, row.kind)
            }
            let subject = "hold \(row.ticket) of \(rowName.quotedForPeople)"
            if row.ticket == 0 || row.ticket >= counters.nextNumber {
                damage.append("\(subject) has a number that was not given out")
            }
            if row.kind != kind {
                damage.append("\(subject) is \(row.kind.phrase) among others that are \(kind.phrase)")
            }
            if isFirst {
                let object = try object(rowName)
                if let object, object.kind != row.kind {
                    damage.append("\(subject) has the name of \(object.kind.phrase)")
                }
                permits = object?.kind == .semaphore ? object?.details.permits : nil
            }
            isFirst = false
            if row.kind == .barrier, !row.isHolding { parties.append(row) }
            let mayHold =
                switch row.kind {
                case .barrier, .queue: row.isHolding
                case .responder, .request: true
                default: front.admits(row, permits: permits)
                }
            // Holders keep what they have when the number of permits is set to a smaller one, or taken back.
            if mayHold != row.isHolding, !(row.kind == .semaphore && row.isHolding) {
                damage.append("\(subject) \(row.isHolding ? "holds out of turn" : "waits, and could hold")")
            }
        }
        endName()
        return damage
    }
}
