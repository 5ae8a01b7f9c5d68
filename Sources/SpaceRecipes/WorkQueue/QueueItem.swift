package import SpaceSystem

/// An item that this process works on: no other process has it, and it returns to its queue unless it is completed.
///
/// It returns when the value goes out of scope, when it is released, and when the process ends in any way.
public struct QueueItem: ~Copyable, QueueItemFacts {
    private let row: QueueItemRow
    private let state: OwnPlace
    /// The value.
    public let value: Value

    init(_ row: QueueItemRow, _ value: Value, _ state: OwnPlace) {
        self.row = row
        self.value = value
        self.state = state
    }

    deinit { state.drop() }

    /// The name of its queue.
    package var queueName: String { state.place.name }
    /// The number.
    public var id: UInt64 { row.id }
    /// The group, or `nil` if it has none.
    public var group: String? { row.group }
    /// The priority.
    public var priority: Int { Int(row.priority) }
    /// How often it had come back.
    public var deliveries: Int { Int(row.deliveries) }

    /// The fencing number: greater than that of every earlier worker that had the item.
    public var fencing: UInt64 { state.place.ticket }

    /// The item as it was taken.
    var facts: QueueItem.Info { QueueItem.Info(row, value, state.namespace.core.clock.milliseconds) }

    /// Decodes the item's value.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The content.
    /// - Throws: `badData` if the value doesn't decode as that type.
    public func content<Content: Decodable>(as type: Content.Type = Content.self) throws(SpaceError) -> Content {
        try state.namespace.core.naming("decode an item of a queue") { () throws(SpaceError) in try value.content(type)
        }
    }

    /// Whether the item still belongs to the worker: it was not ended or cancelled, and its time to run is not over;
    /// `true` if that can't be looked up.
    public var isHeld: Bool {
        let place = state.place
        return
            (try? state.namespace.core.read { snapshot throws(SpaceError) in
                guard let id = try snapshot.place(PlaceKeys(place.name), place.ticket)?.item,
                    let (rows, _) = try snapshot.queue(place.name), let item = try snapshot.queueItem(rows, id)
                else { return false }
                return !item.isOverdue(snapshot.clock.milliseconds)
            }) ?? true
    }

    /// Whether it was completed, released, buried or detached with this value.
    var hasEnded: Bool { state.isEnded }

    /// Completes the item: it is removed permanently, and the next item of its group may be taken.
    ///
    /// - Throws: `holdLost` if the item had returned already; `invalidArgument` if it was ended before;
    ///   `holderStopped`, `holderBusy`: in these two cases it is still held.
    public func complete() throws(SpaceError) {
        try end("complete an item") { (scope, item, rows, name) throws(SpaceError) in
            try scope.queues.complete(item, rows, name)
        }
    }

    /// Completes the item together with the changes of `body`, in one transaction: either both happen or neither does.
    ///
    /// ```swift
    /// try item.complete { t in try t.write("done", item.id) }
    /// ```
    ///
    /// - Parameter body: The changes; see ``Namespace/transaction(_:)``.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws, after which the item is still held, and the errors of ``complete()``.
    public func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        let (place, operation) = (state.place, "complete an item")
        return try state.end(operation, with: body) { transaction throws(SpaceError) in
            try transaction.change(.removing, bytes: 1024) { scope throws(SpaceError) in
                let isOurs = try scope.queues.endItem(place) { (item, rows) throws(SpaceError) in
                    try scope.queues.complete(item, rows, place.name)
                }
                guard isOurs else { throw .lost(place) }
            }
        }
    }

    /// Puts the item back; this counts as a delivery.
    ///
    /// - Parameters:
    ///   - delay: How long no worker gets the item; a negative delay is refused.
    ///   - priority: The item's new priority, or `nil` to keep it.
    /// - Throws: The same errors as ``complete()``.
    public func release(delay: Duration = .zero, priority: Int? = nil) throws(SpaceError) {
        try giveBack(delay: delay, priority: priority)
    }

    /// Puts the item back, and keeps the reason in its row.
    package func giveBack(delay: Duration, priority: Int? = nil, reason: String? = nil) throws(SpaceError) {
        let operation = "put an item back"
        try state.namespace.core.naming(operation) { () throws(SpaceError) in try delay.checkNotNegative("a delay") }
        try end(operation) { (scope, item, rows, name) throws(SpaceError) in
            let readyTime = delay > .zero ? scope.clock.time(after: delay) : 0
            try scope.queues.returnItem(item, rows, name, readyTime: readyTime, priority: priority, reason: reason)
        }
    }

    /// Puts the item back as if it had never been taken: this counts as no delivery.
    ///
    /// - Throws: The same errors as ``complete()``.
    package func keep() throws(SpaceError) {
        try end("put an item back") { (scope, item, rows, name) throws(SpaceError) in
            try scope.queues.keep(item, rows, name)
        }
    }

    /// Buries the item: no worker gets it until ``WorkQueue/kick(_:)`` puts it back.
    ///
    /// - Parameter reason: The reason, for people who look at the item later, or `nil`; of a long text the first 500
    ///   bytes are kept.
    /// - Throws: The same errors as ``complete()``.
    public func bury(reason: String? = nil) throws(SpaceError) {
        try end("bury an item") { (scope, item, rows, name) throws(SpaceError) in
            try scope.queues.bury(item, rows, name, reason: reason)
        }
    }

    /// Extends the time to run to `duration` from now, if that is later than its present end.
    ///
    /// An item without a time to run stays without one.
    ///
    /// - Throws: `holdLost` if the item had returned already; `invalidArgument` for a negative duration.
    public func extend(by duration: Duration) throws(SpaceError) {
        let place = state.place
        try state.namespace.core.naming("extend an item") { () throws(SpaceError) in
            try duration.checkNotNegative("an extension")
            let isOurs = try state.namespace.core.write(.removing) { scope throws(SpaceError) in
                try scope.queues.extendItem(place, by: duration)
            }
            guard isOurs else { throw .lost(place) }
        }
    }

    /// Turns the item into a plain value, which closures and other tasks may keep.
    ///
    /// From now on, the item returns only when its time to run is over, when the process no longer uses the namespace,
    /// or as ``QueueItem/Detached/attach()`` says.
    public consuming func detach() -> QueueItem.Detached {
        state.detach()
        return QueueItem.Detached(row, value, state)
    }

    /// Hands the item on to another process: the item returns when that process ends, and any process may end the item
    /// in its name.
    package consuming func handOver(to process: ProcessIdentity) throws(SpaceError) -> QueueItem.Detached {
        do throws(SpaceError) {
            try state.namespace.core.places.handOver(state.place, to: process)
        } catch {
            returnUnseen()
            throw error.named("hold an item", state.namespace.name)
        }
        return detach()
    }

    /// Puts back an item that no worker has seen, now or as soon as possible; this does not count as a delivery.
    package func returnUnseen() { state.drop(state.place.unseen) }

    private func end(
        _ operation: String,
        _ body: (WriteScope, QueueItemRow, QueueRows, String) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let place = state.place
        try state.end(operation) { (core) throws(SpaceError) in
            let isOurs = try core.write(.removing) { scope throws(SpaceError) in
                try scope.queues.endItem(place) { (item, rows) throws(SpaceError) in
                    try body(scope, item, rows, place.name)
                }
            }
            guard isOurs else { throw .lost(place) }
        }
    }
}
