/// Serving the processes that wait at a queue: the only function that hands out items, and the items that are due.
///
/// Guarantees: each transaction that changes an item, a taker or the settings of a queue settles the queue before it is
/// committed (`UnsettledNames`). Settling returns overdue items, makes delayed items ready if their time has come, and
/// gives ready items to the waiting takers, unless the queue is paused; it wakes the processes that wait for an item or
/// for room. So after no commit a taker waits although there is an item that it could have. (`tools/model/check serving`
/// searches all orders of these steps.)
///
/// Some items become available by time alone, without a commit. A taker, and a process that waits for an item or for
/// room, sleeps at most until the next such time (`Snapshot.nextDue`), which it reads at each look. If a transaction
/// moves that time forward, it wakes the sleeper (`noteSooner`). The first to notice settles the queue for all.
///
/// A taken item whose time to run is over no longer belongs to its worker, whether a process has noticed that or not:
/// every operation of the worker on the item compares the time with the namespace's clock (`endItem`, `extendItem`).
///
/// However many items are due at once, the order holds: only the best of them, by priority and age, are made ready in
/// one transaction, and at least as many as there are takers.
extension QueueTable {
    /// Notes that the queue is to be settled before the commit.
    package func noteUnsettled(_ name: String) {
        scope.unsettled.note(Name(name)) { scope throws(SpaceError) in try scope.queues.settle(name) }
    }

    /// Hands out what the queue has.
    ///
    /// `ticket` is the caller's own ticket, whose item counts as seen at once; 0 if the caller has none.
    func settle(_ name: String, seenBy ticket: UInt64 = 0) throws(SpaceError) {
        // The processes that wait for an item or for room look themselves.
        scope.note(Interest(object: name))
        guard let (rows, settings) = try scope.snapshot.queue(name) else { return }
        try returnOverdue(rows, name)
        guard !settings.isPaused(scope.clock.milliseconds) else { return }
        let keys = PlaceKeys(name)
        var takers: [PlaceRow] = []
        try scope.snapshot.forEachPlace(keys) { row throws(SpaceError) in
            if row.kind == .queue, !row.isHolding { takers.append(row) }
            return true
        }
        guard !takers.isEmpty else { return }
        let known = try wakeDelayed(rows, name, atLeast: takers.count)
        let ready = try scope.snapshot.queueIDs(rows.key(.ready), limit: min(takers.count, known))
        let most = roomForMoves(of: ready.count)
        for (taker, entry) in zip(takers, ready.prefix(most)) {
            guard let item = try scope.snapshot.queueItem(rows, entry.id), item.state == .ready else {
                throw .damaged("item \(entry.id) of the queue \(name.quotedForPeople) is not ready")
            }
            var row = taker
            row.isUnseen = row.ticket != ticket
            try hand(item, to: row, rows, keys)
        }
        // The takers that get nothing, although there may be more items, settle the queue again.
        if most < ready.count || known < takers.count { try noteSooner(name) }
    }

    /// Makes a taker the holder of an item.
    private func hand(
        _ item: QueueItemRow,
        to taker: PlaceRow,
        _ rows: QueueRows,
        _ keys: PlaceKeys
    ) throws(SpaceError) {
        var taken = item
        taken.state = .taken
        taken.endTime = taker.timeToRun.map { scope.clock.time(after: .milliseconds($0)) } ?? 0
        try put(taken, was: item, rows, keys.name)
        var row = taker
        row.details = .int(Int(Int64(bitPattern: item.id)))
        try scope.places.serve(row, keys)
    }

    /// Takes the item with an id, ready or delayed, before all waiting takers; `nil` if it can't be taken.
    func takeItem(_ id: UInt64, _ request: PlaceRequest, holder: ClaimHolder) throws(SpaceError) -> PlaceRow? {
        guard let (rows, _) = try scope.snapshot.queue(request.name) else { return nil }
        try returnOverdue(rows, request.name)
        guard let item = try scope.snapshot.queueItem(rows, id), item.state == .ready || item.state == .delayed else {
            return nil
        }
        let keys = PlaceKeys(request.name)
        let row = try scope.places.newPlace(request, keys, holder: holder)
        try scope.places.add(row, keys)
        try hand(item, to: row, rows, keys)
        return try scope.snapshot.place(keys, row.ticket)
    }

    // MARK: What is due

    /// Makes due items ready: the best of them, and at least `count` if there is disk space for that many.
    ///
    /// Returns how many of the ready items are in order: if others are still due, only as many as were made ready.
    private func wakeDelayed(_ rows: QueueRows, _ name: String, atLeast count: Int) throws(SpaceError) -> Int {
        let (due, isAll) = try due(rows, .delayed, atLeast: count)
        for item in due {
            guard item.state == .delayed else {
                throw .damaged("item \(item.id) of the queue \(name.quotedForPeople) is not delayed")
            }
            var ready = item
            ready.state = .ready
            try put(ready, was: item, rows, name)
        }
        return isAll ? .max : due.count
    }

    /// Returns items whose time to run is over, the best of them first.
    func returnOverdue(_ rows: QueueRows, _ name: String) throws(SpaceError) {
        let (overdue, _) = try due(rows, .running, atLeast: 0)
        guard !overdue.isEmpty else { return }
        var tickets: [UInt64: UInt64] = [:]
        try scope.snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
            if row.kind == .queue, row.isHolding, let id = row.item { tickets[id] = row.ticket }
            return true
        }
        for item in overdue {
            guard item.state == .taken else {
                throw .damaged("item \(item.id) of the queue \(name.quotedForPeople) is not taken")
            }
            if let ticket = tickets[item.id] {
                try scope.places.remove(ticket, of: name, by: TakerRules())
            } else {
                try returnItem(item, rows, name, readyTime: 0)
            }
        }
    }

    /// The items of an index whose times have come.
    ///
    /// If there are many, they are the best by priority and age: as many as one transaction moves, and at least `count`
    /// if there is disk space for that many.
    private func due(
        _ rows: QueueRows,
        _ letter: QueueRows.Letter,
        atLeast count: Int
    ) throws(SpaceError) -> (items: [QueueItemRow], isAll: Bool) {
        var items = try scope.snapshot.dueIDs(rows, letter).map { id throws(SpaceError) in
            guard let item = try scope.snapshot.queueItem(rows, id) else { throw .damaged("item \(id) of a queue") }
            return item
        }
        let most = roomForMoves(of: min(items.count, max(count, Self.usualMoves)))
        if items.count <= most { return (items, true) }
        items.sort { $0.isBefore($1) }
        return (Array(items.prefix(most)), false)
    }

    /// How many items one transaction moves, if no more takers wait.
    private static let usualMoves = 256
    /// For how many moves there is disk space even in a full namespace.
    private static let surestMoves = 16

    /// How many of `count` items can change their states, with their holders, in the disk space that there is.
    private func roomForMoves(of count: Int) -> Int {
        // A row has at most a group, a unique key and a reason.
        let isRoomy =
            count <= Self.surestMoves
            || scope.meter.ensuresRoom(forRows: 4 * count, of: 320, in: [scope.tables.elements, scope.tables.holds])
        return isRoomy ? count : Self.surestMoves
    }
}

extension Snapshot {
    /// The ids of an index of times whose times have come.
    func dueIDs(_ rows: QueueRows, _ letter: QueueRows.Letter) throws(SpaceError) -> [UInt64] {
        let now = clock.milliseconds
        var due: [UInt64] = []
        var index = try queueIndex.scan(prefix: rows.key(letter))
        while let (key, _) = try index.nextBytes(), let id = QueueRows.id(of: key) {
            guard Int64(bitPattern: key.big(key.count - 16)) <= now else { break }
            due.append(id)
        }
        return due
    }

    /// The next time at which takers can get an item that they can't get now, on the namespace's clock: a delayed item
    /// is ready, a time to run is over, or a pause ends; the past if they can get one now, `nil` if there is no such time.
    func nextDue(_ rows: QueueRows, _ settings: QueueSettings) throws(SpaceError) -> Int64? {
        if settings.isPaused(clock.milliseconds) {
            return settings.pausedUntil == .max ? nil : settings.pausedUntil
        }
        if try !queueIDs(rows.key(.ready), limit: 1).isEmpty { return 0 }
        let times = [try nextTime(rows, .delayed), try nextTime(rows, .running)]
        return times.compactMap(\.self).min()
    }

    /// The earliest time in an index of times.
    func nextTime(_ rows: QueueRows, _ letter: QueueRows.Letter) throws(SpaceError) -> Int64? {
        try queueIDs(rows.key(letter), limit: 1).first.map { Int64(bitPattern: $0.before) }
    }
}
