/// The changes of a work queue's items, each within one write transaction.
package struct QueueTable {
    let scope: WriteScope

    // MARK: Coming and going

    /// Puts a new item at the end, and returns its id.
    ///
    /// An item with a group or a unique key waits behind the items that already have it.
    package func insert(_ rows: QueueRows, _ name: String, _ new: NewItem) throws(SpaceError) -> UInt64 {
        let id = scope.counters.nextNumber
        scope.counters.nextNumber += 1
        let item = QueueItemRow(id: id, new, new.origin ?? .now(scope.process))
        try scope.queueValues.put(rows.value(id), new.encoded)
        if item.state == .buried {
            try put(item, rows, name)
            return id
        }
        for turn in rows.turns(of: item) { try scope.queueIndex.put(turn + id.bigEndianBytes, NoValue()) }
        if try scope.snapshot.isFirst(item, rows) { try activate(item, rows, name) } else { try put(item, rows, name) }
        return id
    }

    /// Turns a waiting item into a new one, which keeps the place; returns its id.
    ///
    /// If the new item names no group, it stays in the old one's group; with another group it comes to the end.
    func replace(_ old: QueueItemRow, by new: NewItem, _ rows: QueueRows, _ name: String) throws(SpaceError)
        -> UInt64
    {
        var new = new
        new.group = new.group ?? old.group
        guard old.group == new.group else {
            try complete(old, rows, name)
            return try insert(rows, name, new)
        }
        try scope.queueValues.put(rows.value(old.id), new.encoded)
        let item = QueueItemRow(id: old.id, new, .now(scope.process))
        if old.state == .blocked {
            try put(item, was: old, rows, name)
        } else {
            try activate(item, was: old, rows, name)
        }
        return old.id
    }

    /// Makes an item ready, or delayed if its time has not come.
    private func activate(
        _ item: QueueItemRow,
        was old: QueueItemRow? = nil,
        _ rows: QueueRows,
        _ name: String
    ) throws(SpaceError) {
        var item = item
        item.endTime = 0
        item.state = item.readyTime > scope.clock.milliseconds ? .delayed : .ready
        try put(item, was: old, rows, name)
    }

    /// Makes all processes that wait for an item or for room look again, because there may be one sooner than they
    /// know.
    func noteSooner(_ name: String) throws(SpaceError) {
        scope.note(Interest(object: name))
        try scope.snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
            if !row.isHolding { scope.note(Interest(hold: row.ticket)) }
            return true
        }
    }

    /// Returns an item whose taker has ended or given it up; if that counts as a delivery too many, the item is
    /// buried.
    func returnItem(_ hold: PlaceRow, of name: String, wasDelivered: Bool) throws(SpaceError) {
        guard let (rows, _) = try scope.snapshot.queue(name), let id = hold.item,
            let item = try scope.snapshot.queueItem(rows, id), item.state == .taken
        else { return }
        if wasDelivered {
            try returnItem(item, rows, name, readyTime: 0)
        } else {
            try keep(item, rows, name)
        }
    }

    /// Puts a taken item back as if it had never been taken.
    func keep(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        try activate(item, was: item, rows, name)
    }

    /// Puts a taken item back, ready from `readyTime` on, and counts the delivery.
    func returnItem(
        _ item: QueueItemRow,
        _ rows: QueueRows,
        _ name: String,
        readyTime: Int64,
        priority: Int? = nil,
        reason: String? = nil
    ) throws(SpaceError) {
        let limit = try scope.snapshot.queue(name)?.settings.deliveries ?? 0
        var returned = item
        returned.deliveries = item.deliveries &+ 1
        returned.readyTime = readyTime
        if let priority { returned.priority = Int64(priority) }
        if let reason { returned.setReason(reason) }
        if limit > 0, Int(returned.deliveries) >= limit {
            try bury(returned, was: item, rows, name)
        } else {
            try activate(returned, was: item, rows, name)
        }
    }

    /// Ends a taken item: `body` decides what becomes of it, then its hold is removed.
    ///
    /// Returns `false` if the hold no longer has the item, or had it for longer than its time to run; then the item
    /// returns here.
    func endItem(
        _ place: Place,
        _ body: (QueueItemRow, QueueRows) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool {
        guard let (item, rows) = try heldItem(place) else { return false }
        let isOurs = !item.isOverdue(scope.clock.milliseconds)
        if isOurs { try body(item, rows) }
        // Unless the item is overdue, it is no longer in the state taken, so removing the hold does not return it.
        try scope.places.remove(place.ticket, of: place.name, by: TakerRules())
        return isOurs
    }

    /// Extends a taken item's time to run to `duration` from now, if that is later than its present end.
    ///
    /// Returns `false` if the hold no longer has the item.
    func extendItem(_ place: Place, by duration: Duration) throws(SpaceError) -> Bool {
        guard let (item, rows) = try heldItem(place), !item.isOverdue(scope.clock.milliseconds) else { return false }
        var extended = item
        extended.endTime = max(item.endTime, scope.clock.time(after: duration))
        if item.endTime != 0 { try put(extended, was: item, rows, place.name) }
        return true
    }

    private func heldItem(_ place: Place) throws(SpaceError) -> (QueueItemRow, QueueRows)? {
        guard let hold = try scope.snapshot.place(PlaceKeys(place.name), place.ticket), hold.isHolding,
            let id = hold.item, let (rows, _) = try scope.snapshot.queue(place.name),
            let item = try scope.snapshot.queueItem(rows, id), item.state == .taken
        else { return nil }
        return (item, rows)
    }

    /// Removes an item permanently; the next item of its group follows.
    func complete(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        try scope.queueItems.delete(rows.item(item.id))
        try scope.queueValues.delete(rows.value(item.id))
        if let index = rows.index(of: item) { try scope.queueIndex.delete(index) }
        scope.noteUpkeep()
        try leave(item, rows, name)
    }

    /// Removes an item that no worker has; returns whether there was such an item.
    func removeItem(_ id: UInt64, _ rows: QueueRows, _ name: String) throws(SpaceError) -> Bool {
        guard let item = try scope.snapshot.queueItem(rows, id), item.state != .taken else { return false }
        try complete(item, rows, name)
        return true
    }

    /// Buries a taken item; the next item of its group follows.
    func bury(_ item: QueueItemRow, _ rows: QueueRows, _ name: String, reason: String?) throws(SpaceError) {
        var buried = item
        if let reason { buried.setReason(reason) }
        try bury(buried, was: item, rows, name)
    }

    private func bury(
        _ item: QueueItemRow,
        was old: QueueItemRow,
        _ rows: QueueRows,
        _ name: String
    ) throws(SpaceError) {
        var item = item
        item.state = .buried
        item.endTime = 0
        try put(item, was: old, rows, name)
        try leave(item, rows, name)
    }

    /// Puts a buried item at the end, as if it were new, and returns its new id; `nil` if it is not buried, or if
    /// another item has its unique key by now.
    func kickItem(_ id: UInt64, _ rows: QueueRows, _ name: String) throws(SpaceError) -> UInt64? {
        guard let item = try scope.snapshot.queueItem(rows, id), item.state == .buried else { return nil }
        if let key = item.key, try scope.snapshot.hasItem(rows, unique: key) { return nil }
        var new = NewItem(encoded: try scope.snapshot.queueValue(rows, id).knownElement)
        (new.priority, new.group, new.key) = (item.priority, item.group, item.key)
        try scope.queueItems.delete(rows.item(id))
        try scope.queueValues.delete(rows.value(id))
        if let index = rows.index(of: item) { try scope.queueIndex.delete(index) }
        return try insert(rows, name, new)
    }

    /// Frees what an item that ends, or is buried, has kept from others: its group, its unique key, its room.
    private func leave(_ item: QueueItemRow, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        noteUnsettled(name)
        for turn in rows.turns(of: item) {
            try scope.queueIndex.delete(turn + item.id.bigEndianBytes)
            guard let next = try scope.snapshot.queueIDs(turn, limit: 1).first,
                let following = try scope.snapshot.queueItem(rows, next.id), following.state == .blocked,
                try scope.snapshot.isFirst(following, rows)
            else { continue }
            try activate(following, was: following, rows, name)
        }
    }

    // MARK: Settings

    /// Pauses the queue until a time, or ends the pause if that is 0.
    func pause(_ name: String, _ rows: QueueRows, until time: Int64) throws(SpaceError) {
        guard var settings = try scope.snapshot.queue(name)?.settings else { return }
        settings.pausedUntil = time
        try store(settings, rows, name)
    }

    /// Stores the queue's settings.
    func store(_ settings: QueueSettings, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        try scope.objects.store(name, SharedObjectRow(kind: .queue, number: rows.number, details: settings.details))
        noteUnsettled(name)
        try noteSooner(name)
    }

    // MARK: Rows

    /// Stores an item and its index; `old` is what the rows say of it until now.
    func put(_ item: QueueItemRow, was old: QueueItemRow? = nil, _ rows: QueueRows, _ name: String) throws(SpaceError) {
        let index = rows.index(of: item)
        var isSooner = false
        switch item.state {
        case .delayed: isSooner = try item.readyTime < scope.snapshot.nextTime(rows, .delayed) ?? .max
        case .taken where item.endTime != 0:
            isSooner = try item.endTime < scope.snapshot.nextTime(rows, .running) ?? .max
        default: break
        }
        if let last = old.flatMap({ rows.index(of: $0) }), last != index { try scope.queueIndex.delete(last) }
        try scope.queueItems.put(rows.item(item.id), item)
        if let index { try scope.queueIndex.put(index, NoValue()) }
        noteUnsettled(name)
        if isSooner { try noteSooner(name) }
        // A process that waits for room to put an item with this key may have nothing more to put.
        if item.key != nil { scope.note(Interest(object: name)) }
        scope.noteUpkeep()
    }
}

extension WriteScope {
    /// The work queues of the namespace, and their items.
    package var queues: QueueTable { QueueTable(scope: self) }
}
