/// A queue of work that survives its workers: its items have priorities and delays, and may belong to groups.
///
/// The items of a group are worked on in order. An item that fails too often is buried.
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
public struct WorkQueue: StoredObject, StoredHandle {
    package let object: ObjectReference
    fileprivate let wantedDeliveries: Int?
    fileprivate let wantedBound: Int?

    // MARK: Putting

    /// Puts an item, any `Codable` value; an item with a unique key is in the queue only once.
    ///
    /// ```swift
    /// try mail.put(["report": "today"], unique: "report")
    /// ```
    ///
    /// - Parameters:
    ///   - content: The item, up to 64 MiB encoded.
    ///   - priority: The item's priority; higher ones are taken first.
    ///   - delay: How long no worker gets the item; a negative delay is refused.
    ///   - group: The item's group, 1 to 200 bytes, or `nil` for none; one item of a group is worked on at a time.
    ///   - key: The item's unique key, 1 to 200 bytes, or `nil` for none. An item has it while it is ready, delayed, blocked
    ///     or taken.
    ///   - rule: What to do if an item has the key.
    /// - Returns: What was done, with the item's number.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object, or to a queue with other numbers than
    ///   this handle gives; `limitReached` if the queue is as full as its bound allows; `badData` if the content doesn't
    ///   encode; `tooLarge`, `invalidArgument`, `storageFull`, `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(log n); with a bound b, O(b).
    @discardableResult
    public func put(
        _ content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String? = nil,
        ifPresent rule: UniqueRule = .keep
    ) throws(SpaceError) -> QueuePut {
        try putAll([item(value(of: content), priority, delay, group, key, rule)], delay: delay)[0]
    }

    /// Puts several items in one transaction: all or none.
    ///
    /// - Returns: The items' numbers, in the same order.
    /// - Throws: The errors of ``put(_:priority:delay:group:unique:ifPresent:)``, and
    ///   `transactionTooLarge`.
    @discardableResult
    public func put(
        contentsOf items: some Sequence<some Encodable>,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil
    ) throws(SpaceError) -> [UInt64] {
        var all: [NewItem] = []
        for content in items { all.append(try item(try value(of: content), priority, delay, group)) }
        return try putAll(all, delay: delay).map(\.id)
    }

    /// Puts an item as soon as the queue's bound allows.
    ///
    /// `timeout` says how long to wait for room; `nil`: without limit. The other parameters are those of
    /// ``put(_:priority:delay:group:unique:ifPresent:)``.
    ///
    /// - Returns: What was done, or `nil` if the time has passed.
    /// - Throws: The errors of ``put(_:priority:delay:group:unique:ifPresent:)`` except that of a full
    ///   queue, and `cancelled`.
    public func put(
        _ content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String? = nil,
        ifPresent rule: UniqueRule = .keep,
        timeout: Duration?
    ) async throws(SpaceError) -> QueuePut? {
        let new = try item(try value(of: content), priority, delay, group, key, rule)
        return try await putting(new, delay: delay, timeout: timeout).suspend()
    }

    /// Puts an item as soon as the queue's bound allows; blocks the thread, but is otherwise the same as the
    /// asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func put(
        _ content: some Encodable,
        priority: Int = 0,
        delay: Duration = .zero,
        group: String? = nil,
        unique key: String? = nil,
        ifPresent rule: UniqueRule = .keep,
        timeout: Duration
    ) throws(SpaceError) -> QueuePut? {
        let new = try item(try value(of: content), priority, delay, group, key, rule)
        return try putting(new, delay: delay, timeout: timeout).block()
    }

    /// Puts an item as soon as the bound allows; without a wait, a full queue is an error.
    package func putBlocking(
        _ value: Value,
        priority: Int,
        delay: Duration,
        group: String?,
        unique key: String?,
        ifPresent rule: UniqueRule,
        _ wait: Wait,
        interruption: Interruption?
    ) throws(SpaceError) -> QueuePut? {
        let new = try item(value, priority, delay, group, key, rule)
        let timeout: Duration?
        switch wait {
        case .none: return try putAll([new], delay: delay)[0]
        case .upTo(let duration): timeout = duration
        case .forever: timeout = nil
        }
        return try putting(new, delay: delay, timeout: timeout).block(interruption: interruption)
    }

    func putting(_ new: NewItem, delay: Duration, timeout: Duration?) throws(SpaceError) -> RoomWait {
        try attempt(Self.putting) { (core) throws(SpaceError) in
            RoomWait(core, Self.putting, name, new, timeout: timeout) { () throws(SpaceError) in
                try add([new], delay, core)?.first
            }
        }
    }

    func putAll(_ items: [NewItem], delay: Duration) throws(SpaceError) -> [QueuePut] {
        func unlessFull(_ puts: [QueuePut]?) throws(SpaceError) -> [QueuePut] {
            if let puts { return puts }
            throw .limitReached(
                "the queue \(name.quotedForPeople) is as full as its bound allows",
                advice: "put with a time-out, which waits for room, or start more workers"
            )
        }
        switch context {
        case .namespace:
            return try attempt(Self.putting) { (core) throws(SpaceError) in
                try unlessFull(try add(items, delay, core))
            }
        case .transaction(let state):
            try state.checkRunsHere("the queue \(name.quotedForPeople)")
            try state.naming(Self.putting) { () throws(SpaceError) in try check() }
            let bytes = items.reduce(0) { $0 + $1.encoded.count }
            return try state.change(.adding, count: items.count, bytes: bytes) { scope throws(SpaceError) in
                try unlessFull(try add(items, delay, scope))
            }
        }
    }

    /// Adds items in a transaction of their own; `nil` if they are more than the queue's bound allows.
    private func add(_ items: [NewItem], _ delay: Duration, _ core: NamespaceCore) throws(SpaceError) -> [QueuePut]? {
        func add() throws(SpaceError) -> [QueuePut]? {
            try core.write(.adding) { scope throws(SpaceError) in try self.add(items, delay, scope) }
        }
        if let puts = try add() { return puts }
        // The item of a worker that has died may be buried, which makes room.
        return core.endedHolders.returnIfAskingIsDue(at: name) ? try add() : nil
    }

    /// Adds items to the queue, which is made if it does not exist; `nil` if they are more than its bound allows.
    ///
    /// An item that is not added, because of its unique key, needs no room.
    private func add(_ items: [NewItem], _ delay: Duration, _ scope: WriteScope) throws(SpaceError) -> [QueuePut]? {
        let (rows, settings) = try make(scope)
        func plans() throws(SpaceError) -> [PutPlan]? {
            let plans = try items.map { item throws(SpaceError) in try scope.snapshot.plan(item, rows) }
            let more = plans.count { if case .add = $0 { true } else { false } }
            guard more > 0 else { return plans }
            return try scope.snapshot.isFull(rows, settings, adding: more) ? nil : plans
        }
        var planned = try plans()
        if planned == nil {
            // An item whose time to run is over may be buried, which makes room.
            try scope.queues.returnOverdue(rows, name)
            planned = try plans()
        }
        guard let planned else { return nil }
        let readyTime = delay > .zero ? scope.clock.time(after: delay) : 0
        var puts: [QueuePut] = []
        try scope.addEach(of: items.count, "items") { (index) throws(SpaceError) in
            var new = items[index]
            new.readyTime = readyTime
            puts.append(try scope.queues.carryOut(planned[index], new, rows, name))
        }
        return puts
    }

    func value(of content: some Encodable) throws(SpaceError) -> Value {
        if let value = content as? Value { return value }
        return try namespace.core.naming(Self.putting) { () throws(SpaceError) in try Value(checking: content) }
    }

    func item(
        _ value: Value,
        _ priority: Int,
        _ delay: Duration,
        _ group: String?,
        _ key: String? = nil,
        _ rule: UniqueRule = .keep
    ) throws(SpaceError) -> NewItem {
        try namespace.core.naming(Self.putting) { () throws(SpaceError) in
            try delay.checkNotNegative("a delay")
            for (text, what) in [(group, "the group's name"), (key, "the unique key")] {
                if let text, !(1...Limits.queueGroupBytes).contains(text.utf8.count) {
                    throw .badName(what, bytes: text.utf8.count, most: Limits.queueGroupBytes)
                }
            }
            let encoded = try value.uncheckedElement()
            guard encoded.count <= Limits.valueBytes else {
                throw .tooLarge("an item", bytes: encoded.count, most: Limits.valueBytes)
            }
            var new = NewItem(encoded: encoded)
            (new.priority, new.group, new.key, new.rule) = (Int64(priority), group, key, rule)
            return new
        }
    }

    // MARK: Helpers

    private static let putting = "put an item into a queue"

    /// Runs `body` as one operation on the queue.
    func attempt<Result>(
        _ operation: String,
        _ body: (NamespaceCore) throws(SpaceError) -> Result
    ) throws(SpaceError) -> Result {
        try object.attempt(operation) { (core) throws(SpaceError) in
            try check()
            return try body(core)
        }
    }

    func check() throws(SpaceError) { try Self.check(deliveries: wantedDeliveries, bound: wantedBound) }

    static func check(deliveries: Int?, bound: Int?) throws(SpaceError) {
        let numbers = 0...Int(UInt32.max)
        if let deliveries, !numbers.contains(deliveries) {
            let reason = "\(deliveries) is no number of deliveries"
            throw .badNumber(reason, advice: "give a number from 1, or 0 for no limit")
        }
        if let bound, !numbers.contains(bound) {
            let reason = "\(bound) is no bound of a queue"
            throw .badNumber(reason, advice: "give a number from 1, or 0 for no bound")
        }
    }

    /// The queue's rows and settings; the queue is made if it does not exist.
    ///
    /// `isSet`: whether other numbers than this handle's are no error, because the caller sets them.
    package func make(
        _ scope: WriteScope,
        isSet: Bool = false
    ) throws(SpaceError) -> (rows: QueueRows, settings: QueueSettings) {
        guard let (rows, settings) = try scope.snapshot.queue(name) else {
            let settings = QueueSettings(deliveries: wantedDeliveries ?? 0, bound: wantedBound ?? 0)
            let number = try scope.places.makeObject(name, .queue, details: settings.details)
            return (QueueRows(number: number), settings)
        }
        if isSet || settings.isSet { return (rows, settings) }
        if let wantedDeliveries, wantedDeliveries != settings.deliveries {
            throw .mismatch(.queue, name, is: "\(settings.deliveries) deliveries", wanted: "\(wantedDeliveries)")
        }
        if let wantedBound, wantedBound != settings.bound {
            throw .mismatch(.queue, name, is: "a bound of \(settings.bound) items", wanted: "\(wantedBound)")
        }
        return (rows, settings)
    }
}

extension Limits {
    /// The longest name of a queue's group, and the longest unique key, in bytes of UTF-8.
    package static let queueGroupBytes = 200
}

extension Namespace {
    /// The work queue with a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    ///   - deliveries: The number of deliveries after which a returning item is buried; 0: never; `nil`: as the queue
    ///     was made, and never if this call's handle makes it. Another number than the queue's is refused, unless
    ///     ``WorkQueue/set(deliveries:bound:)`` has set it.
    ///   - bound: The greatest number of items that are not buried; 0: no bound; `nil`: as the queue was made.
    /// - Returns: The queue; nothing is written before a process puts an item or waits for one.
    public func queue(_ name: String, deliveries: Int? = nil, bound: Int? = nil) -> WorkQueue {
        WorkQueue(object: ObjectReference(.queue, name, in: self), wantedDeliveries: deliveries, wantedBound: bound)
    }
}

extension Transaction {
    /// A queue as part of the transaction: what is put becomes visible together with everything else that the body
    /// does.
    ///
    /// ```swift
    /// try item.complete { t in
    ///     try t.set("result", result)
    ///     try t.queue(next).put(job)
    /// }
    /// ```
    ///
    /// Only puts without a time-out work on it; if one throws, the transaction is undone.
    ///
    /// - Parameter queue: A queue of the same namespace.
    /// - Returns: The same queue, for use in the body.
    /// - Throws: `invalidArgument` for a queue of another namespace.
    public func queue(_ queue: WorkQueue) throws(SpaceError) -> WorkQueue {
        try state.checkIsHere("the queue \(queue.name.quotedForPeople)", of: queue.namespace)
        return WorkQueue(
            object: ObjectReference(.queue, queue.name, in: .transaction(state)),
            wantedDeliveries: queue.wantedDeliveries,
            wantedBound: queue.wantedBound
        )
    }
}
