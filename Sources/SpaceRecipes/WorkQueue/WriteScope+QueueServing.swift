import SpaceSystem
import TupleCoding

/// How items come to takers, and return when a time to run is over.
///
/// Guarantees: a taken item whose time to run is over is no longer its worker's, whether a process has noticed that or
/// not: every operation of the worker on the item compares the time with the namespace's clock (`endItem`,
/// `extendItem`). The next process that takes, or looks at the queue, removes the worker's hold, which returns the
/// item and counts the delivery. A waiting taker sleeps no longer than until the next such time, so it notices within a
/// tick. A process that is stopped or killed before it notices leaves that to the others.
extension WriteScope {
    /// Gives ready items to waiting takers, in the order in which they came, unless the queue is paused.
    ///
    /// `ticket` is the caller's own ticket, whose item counts as seen at once; 0 if the caller has none.
    package func serveTakers(of name: String, seenBy ticket: UInt64 = 0) throws(SpaceError) {
        let keys = PlaceKeys(name)
        var takers: [PlaceRow] = []
        try snapshot.forEachPlace(keys) { row throws(SpaceError) in
            if row.kind == .queue, !row.isHolding { takers.append(row) }
            return true
        }
        guard !takers.isEmpty, let (rows, settings) = try snapshot.queue(name) else { return }
        try returnOverdue(rows, name)
        guard !settings.isPaused(clock.milliseconds) else { return }
        try wakeDelayed(rows)
        let ready = try snapshot.queueIDs(rows.key(.ready), limit: takers.count)
        let next = try snapshot.nextTime(rows, .running) ?? .max
        var first = Int64.max
        for (taker, entry) in zip(takers, ready) {
            guard let item = try snapshot.queueItem(rows, entry.id), item.state == .ready else {
                throw .damaged("item \(entry.id) of the queue \(name.quotedForPeople) is not ready")
            }
            var row = taker
            row.isUnseen = row.ticket != ticket
            let end = try hand(item, to: row, rows, keys)
            if end != 0 { first = min(first, end) }
        }
        if first < next, takers.count > ready.count { try noteSooner(name) }
    }

    /// Makes a taker the holder of an item; returns when its time to run is over, or 0.
    @discardableResult
    private func hand(
        _ item: QueueItemRow,
        to taker: PlaceRow,
        _ rows: QueueRows,
        _ keys: PlaceKeys
    ) throws(SpaceError) -> Int64 {
        var taken = item
        taken.state = .taken
        taken.endTime = taker.timeToRun.map { clock.time(after: .milliseconds($0)) } ?? 0
        try put(taken, was: item, rows)
        var row = taker
        row.details = .int(Int(Int64(bitPattern: item.id)))
        try serve(row, keys)
        return taken.endTime
    }

    /// Takes the item with an id, ready or delayed, past all takers that wait; `nil` if it can't be taken.
    func takeItem(_ id: UInt64, _ request: PlaceRequest, holder: ClaimHolder) throws(SpaceError) -> PlaceRow? {
        guard let (rows, _) = try snapshot.queue(request.name) else { return nil }
        try returnOverdue(rows, request.name)
        guard let item = try snapshot.queueItem(rows, id), item.state == .ready || item.state == .delayed else {
            return nil
        }
        let keys = PlaceKeys(request.name)
        let row = try newPlace(request, keys, holder: holder)
        try add(row, keys)
        try hand(item, to: row, rows, keys)
        try noteSooner(request.name)
        return try snapshot.place(keys, row.ticket)
    }

    /// Makes due items ready, at most as many as one transaction has disk space for; takers that still wait settle
    /// again.
    private func wakeDelayed(_ rows: QueueRows) throws(SpaceError) {
        let now = clock.milliseconds
        for entry in try snapshot.queueIDs(rows.key(.delayed), limit: 16) where Int64(bitPattern: entry.before) <= now {
            guard let item = try snapshot.queueItem(rows, entry.id), item.state == .delayed else { continue }
            var ready = item
            ready.state = .ready
            try put(ready, was: item, rows)
        }
    }

    /// Returns items whose time to run is over, at most as many as one transaction has disk space for.
    func returnOverdue(_ rows: QueueRows, _ name: String) throws(SpaceError) {
        let now = clock.milliseconds
        let due = try snapshot.queueIDs(rows.key(.running), limit: 16).filter { Int64(bitPattern: $0.before) <= now }
        guard !due.isEmpty else { return }
        var tickets: [UInt64: UInt64] = [:]
        try snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
            if row.kind == .queue, row.isHolding, let id = row.item { tickets[id] = row.ticket }
            return true
        }
        for entry in due {
            guard let ticket = tickets[entry.id] else { continue }
            _ = try takeOut(ticket, of: name, by: TakerRules())
        }
    }
}
