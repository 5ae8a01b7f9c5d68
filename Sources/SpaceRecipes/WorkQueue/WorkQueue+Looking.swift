// Looking at a queue's items.

extension WorkQueue {
    /// The items in a state, or all, in the order in which they come next.
    ///
    /// - Parameters:
    ///   - state: The state, or `nil` for all items, in the order of putting.
    ///   - max: The largest number of items to return.
    /// - Returns: Copies; items with damaged values are left out.
    /// - Throws: `typeMismatch`, and the errors of every read.
    /// - Complexity: O(n) in the items of the state; for `taken`, `blocked` and `nil` in all items.
    public func items(in state: QueueItem.Info.State? = nil, max: Int = .max) throws(SpaceError) -> [QueueItem.Info] {
        try read(Self.looking) { (snapshot, rows) throws(SpaceError) in
            try snapshot.queuedItems(rows, in: state, max: max)
        } ?? []
    }

    private static let looking = "look at the items of a queue"

    /// Passes on the items in a state, or all, in parts, in the order that they had when the walk began.
    ///
    /// Nothing is locked, and no snapshot is held, while `body` runs. Memory is bounded by a part and 8 bytes an item.
    /// An item that leaves the state during the walk may be missing, and an item that enters it is left out.
    package func forEachPart(
        in state: QueueItem.Info.State?,
        max: Int = .max,
        _ body: ([QueueItem.Info]) throws -> Void
    ) throws {
        let all = try read(Self.looking) { (snapshot, rows) throws(SpaceError) in try snapshot.itemIDs(rows, in: state)
        }
        var (ids, left) = ((all ?? [])[...], max)
        while !ids.isEmpty, left > 0 {
            let part = try attempt(Self.looking) { (core) throws(SpaceError) in
                try core.read { snapshot throws(SpaceError) -> [QueueItem.Info] in
                    guard let (rows, _) = try snapshot.queue(name) else {
                        ids.removeAll()
                        return []
                    }
                    let most = min(left, Limits.part.rows)
                    return snapshot.queuedItems(rows, &ids, in: state, max: most, bytes: Limits.part.bytes)
                }
            }
            left -= part.count
            try body(part)
        }
    }

    /// The item with a number, or `nil` if there is none.
    ///
    /// - Throws: `typeMismatch`, `damaged`, and the errors of every read.
    public func item(_ id: UInt64) throws(SpaceError) -> QueueItem.Info? {
        try read("look at an item of a queue") { (snapshot, rows) throws(SpaceError) -> QueueItem.Info? in
            guard let row = try snapshot.queueItem(rows, id) else { return nil }
            return QueueItem.Info(row, try snapshot.queueValue(rows, id), snapshot.clock.milliseconds)
        } ?? nil
    }

    /// The number of items in each state.
    ///
    /// - Returns: The counts.
    /// - Throws: `typeMismatch`, and the errors of every read.
    /// - Complexity: O(n).
    public func counts() throws(SpaceError) -> QueueCounts {
        try read("count the items of a queue") { (snapshot, rows) throws(SpaceError) in
            try snapshot.queueCounts(rows)
        } ?? QueueCounts()
    }

    /// Reads the queue, or returns `nil` if there is none.
    private func read<Result>(
        _ operation: String,
        _ body: (Snapshot, QueueRows) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result? {
        try attempt(operation) { (core) throws(SpaceError) in
            // The items of workers that have died return first, in case no other process has noticed.
            let hasHolds = try core.read { snapshot throws(SpaceError) in try snapshot.counters().holds > 0 }
            if hasHolds {
                _ = core.endedHolders.returnIfAskingIsDue(at: name)
                returnOverdue(core)
            }
            return try core.read { snapshot throws(SpaceError) in
                guard let (rows, _) = try snapshot.queue(name) else { return nil }
                return try body(snapshot, rows)
            }
        }
    }

    /// Returns the items whose time to run is over; if the gate can't be acquired for that, the next process does it.
    private func returnOverdue(_ core: NamespaceCore) {
        var isOverdue = true
        while isOverdue {
            isOverdue = false
            _ = try? core.read { snapshot throws(SpaceError) in
                guard let (rows, _) = try snapshot.queue(name) else { return }
                isOverdue = try snapshot.nextTime(rows, .running) ?? .max <= snapshot.clock.milliseconds
            }
            guard isOverdue else { return }
            do throws(SpaceError) {
                try core.write(.removing, timeout: Engine.upkeepPatience) { scope throws(SpaceError) in
                    guard let (rows, _) = try scope.snapshot.queue(name) else { return }
                    try scope.queues.returnOverdue(rows, name)
                }
            } catch {
                return
            }
        }
    }
}
