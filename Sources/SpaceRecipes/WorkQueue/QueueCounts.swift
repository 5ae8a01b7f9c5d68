/// How many items of a queue are in which state.
public struct QueueCounts: Sendable, Hashable {
    /// To be had now.
    public fileprivate(set) var ready = 0
    /// To be had later.
    public fileprivate(set) var delayed = 0
    /// Being worked on.
    public fileprivate(set) var taken = 0
    /// Behind another of their group.
    public fileprivate(set) var blocked = 0
    /// Set aside.
    public fileprivate(set) var dead = 0

    /// Those of an empty queue.
    public init() {}

    /// How many there are in all.
    package var all: Int { ready + delayed + taken + blocked + dead }
}

extension Snapshot {
    func queueCounts(_ rows: QueueRows) throws(SpaceError) -> QueueCounts {
        var counts = QueueCounts()
        let now = clock.milliseconds
        for entry in try queueIDs(rows.key(.item)) {
            switch try queueItem(rows, entry.id)?.state {
            case .ready: counts.ready += 1
            case .delayed: counts.delayed += 1
            case .taken: counts.taken += 1
            case .blocked: counts.blocked += 1
            case .dead: counts.dead += 1
            case nil: break
            }
        }
        // Nobody has asked since they became due.
        let due = try queueIDs(rows.key(.delayed)).count { Int64(bitPattern: $0.before) <= now }
        counts.delayed -= due
        counts.ready += due
        return counts
    }
}
