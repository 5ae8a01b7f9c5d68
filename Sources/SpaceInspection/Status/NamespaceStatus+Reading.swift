import SpaceSystem

extension NamespaceStatus {
    /// Reads the status; without a usable control file (`control` is `nil`), waiters are unknown.
    ///
    /// Claims and what is buried are read only if `listsClaims` says so: they may be as many as tuples.
    package init(
        name: String,
        control: ControlFile,
        sightings: [SessionFolder.Sighting],
        snapshot: Snapshot,
        bytes: Int,
        diskBytes: Int,
        latency: Latency?,
        listsClaims: Bool = true
    ) throws(SpaceError) {
        let counters = try snapshot.counters()
        var pids: [UInt64: Int32] = [:]
        var owners: [Owner] = []
        for sighting in sightings {
            guard let record = sighting.record else { continue }
            let kind: Owner.Kind
            switch record.kind {
            case .session(let number):
                if sighting.isAlive { pids[number] = record.process.pid }
                kind = record.isOwning ? .session : .visitor
            case .enrolled:
                kind = .enrolled
            }
            owners.append(
                Owner(
                    pid: record.process.pid,
                    command: sighting.isAlive ? ProcessIdentity.commandName(of: record.process.pid) : nil,
                    since: record.sinceMilliseconds,
                    isAlive: sighting.isAlive,
                    kind: kind
                )
            )
        }
        self.name = name
        mode = control.header.mode
        isPersistent = control.staying.isPersistent
        version = Int(control.header.version)
        created = control.header.createdMilliseconds
        life = control.header.life
        sequence = counters.sequence
        byteLimit = Int(control.header.byteLimit)
        history = counters.history(limit: control.header.byteLimit)
        isReplicated = control.staying.isReplica
        entry = isReplicated ? Int(clamping: counters.logEntry) : 0
        machines = try snapshot.members().map(\.name)
        log = try snapshot.mainLog.getValid(.log).flatMap { row -> Log? in
            if row.isOfMembers { return nil }
            return Log(
                path: String(decoding: row.path, as: UTF8.self),
                entry: counters.logEntry,
                isFollowed: counters.followsLog
            )
        }
        self.bytes = bytes
        self.diskBytes = diskBytes
        self.latency = latency
        self.owners = owners.sorted { ($0.since, $0.pid) < ($1.since, $1.pid) }
        (tuples, cells) = (try snapshot.tupleCount, try snapshot.cells.count)
        // The check reports a damaged row; the look goes on.
        oldest = (try? Self.oldest(snapshot)) ?? nil
        waiters = try Self.waiters(control, sightings, pids, snapshot.allPlaces())
        // The sessions in a standby's rows are those of processes elsewhere.
        let holders = Holders(counters.followsLog ? [:] : pids, control, snapshot)
        watchers = try snapshot.watchers().map { (_, row) in
            Watcher(
                process: holders.process(of: .session(row.session)),
                subscribed: row.subscription.isEmpty ? nil : Name(row.subscription),
                shown: Name(row.filter),
                position: row.position
            )
        }
        (claims, buried) = listsClaims ? try Self.claims(snapshot, holders) : ([], [])
        (responders, requests) = try snapshot.responderStatus(holders)
        holds = try snapshot.holdStatus(holders)
        waits = try snapshot.objectWaits { row in
            if case .session = row.holder { holders.pid(of: row.holder) } else { nil }
        }
        deliveryLimit = counters.deliveryLimit == 0 ? nil : Int(counters.deliveryLimit)
        objects = try snapshot.objectInfos()
        shapes = try ShapeTable(reading: snapshot, generation: counters.shapesGeneration).all.map { index in
            Shape(description: index.shape.description, state: "\(index.state)")
        }
    }

    /// When the oldest visible tuple, the one with the lowest id, was written.
    private static func oldest(_ snapshot: Snapshot) throws(SpaceError) -> Int64? {
        var oldest: Int64?
        var search = Search(snapshot, .empty, .oldestFirst)
        try search.forEach(.any) { (_, row) in
            oldest = row.origin.milliseconds
            return false
        }
        return oldest
    }

    /// The living waiters; the slot of a killed waiter is freed at the other processes' next tick.
    ///
    /// A process that holds something may wait for its loss: such waits are left out, because people don't look for
    /// them.
    private static func waiters(
        _ control: ControlFile,
        _ sightings: [SessionFolder.Sighting],
        _ pids: [UInt64: Int32],
        _ places: [(name: String, row: PlaceRow)]
    ) -> [Waiter] {
        var waiters: [Waiter] = []
        let rows = Dictionary(places.map { ($0.row.ticket, $0.row) }, uniquingKeysWith: { first, _ in first })
        let dead = Set(sightings.filter { !$0.isAlive }.compactMap { UInt64($0.name) })
        for index in control.slots.range {
            let slot = control.slots.slot(index)
            let word = slot.current
            guard word.state == .active || word.state == .granted else { continue }
            let session = slot.session.load()
            // If a session has no file, its lock shows whether it lives.
            guard
                pids[session] != nil
                    || !dead.contains(session)
                        && (sightings.contains { $0.name == String(session) } || control.mayLive(session: session))
            else { continue }
            let interest = slot.interest
            let kind: WaitKind
            switch interest.form {
            case .cell: kind = .cell
            case .hold:
                let row = rows[interest.hash]
                if let row, row.isHolding, row.kind != .request { continue }
                kind = .object(row?.kind)
            case .none, .anything, .fields, .record: kind = .tuple
            }
            waiters.append(
                Waiter(
                    pid: pids[slot.session.load()],
                    shown: Name(slot.text),
                    kind: kind,
                    isTaking: interest.isTaking,
                    since: Int64(clamping: slot.sinceMilliseconds.load())
                )
            )
        }
        return waiters
    }

    private static func claims(
        _ snapshot: Snapshot,
        _ holders: Holders
    ) throws(SpaceError) -> (claims: [Claim], buried: [Claim]) {
        var claims: [Claim] = []
        var buried: [Claim] = []
        try snapshot.forEachClaim { (id, row) throws(SpaceError) in
            guard let claim = try Claim(id, row, snapshot, holders) else { return true }
            if row.isBuried { buried.append(claim) } else { claims.append(claim) }
            return true
        }
        return (claims, buried)
    }
}

extension NamespaceStatus.Claim {
    /// The claim in a row, or `nil` if its tuple's row does not decode.
    init?(_ id: UInt64, _ row: ClaimRow, _ snapshot: Snapshot, _ holders: Holders) throws(SpaceError) {
        guard let tuple = try snapshot.claimedTuple(id) else { return nil }
        self.init(
            held: HeldClaim(id, row.number, try snapshot.tuple(id, tuple), deliveries: tuple.deliveries),
            process: holders.process(of: row.holder),
            deadline: row.deadline == 0 ? nil : snapshot.clock.realtime(row.deadline),
            origin: tuple.origin,
            expires: tuple.expiry == 0 ? nil : snapshot.clock.realtime(tuple.expiry),
            endsWith: tuple.end.holder.map { $0.pid(holders.pids) }
        )
    }
}
