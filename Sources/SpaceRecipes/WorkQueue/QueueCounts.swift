/// The number of a queue's items in each state: `counts[.buried]` of them are buried.
public struct QueueCounts: Sendable, Hashable {
    private var counts: [QueueItem.Info.State: Int] = [:]

    package init() {}

    /// The number of items in a state.
    public subscript(state: QueueItem.Info.State) -> Int { counts[state] ?? 0 }

    /// The number of all items.
    package var all: Int { counts.values.reduce(0, +) }

    fileprivate mutating func add(_ state: QueueItem.Info.State) { counts[state, default: 0] += 1 }
}

extension Snapshot {
    package func queueCounts(_ rows: QueueRows) throws(SpaceError) -> QueueCounts {
        var counts = QueueCounts()
        let now = clock.milliseconds
        for entry in try queueIDs(rows.key(.item)) {
            if let state = try queueItem(rows, entry.id)?.state(now) { counts.add(state) }
        }
        return counts
    }
}
