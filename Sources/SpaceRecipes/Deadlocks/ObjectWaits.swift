/// The place of a wait in `holds`.
package struct WaitPlace: Hashable, Sendable {
    let name: Name
    let ticket: UInt64
    /// Whether watchers were told of a deadlock that the wait is a part of.
    let isTold: Bool
}

/// The waits for a namespace's objects, and the processes that can be waited for.
package struct ObjectWaits: Sendable {
    /// The waits, each once, in the order of the rows.
    package private(set) var waits: [WaitGraph.Wait] = []
    /// The processes that hold a name or answer requests.
    package private(set) var busy: Set<Int32> = []
    /// When the request that a responder answers now ends, in milliseconds since 1970; none: not by itself.
    package private(set) var limits: [Int32: Int64] = [:]
    /// The responders that answer a request.
    private var answering: Set<Int32> = []

    package init() {}

    /// Adds the waits of a namespace.
    package mutating func add(_ other: ObjectWaits, of namespace: Name) {
        busy.formUnion(other.busy)
        // A process that answers requests of several namespaces at once may be in any of them.
        for pid in other.answering {
            let end = other.limits[pid]
            let isNew = answering.insert(pid).inserted
            limits[pid] = isNew ? end : limits[pid].flatMap { own in end.map { max(own, $0) } }
        }
        waits += other.waits.map { wait in
            var wait = wait
            wait.namespace = namespace
            return wait
        }
    }

    /// Notes that a responder has a request; it answers the oldest request first.
    fileprivate mutating func addRequest(of responder: Int32, ends: Int64?) {
        if answering.insert(responder).inserted { limits[responder] = ends }
    }

    fileprivate mutating func addBusy(_ pid: Int32) { busy.insert(pid) }

    /// Adds the wait of a process that has entered a queue, or has asked.
    fileprivate mutating func add(
        _ row: PlaceRow,
        _ pid: Int32,
        for subject: WaitGraph.Subject,
        of blockers: [Int32],
        in turn: TurnPlace? = nil,
        ends: Int64?
    ) {
        guard !blockers.isEmpty else { return }
        var wait = WaitGraph.Wait(pid: pid, subject: subject, blockers: blockers, needsAll: true, since: row.since)
        wait.turn = turn
        wait.ends = ends
        let name = row.kind == .request ? Name(RequestRow.queueName) : subject.name
        wait.place = WaitPlace(name: name, ticket: row.ticket, isTold: row.isTold)
        waits.append(wait)
    }
}

extension Snapshot {
    /// The waits for objects: for locks, permits, leadership and the answers to requests.
    ///
    /// A taker of a queue and a process at a barrier don't wait for holders, so they are not among them.
    ///
    /// - Parameter pid: The living process of a row; `nil` if its session has ended.
    /// - Returns: The waits; rows that do not decode are left out.
    /// - Throws: What reading throws.
    package func objectWaits(pid: (PlaceRow) -> Int32?) throws(SpaceError) -> ObjectWaits {
        guard try counters().holds > 0 else { return ObjectWaits() }
        var waits = ObjectWaits()
        var turns: [Name: [(pid: Int32, row: PlaceRow)]] = [:]
        var responders: [Name: [ResponderRow]] = [:]
        let places = try allPlaces()
        for (name, row) in places where row.kind != .request {
            guard row.isHolding || row.kind.hasTurns, let pid = pid(row) else { continue }
            if row.kind.hasTurns { turns[Name(name), default: []].append((pid, row)) }
            guard row.isHolding else { continue }
            waits.addBusy(pid)
            if let responder = ResponderRow(row) { responders[Name(name), default: []].append(responder) }
        }
        let stacks = responders.mapValues { ResponderStack($0) }
        var isDone: Set<Name> = []
        for (name, row) in places {
            if let request = RequestRow(row) {
                let name = Name(request.name)
                guard let pid = pid(row), request.isPending, let responder = stacks[name]?.addressee(of: request)?.pid
                else { continue }
                let end = request.deadline == 0 ? nil : clock.realtime(request.deadline)
                waits.addRequest(of: responder, ends: end)
                waits.add(row, pid, for: .answer(name: name), of: [responder], ends: end)
            } else if row.kind.hasTurns, isDone.insert(Name(name)).inserted {
                try add(turns[Name(name)] ?? [], of: Name(name), to: &waits)
            }
        }
        return waits
    }

    /// Adds the waits of a name's places for their turn.
    private func add(
        _ places: [(pid: Int32, row: PlaceRow)],
        of name: Name,
        to waits: inout ObjectWaits
    ) throws(SpaceError) {
        let permits = try self.permits(setFor: name.text)
        let wishes = places.map { (place: $0, wish: TurnWish($0.row, permits: permits)) }
            // What is passed over is about to give up.
            .filter { $0.place.row.isHolding || !$0.wish.isBeyondAll }
        let places = wishes.map(\.place)
        let queue = TurnQueue(wishes.map { .init($0.place.pid, isHolding: $0.place.row.isHolding, $0.wish) })
        for (index, place) in places.enumerated() where !place.row.isHolding {
            waits.add(
                place.row,
                place.pid,
                for: .hold(kind: place.row.kind.word, name: name),
                of: queue.blockers(of: index),
                in: TurnPlace(queue: queue, index: index),
                ends: place.row.ends == 0 ? nil : clock.realtime(place.row.ends)
            )
        }
    }
}

extension SharedObjectKind {
    /// Whether its places wait for their turn (`TurnRules`).
    fileprivate var hasTurns: Bool {
        switch self {
        case .lock, .semaphore, .election: true
        default: false
        }
    }
}
