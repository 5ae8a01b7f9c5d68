/// The number of a queue's items in each state.
public struct QueueCounts: Sendable, Hashable {
    /// Items that a worker can take now.
    public fileprivate(set) var ready = 0
    /// Items that become ready later.
    public fileprivate(set) var delayed = 0
    /// Items that a worker has taken.
    public fileprivate(set) var taken = 0
    /// Items that wait for an earlier item of their group.
    public fileprivate(set) var blocked = 0
    /// Items that came back too often, or that a worker or a command buried.
    public fileprivate(set) var buried = 0

    /// The counts of an empty queue.
    public init() {}

    /// The number of all items.
    package var all: Int { ready + delayed + taken + blocked + buried }
}

extension Snapshot {
    func queueCounts(_ rows: QueueRows) throws(SpaceError) -> QueueCounts {
        var counts = QueueCounts()
        let now = clock.milliseconds
        for entry in try queueIDs(rows.key(.item)) {
            switch try queueItem(rows, entry.id)?.state(now) {
            case .ready: counts.ready += 1
            case .delayed: counts.delayed += 1
            case .taken: counts.taken += 1
            case .blocked: counts.blocked += 1
            case .buried: counts.buried += 1
            case nil: break
            }
        }
        return counts
    }
}
