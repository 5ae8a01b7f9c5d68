import SpaceSystem
public import TupleCoding

/// A copy of an item of a queue, as one sees it without taking it.
public struct QueuedItem: Sendable, Hashable {
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

    /// The item's number.
    public let id: UInt64
    /// The item's value.
    public let value: Value
    /// What the item is doing.
    public let state: State
    /// The item's priority.
    public let priority: Int
    /// The item's group, or `nil` if it has none.
    public let group: String?
    /// How often the item came back.
    public let deliveries: Int
    /// Why the item came back last or was buried, as far as a process said so.
    public let reason: String?
    /// The time until a delayed item is ready, or until a taken item returns; `nil` if there is no such time.
    public let due: Duration?
    /// By which process and when it was put.
    package let origin: Origin
}

extension QueuedItem {
    init(_ row: QueueItemRow, _ value: Value, _ now: Int64) {
        let state: State
        var due: Int64 = 0
        switch row.state {
        case .delayed where row.readyTime > now: (state, due) = (.delayed, row.readyTime)
        // It has become due, but no taker has come since to make it ready.
        case .ready, .delayed: state = .ready
        case .taken: (state, due) = (.taken, row.endTime)
        case .blocked: state = .blocked
        case .buried: state = .buried
        }
        self.init(
            id: row.id,
            value: value,
            state: state,
            priority: Int(row.priority),
            group: row.group,
            deliveries: Int(row.deliveries),
            reason: row.reason,
            due: due == 0 ? nil : .milliseconds(max(0, due &- now)),
            origin: row.origin
        )
    }
}

extension Snapshot {
    /// The items in a state, or in any, in the order in which they come next; damaged ones are left out.
    func queuedItems(_ rows: QueueRows, in state: QueuedItem.State?, max: Int) throws(SpaceError) -> [QueuedItem] {
        let letters: [QueueRows.Letter] =
            switch state {
            case .ready: [.ready, .delayed]
            case .delayed: [.delayed]
            case .buried: [.buried]
            case .taken, .blocked, nil: [.item]
            }
        let now = clock.milliseconds
        var found: [QueuedItem] = []
        for letter in letters {
            for entry in try queueIDs(rows.key(letter)) {
                guard found.count < max else { return found }
                guard let row = try? queueItem(rows, entry.id), let value = try? queueValue(rows, entry.id) else {
                    continue
                }
                let item = QueuedItem(row, value, now)
                if state == nil || item.state == state { found.append(item) }
            }
        }
        return found
    }
}
