import SpaceSystem
import TupleCoding

// What happens to a work queue's items, each within one write transaction.

extension WriteScope {
    // MARK: Coming and going

    /// Puts a new item at the end, and returns its id.
    ///
    /// `encoded` is its value, one encoded element.
    func putItem(
        _ rows: QueueRows,
        _ name: String,
        _ encoded: [UInt8],
        priority: Int64,
        readyTime: Int64,
        group: String?
    ) throws(SpaceError) -> UInt64 {
        let id = try insertItem(rows, name, encoded, priority: priority, readyTime: readyTime, group: group)
        try serveTakers(of: name)
        return id
    }

    /// Puts a new item at the end, and returns its id; the caller settles the queue.
    package func insertItem(
        _ rows: QueueRows,
        _ name: String,
        _ encoded: [UInt8],
        priority: Int64,
        readyTime: Int64,
        group: String?,
        deliveries: UInt32 = 0,
        isDead: Bool = false
    ) throws(SpaceError) -> UInt64 {
        let id = counters.nextClaim
        counters.nextClaim += 1
        var item = QueueItemRow(id: id, priority: priority, readyTime: readyTime, group: group)
        item.deliveries = deliveries
        try queueValues.put(rows.value(id), encoded)
        if isDead {
            item.state = .dead
            try put(item, rows)
            return id
        }
        var isFirst = true
        if let group {
            let prefix = rows.group(group)
            isFirst = try snapshot.queueIDs(prefix, limit: 1).isEmpty
            try queueIndex.put(prefix + id.bigEndianBytes, NoValue())
        }
        if isFirst { try activate(item, rows, name) } else { try put(item, rows) }
        return id
    }

    /// Makes an item ready, or delayed if its time has not come.
    private func activate(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        var item = item
        item.state = item.readyTime > clock.milliseconds ? .delayed : .ready
        let next = try snapshot.nextDelayed(rows) ?? .max
        let isNext = item.state == .delayed && item.readyTime < next
        try put(item, rows)
        if isNext {
            // Waiting takers sleep until the next item is due, which is now this one.
            try snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
                if !row.isHolding { noteMoved(hold: row.ticket) }
                return true
            }
        }
    }

    /// Returns an item whose taker has ended or given it up; if that counts as a delivery too many, the item is set
    /// aside.
    func returnItem(_ hold: PlaceRow, of name: String, wasDelivered: Bool) throws(SpaceError) {
        guard let (rows, _) = try snapshot.queue(name), let id = hold.item,
            let item = try snapshot.queueItem(rows, id), item.state == .taken
        else { return }
        if wasDelivered {
            try returnItem(item, rows, name, readyTime: 0)
        } else {
            try activate(item, rows, name)
        }
    }

    /// Puts a taken item back, ready from `readyTime` on, and counts the delivery.
    func returnItem(_ item: QueueItemRow, _ rows: QueueRows, _ name: String, readyTime: Int64) throws(SpaceError) {
        let limit = try snapshot.object(name, .queue)?.details.permits ?? 0
        var item = item
        item.deliveries = item.deliveries &+ 1
        item.readyTime = readyTime
        if limit > 0, Int(item.deliveries) >= limit {
            try buryItem(item, rows, name)
        } else {
            try activate(item, rows, name)
        }
    }

    /// Ends a taken item: `body` decides what becomes of it, then its hold is removed.
    ///
    /// Returns `false` if the hold no longer has the item.
    func endItem(
        _ place: Place,
        _ body: (QueueItemRow, QueueRows) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool {
        guard let hold = try snapshot.place(PlaceKeys(place.name), place.ticket), hold.isHolding,
            let id = hold.item, let (rows, _) = try snapshot.queue(place.name),
            let item = try snapshot.queueItem(rows, id), item.state == .taken
        else { return false }
        try body(item, rows)
        // The item is no longer in the state taken, so removing the hold does not return it.
        try remove(place)
        return true
    }

    func completeItem(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        try queueItems.delete(rows.item(item.id))
        try queueValues.delete(rows.value(item.id))
        noteUpkeep()
        try leaveGroup(item, rows, name)
    }

    /// Sets an item aside as a dead letter; the next item of its group follows.
    func buryItem(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        var item = item
        item.state = .dead
        try put(item, rows)
        try leaveGroup(item, rows, name)
    }

    /// Puts a dead letter at the end, as if it were new.
    func kickItem(_ id: UInt64, _ rows: QueueRows, _ name: String) throws(SpaceError) -> Bool {
        guard let item = try snapshot.queueItem(rows, id), item.state == .dead else { return false }
        let encoded = try snapshot.queueValue(rows, id).knownElement
        try queueItems.delete(rows.item(id))
        try queueValues.delete(rows.value(id))
        if let index = rows.index(of: item) { try queueIndex.delete(index) }
        _ = try putItem(rows, name, encoded, priority: item.priority, readyTime: 0, group: item.group)
        return true
    }

    private func leaveGroup(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        guard let group = item.group else { return }
        let prefix = rows.group(group)
        try queueIndex.delete(prefix + item.id.bigEndianBytes)
        guard let next = try snapshot.queueIDs(prefix, limit: 1).first,
            let following = try snapshot.queueItem(rows, next.id), following.state == .blocked
        else { return }
        try activate(following, rows, name)
    }

    // MARK: Serving

    /// Gives ready items to waiting takers, in the order in which they came.
    ///
    /// `ticket` is the caller's own ticket, whose item counts as seen at once; 0 if the caller has none.
    package func serveTakers(of name: String, seenBy ticket: UInt64 = 0) throws(SpaceError) {
        let keys = PlaceKeys(name)
        var takers: [PlaceRow] = []
        try snapshot.forEachPlace(keys) { row throws(SpaceError) in
            if row.kind == .queue, !row.isHolding { takers.append(row) }
            return true
        }
        guard !takers.isEmpty, let (rows, _) = try snapshot.queue(name) else { return }
        try wakeDelayed(rows)
        let ready = try snapshot.queueIDs(rows.key(.ready), limit: takers.count)
        for (taker, entry) in zip(takers, ready) {
            guard var item = try snapshot.queueItem(rows, entry.id), item.state == .ready else {
                throw .damaged("item \(entry.id) of the queue \(name.quotedForPeople) is not ready")
            }
            if let index = rows.index(of: item) { try queueIndex.delete(index) }
            item.state = .taken
            try put(item, rows)
            var row = taker
            row.details = .int(Int(Int64(bitPattern: item.id)))
            row.isUnseen = row.ticket != ticket
            try serve(row, keys)
        }
    }

    /// Makes due items ready, at most as many as one transaction has disk space for; takers that still wait settle
    /// again.
    private func wakeDelayed(_ rows: QueueRows) throws(SpaceError) {
        let now = clock.milliseconds
        for entry in try snapshot.queueIDs(rows.key(.delayed), limit: 16) where Int64(bitPattern: entry.before) <= now {
            guard var item = try snapshot.queueItem(rows, entry.id), item.state == .delayed else { continue }
            if let index = rows.index(of: item) { try queueIndex.delete(index) }
            item.state = .ready
            try put(item, rows)
        }
    }

    // MARK: Rows

    private func put(_ item: QueueItemRow, _ rows: QueueRows) throws(SpaceError) {
        try queueItems.put(rows.item(item.id), item)
        if let index = rows.index(of: item) { try queueIndex.put(index, NoValue()) }
        noteUpkeep()
    }
}
