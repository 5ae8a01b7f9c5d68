extension QueueItem {
    /// A copy of an item of a queue, for a look without a take.
    public struct Info: QueueItemFacts, ItemCopy, Hashable {
        /// What an item is doing.
        public enum State: String, Sendable, Hashable, CaseIterable {
            /// A worker can take it now.
            case ready
            /// It becomes ready later.
            case delayed
            /// A worker has taken it.
            case taken
            /// It waits for an earlier item of its group.
            case blocked
            /// It came back too often, or its worker buried it.
            case buried
        }

        package let row: QueueItemRow
        package let stored: Value
        /// What the item is doing.
        public let state: State
        /// Why the item last came back or was buried, if a process gave a reason.
        public var reason: String? { row.reason }
        /// The time until a delayed item is ready, or until a taken item returns; `nil` if there is no such time.
        public let due: Duration?
        /// By which process and when it was put.
        package var origin: Origin { row.origin }
    }
}

extension QueueItemRow {
    /// The item's state; an item that has become due counts as ready, even if no process has made it ready yet.
    func state(_ now: Int64) -> QueueItem.Info.State {
        switch state {
        case .delayed: readyTime > now ? .delayed : .ready
        case .taken: isOverdue(now) ? .ready : .taken
        case .ready: .ready
        case .blocked: .blocked
        case .buried: .buried
        }
    }
}

extension QueueItem.Info {
    init(_ row: QueueItemRow, _ value: Value, _ now: Int64) {
        let state = row.state(now)
        let due =
            switch state {
            case .delayed: row.readyTime
            case .taken: row.endTime
            case .ready, .blocked, .buried: Int64(0)
            }
        let remaining: Duration? = due == 0 ? nil : .milliseconds(max(0, due &- now))
        self.init(row: row, stored: value, state: state, due: remaining)
    }
}

extension Snapshot {
    /// The items in a state, or in any, in the order in which they come next; damaged ones are left out.
    func queuedItems(
        _ rows: QueueRows,
        in state: QueueItem.Info.State?,
        max: Int
    ) throws(SpaceError) -> [QueueItem.Info] {
        var ids = try itemIDs(rows, in: state)[...]
        return queuedItems(rows, &ids, in: state, max: max)
    }

    /// Returns the first items, of those with the given ids, that are in a state, or in any; removes the checked ids
    /// from `ids`.
    ///
    /// It ends after the item with which the values reach `bytes`. Damaged items are left out.
    func queuedItems(
        _ rows: QueueRows,
        _ ids: inout ArraySlice<UInt64>,
        in state: QueueItem.Info.State?,
        max: Int,
        bytes most: Int = .max
    ) -> [QueueItem.Info] {
        let now = clock.milliseconds
        var found: [QueueItem.Info] = []
        var bytes = 0
        while found.count < max, bytes < most, let id = ids.popFirst() {
            guard let row = try? queueItem(rows, id), let value = try? queueValue(rows, id) else { continue }
            let item = QueueItem.Info(row, value, now)
            guard state == nil || item.state == state else { continue }
            found.append(item)
            if most < .max { bytes += (try? queueValues.get(rows.value(id)))?.count ?? 0 }
        }
        return found
    }

    /// The ids of the items that may be in a state, in the order in which they come next.
    func itemIDs(_ rows: QueueRows, in state: QueueItem.Info.State?) throws(SpaceError) -> [UInt64] {
        switch state {
        case .taken, .blocked, nil: return try queueIDs(rows.key(.item)).map(\.id)
        case .delayed: return try queueIDs(rows.key(.delayed)).map(\.id)
        case .buried: return try queueIDs(rows.key(.buried)).map(\.id)
        case .ready:
            let ready = try queueIDs(rows.key(.ready)).map(\.id)
            let due = try dueIDs(rows, .delayed) + dueIDs(rows, .running)
            if due.isEmpty { return ready }
            return (ready + due).compactMap { try? queueItem(rows, $0) }.sorted { $0.isBefore($1) }.map(\.id)
        }
    }
}
