// Changes of a work queue and its items from outside, each within one write transaction.

extension Snapshot {
    /// The place of the worker that has an item; `nil` if none has it.
    func worker(onItem id: UInt64, of name: String) throws(SpaceError) -> PlaceRow? {
        var found: PlaceRow?
        try forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
            if row.kind == .queue, row.isHolding, row.item == id { found = row }
            return found == nil
        }
        return found
    }
}

extension QueueTable {
    /// Removes an item permanently, whatever its state, and takes it from its worker; returns the item as it was, or
    /// `nil` if there is none.
    func cancelItem(_ id: UInt64, _ rows: QueueRows, _ name: String) throws(SpaceError) -> QueueItemRow? {
        guard let item = try scope.snapshot.queueItem(rows, id) else { return nil }
        let worker = item.state == .taken ? try scope.snapshot.worker(onItem: id, of: name) : nil
        try complete(item, rows, name)
        // The item is gone, so the end of its worker's hold returns nothing.
        if let worker { try scope.places.remove(worker.ticket, of: name, by: TakerRules()) }
        return item
    }

    /// Removes some of a queue's items, and the queue itself if it has none left; returns the number of items removed, and
    /// whether the queue is gone.
    ///
    /// The last items are removed with the queue: if a process has waited for room, its put goes into the next queue.
    /// Waiting workers keep their places, and the next queue of the name serves them.
    func remove(_ name: String, _ rows: QueueRows, cancellingTaken: Bool) throws(SpaceError) -> (Int, isGone: Bool) {
        if !cancellingTaken {
            try scope.snapshot.forEachPlace(PlaceKeys(name)) { row throws(SpaceError) in
                guard row.kind == .queue, row.isHolding, let id = row.item else { return true }
                throw .misuse(
                    "a worker has item \(id) of the queue \(name.quotedForPeople)",
                    advice: "wait until its work has ended, cancel it, or have the removal cancel what is taken"
                )
            }
        }
        let ids = try scope.snapshot.queueIDs(rows.key(.item), limit: Self.removedAtOnce + 1).map(\.id)
        for id in ids.prefix(Self.removedAtOnce) { _ = try cancelItem(id, rows, name) }
        guard ids.count <= Self.removedAtOnce else { return (Self.removedAtOnce, false) }
        try scope.objects.remove(name)
        noteUnsettled(name)
        return (ids.count, true)
    }

    /// How many items of a queue one transaction removes.
    private static let removedAtOnce = 32
}
