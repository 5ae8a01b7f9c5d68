import SpaceSystem
public import TupleCoding

/// A queue of work that survives its workers: its items have priorities and delays, and may belong to groups.
///
/// The items of a group are worked on in order. An item that fails too often is set aside.
///
/// ```swift
/// let mail = jobs.queue("mail", deliveries: 5)
/// try mail.put(["to": "ada@example.org"], priority: 1, group: "ada")
/// try await mail.work { item in try await send(item.value) }          // completes it, or returns it if this throws
/// ```
///
/// Workers are served in the order in which they asked. Each gets the ready item with the highest priority; among
/// equals, the oldest. If a worker dies, the kernel releases its session lock, and its item returns at once; that
/// counts as a delivery. Of a group, one item at a time is worked on, in the order of putting; while the first item is
/// delayed or has returned, the others wait.
public struct WorkQueue: Sendable {
    package let namespace: Namespace
    /// The queue's name in the namespace.
    public let name: String
    /// The number of deliveries after which a returning item is set aside as a dead letter; 0: never.
    public let deliveries: Int

    package init(_ name: String, deliveries: Int, in namespace: Namespace) {
        self.name = name
        self.deliveries = deliveries
        self.namespace = namespace
    }

    // MARK: Putting

    /// Puts an item.
    ///
    /// - Parameters:
    ///   - value: The item, up to 64 MiB encoded.
    ///   - priority: The item's priority; higher ones are taken first.
    ///   - delay: How long no worker gets the item; a negative delay is refused.
    ///   - group: The item's group, 1 to 200 bytes, or `nil` for none; one item of a group is worked on at a time.
    /// - Returns: The item's number, which no other item in the namespace has.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object, or to a queue with another number of
    ///   deliveries; `tooLarge`, `invalidArgument`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`,
    ///   `namespaceDeleted`.
    @discardableResult
    public func put(
        _ value: Value,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil
    ) throws(SpaceError) -> UInt64 {
        try attempt(Self.putting) { (core) throws(SpaceError) in
            try delay.checkNotNegative("a delay")
            if let group, !(1...Limits.queueGroupBytes).contains(group.utf8.count) {
                throw .badName("the group's name", bytes: group.utf8.count, most: Limits.queueGroupBytes)
            }
            let encoded = try value.uncheckedElement()
            guard encoded.count <= Limits.valueBytes else {
                throw .tooLarge("an item", bytes: encoded.count, most: Limits.valueBytes)
            }
            return try core.write(.adding) { scope throws(SpaceError) in
                let rows = try make(scope)
                return try scope.putItem(
                    rows,
                    name,
                    encoded,
                    priority: Int64(priority),
                    readyTime: delay > .zero ? scope.clock.time(after: delay) : 0,
                    group: group
                )
            }
        }
    }

    /// Puts a `Codable` value; see ``put(_:priority:delay:group:)-(Value,_,_,_)``.
    ///
    /// - Throws: The same errors, and `badData` if the value doesn't encode.
    @discardableResult
    public func put(
        encoding content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil
    ) throws(SpaceError) -> UInt64 {
        let value = try namespace.core.attempt(Self.putting) { () throws(SpaceError) in try Value(checking: content) }
        return try put(value, priority: priority, delay: delay, group: group)
    }

    // MARK: Taking

    /// Waits for an item.
    ///
    /// - Parameter timeout: The timeout, or `nil` to wait indefinitely.
    /// - Returns: The item, which returns to the queue unless it is completed, or `nil` if the time has passed.
    /// - Throws: `cancelled` if the task is cancelled; `typeMismatch`, and the errors of every write.
    public func take(timeout: Duration? = nil) async throws(SpaceError) -> QueueItem? {
        try item(try await taking(timeout: timeout).suspend())
    }

    /// Waits for an item.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take(timeout: Duration) throws(SpaceError) -> QueueItem? {
        try takeBlocking(timeout: timeout, interruption: nil)
    }

    /// Waits for an item, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
    package func takeBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> QueueItem? {
        try item(try taking(timeout: timeout).block(interruption: interruption))
    }

    private func taking(timeout: Duration?) throws(SpaceError) -> QueueWait {
        try attempt(QueueWait.operation) { (core) throws(SpaceError) in QueueWait(core, name, timeout: timeout) }
    }

    /// Takes an item if one is ready and no earlier taker waits for it.
    ///
    /// - Returns: The item, which returns to the queue unless it is completed, or `nil` if none is ready.
    /// - Throws: `typeMismatch`, and the errors of every write.
    public func takeIfReady() throws(SpaceError) -> QueueItem? {
        try takeBlocking(timeout: .zero, interruption: nil)
    }

    /// Takes one item after the other and runs `body` with each, until the task is cancelled or the time-out passes.
    ///
    /// If `body` returns, the item is completed; if it throws, the item returns to the queue.
    ///
    /// - Parameters:
    ///   - timeout: The time to wait for the next item, or `nil` to wait indefinitely.
    ///   - body: The work on one item; it runs with the caller's isolation.
    /// - Throws: The errors of `body` and of ``take(timeout:)-(Duration?)``; `holdLost` if an item was taken away while
    ///   `body` worked on it.
    nonisolated(nonsending) public func work(
        timeout: Duration? = nil,
        _ body: (borrowing QueueItem) async throws -> Void
    ) async throws {
        while let item = try await take(timeout: timeout) {
            do {
                try await body(item)
            } catch {
                try? item.release()
                throw error
            }
            try item.complete()
        }
    }

    private func item(_ place: Place?) throws(SpaceError) -> QueueItem? {
        guard let place else { return nil }
        do throws(SpaceError) {
            let found = try namespace.core.read { snapshot throws(SpaceError) -> (QueueItemRow, Value)? in
                guard let id = try snapshot.place(PlaceKeys(name), place.ticket)?.item,
                    let (rows, _) = try snapshot.queue(name), let item = try snapshot.queueItem(rows, id)
                else { return nil }
                return (item, try snapshot.queueValue(rows, item.id))
            }
            guard let (row, value) = found else { throw .lost(place) }
            return QueueItem(row, value, OwnPlace(place, in: namespace))
        } catch  where error.code == .damaged {
            // No worker can ever read this item; set aside, it does not block those behind it.
            setAside(place)
            throw error.named(QueueWait.operation, namespace.name)
        } catch {
            namespace.core.endOrRemember(place.unseen)
            throw error.named(QueueWait.operation, namespace.name)
        }
    }

    private func setAside(_ place: Place) {
        do throws(SpaceError) {
            _ = try namespace.core.write(.removing) { scope throws(SpaceError) in
                try scope.endItem(place) { (item, rows) throws(SpaceError) in try scope.buryItem(item, rows, name) }
            }
        } catch {
            namespace.core.endOrRemember(place.unseen)
        }
    }

    // MARK: Dead letters

    /// The items that came back too often or were set aside, the oldest first.
    ///
    /// - Returns: Copies; items with damaged values are left out.
    /// - Throws: `typeMismatch`, and the errors of every read.
    public func deadLetters() throws(SpaceError) -> [DeadLetter] {
        try read("look at dead letters") { (snapshot, rows) throws(SpaceError) in
            var letters: [DeadLetter] = []
            for entry in try snapshot.queueIDs(rows.key(.dead)) {
                guard let item = try snapshot.queueItem(rows, entry.id),
                    let value = try? snapshot.queueValue(rows, item.id)
                else { continue }
                letters.append(DeadLetter(id: item.id, value: value, deliveries: Int(item.deliveries)))
            }
            return letters
        } ?? []
    }

    /// Puts dead letters at the end of the queue, as if they were new.
    ///
    /// - Parameter max: The greatest number to put back, the oldest first; items with damaged values stay set aside.
    /// - Returns: The number of items put back.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func kick(max: Int = .max) throws(SpaceError) -> Int {
        try attempt("kick dead letters") { (core) throws(SpaceError) in
            var kicked = 0
            let letters = try core.read { snapshot throws(SpaceError) -> [UInt64] in
                guard let (rows, _) = try snapshot.queue(name) else { return [] }
                return try snapshot.queueIDs(rows.key(.dead)).map(\.id)
            }
            for id in letters where kicked < max {
                do throws(SpaceError) {
                    let hasMoved = try core.write(.adding) { scope throws(SpaceError) in
                        guard let (rows, _) = try scope.snapshot.queue(name) else { return false }
                        return try scope.kickItem(id, rows, name)
                    }
                    if hasMoved { kicked += 1 }
                } catch  where error.code == .damaged {
                    continue
                }
            }
            return kicked
        }
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

    // MARK: Helpers

    private static let putting = "put an item into a queue"

    /// Reads the queue, or returns `nil` if there is none.
    private func read<Result>(
        _ operation: String,
        _ body: (Snapshot, QueueRows) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result? {
        try attempt(operation) { (core) throws(SpaceError) in
            // The items of workers that have died return first, in case no other process has noticed.
            let hasHolds = try core.read { snapshot throws(SpaceError) in try snapshot.counters().holds > 0 }
            if hasHolds { _ = core.askForTheDead(at: name) }
            return try core.read { snapshot throws(SpaceError) in
                guard let (rows, _) = try snapshot.queue(name) else { return nil }
                return try body(snapshot, rows)
            }
        }
    }

    private var object: ObjectState { ObjectState(namespace: namespace, name: name, kind: .queue) }

    /// Runs `body` as one operation on the queue.
    private func attempt<Result>(
        _ operation: String,
        _ body: (NamespaceCore) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try object.attempt(operation) { (core) throws(SpaceError) in
            guard (0...Int(UInt32.max)).contains(deliveries) else {
                let reason = "\(deliveries) is no number of deliveries"
                throw .badNumber(reason, advice: "give a number from 1, or 0 for no limit")
            }
            return try body(core)
        }
    }

    /// The queue's rows; the queue is made if it does not exist.
    package func make(_ scope: WriteScope) throws(SpaceError) -> QueueRows {
        guard let (rows, row) = try scope.snapshot.queue(name) else {
            return QueueRows(number: try scope.makeObject(name, .queue, details: .int(deliveries)))
        }
        guard row.details == .int(deliveries) else {
            throw object.mismatch(is: "\(row.details.json) deliveries", wanted: "\(deliveries)")
        }
        return rows
    }
}

extension Limits {
    /// The longest name of a queue's group, in bytes of UTF-8.
    public static let queueGroupBytes = 200
}

extension Namespace {
    /// The work queue with a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    ///   - deliveries: The number of deliveries after which a returning item is set aside; 0: never. All processes that
    ///     put items must give the same number.
    /// - Returns: The queue; nothing is written before a process puts an item or waits for one.
    public func queue(_ name: String, deliveries: Int = 0) -> WorkQueue {
        WorkQueue(name, deliveries: deliveries, in: self)
    }
}
