import SpaceSystem
import TupleCoding

// Looking at a queue's items, moving them by number, and ruling the queue as a whole.

extension WorkQueue {
    // MARK: Looking

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

    /// Passes on the items in a state, or all, in parts, in the order in which they came next as the walk began.
    ///
    /// Nothing is locked, and no snapshot is held, while `body` runs. Memory is bounded by a part and 8 bytes an item. An item
    /// that leaves the state during the walk may be missing, and one that comes into it does not come.
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
                    let most = min(left, Self.part.items)
                    return snapshot.queuedItems(rows, &ids, in: state, max: most, bytes: Self.part.bytes)
                }
            }
            left -= part.count
            try body(part)
        }
    }

    /// How many items, and how many bytes of values, make a part: they are read in about a millisecond.
    private static let part = (items: 500, bytes: 256 << 10)

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

    /// Returns the items whose time to run is over; if the gate can't be had for that, the next process does it.
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

    // MARK: Moving items

    /// Puts buried items at the end of the queue, as if they were new.
    ///
    /// - Parameter max: The greatest number to put back, the oldest first. Items with damaged values stay buried, and
    ///   so do those whose unique key another item has by now.
    /// - Returns: The number of items put back.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func kick(max: Int = .max) throws(SpaceError) -> Int {
        try attempt("kick buried items") { (core) throws(SpaceError) in
            var kicked = 0
            let letters = try core.read { snapshot throws(SpaceError) -> [UInt64] in
                guard let (rows, _) = try snapshot.queue(name) else { return [] }
                return try snapshot.queueIDs(rows.key(.buried)).map(\.id)
            }
            for id in letters where kicked < max {
                do throws(SpaceError) {
                    if try kick(id, core) != nil { kicked += 1 }
                } catch  where error.code == .damaged {
                    continue
                }
            }
            return kicked
        }
    }

    /// Puts the buried item with a number at the end of the queue, as if it were new.
    ///
    /// - Returns: The item's new number, or `nil` if no buried item has the number, or another item has its unique key by
    ///   now.
    /// - Throws: `typeMismatch`, `damaged`, and the errors of every write.
    @discardableResult
    public func kick(_ id: UInt64) throws(SpaceError) -> UInt64? {
        try attempt("kick buried items") { (core) throws(SpaceError) in try kick(id, core) }
    }

    private func kick(_ id: UInt64, _ core: NamespaceCore) throws(SpaceError) -> UInt64? {
        // The item takes as much room as before.
        try core.write(.removing) { scope throws(SpaceError) in
            guard let (rows, _) = try scope.snapshot.queue(name) else { return nil }
            return try scope.queues.kickItem(id, rows, name)
        }
    }

    /// Removes the item with a number for good, unless a worker has taken it.
    ///
    /// - Returns: Whether it was removed.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func remove(_ id: UInt64) throws(SpaceError) -> Bool {
        try attempt("remove an item from a queue") { (core) throws(SpaceError) in
            try core.write(.removing) { scope throws(SpaceError) in
                guard let (rows, _) = try scope.snapshot.queue(name) else { return false }
                return try scope.queues.removeItem(id, rows, name)
            }
        }
    }

    /// Removes all items that are ready, delayed or blocked; taken items and buried items stay.
    ///
    /// More than 32 items are removed in several transactions; an item that is put meanwhile stays.
    ///
    /// - Returns: The number of items removed.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func drain() throws(SpaceError) -> Int {
        try attempt("drain a queue") { (core) throws(SpaceError) in
            let ids = try core.read { snapshot throws(SpaceError) -> [UInt64] in
                guard let (rows, _) = try snapshot.queue(name) else { return [] }
                return try snapshot.queueIDs(rows.key(.item)).map(\.id)
            }
            var removed = 0
            var rest = ids[...]
            while !rest.isEmpty {
                // From the last to the first, so that no item of a group becomes ready in between.
                let slice = rest.suffix(32)
                rest = rest.dropLast(slice.count)
                removed += try core.write(.removing) { scope throws(SpaceError) in
                    guard let (rows, _) = try scope.snapshot.queue(name) else { return 0 }
                    var count = 0
                    for id in slice.reversed() {
                        guard let item = try scope.snapshot.queueItem(rows, id), item.state != .buried else { continue }
                        if try scope.queues.removeItem(id, rows, name) { count += 1 }
                    }
                    return count
                }
            }
            return removed
        }
    }

    // MARK: Pausing

    /// Whether the queue is paused.
    public var isPaused: Bool {
        get throws(SpaceError) {
            try attempt("look at a queue") { (core) throws(SpaceError) in
                try core.read { snapshot throws(SpaceError) in
                    try snapshot.queue(name)?.settings.isPaused(snapshot.clock.milliseconds) ?? false
                }
            }
        }
    }

    /// Gives no more items to workers, until the queue is resumed or the time has passed.
    ///
    /// Workers keep what they have; items can be put, and taken by number. The pause outlives the process, and is not
    /// part of a dump.
    ///
    /// - Parameter duration: How long, or `nil` for no limit.
    /// - Throws: `invalidArgument` for a negative duration, `typeMismatch`, and the errors of every write.
    public func pause(for duration: Duration? = nil) throws(SpaceError) {
        try attempt("pause a queue") { (core) throws(SpaceError) in
            try duration?.checkNotNegative("a pause")
            try core.write(.adding) { scope throws(SpaceError) in
                let time = duration.map { scope.clock.time(after: $0) } ?? .max
                try scope.queues.pause(name, try make(scope).rows, until: time)
            }
        }
    }

    /// Ends a pause.
    ///
    /// - Throws: `typeMismatch`, and the errors of every write.
    public func resume() throws(SpaceError) {
        try attempt("resume a queue") { (core) throws(SpaceError) in
            try core.write(.removing) { scope throws(SpaceError) in
                guard let (rows, settings) = try scope.snapshot.queue(name), settings.pausedUntil != 0 else { return }
                try scope.queues.pause(name, rows, until: 0)
            }
        }
    }
}
