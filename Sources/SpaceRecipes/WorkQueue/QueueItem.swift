import SpaceSystem
public import TupleCoding

/// An item that this process works on: no other process has it, and it returns to its queue unless it is completed.
///
/// It returns when the value goes out of scope, when it is released, and when the process ends in any way.
public struct QueueItem: ~Copyable, Sendable {
    private let row: QueueItemRow
    private let state: OwnPlace
    /// The item's value.
    public let value: Value

    init(_ row: QueueItemRow, _ value: Value, _ state: OwnPlace) {
        self.row = row
        self.value = value
        self.state = state
    }

    deinit { state.drop() }

    /// The item's number.
    public var id: UInt64 { row.id }

    /// The item's group, or `nil` if it has none.
    public var group: String? { row.group }

    /// The item's priority.
    public var priority: Int { Int(row.priority) }

    /// How often the item had come back before: 0 at its first delivery.
    public var deliveries: Int { Int(row.deliveries) }

    /// The fencing number: greater than that of every earlier worker that had the item.
    public var fencing: UInt64 { state.place.ticket }

    /// Decodes the item's value.
    ///
    /// - Parameter type: The type to decode.
    /// - Returns: The content.
    /// - Throws: `badData` if the value doesn't decode as that type.
    public func content<Content: Decodable>(as type: Content.Type = Content.self) throws(SpaceError) -> Content {
        try state.namespace.core.attempt("decode an item of a queue") { () throws(SpaceError) in try value.content(type)
        }
    }

    /// Completes the item: it is gone for good, and the next item of its group may be taken.
    ///
    /// - Throws: `holdLost` if the item had returned already; `invalidArgument` if it was ended before;
    ///   `holderStopped`, `holderBusy`: in these two cases it is still held.
    public func complete() throws(SpaceError) {
        try end("complete an item") { (scope, item, rows, name) throws(SpaceError) in
            try scope.completeItem(item, rows, name)
        }
    }

    /// Puts the item back; this counts as a delivery.
    ///
    /// - Parameter delay: How long no worker gets the item; a negative delay is refused.
    /// - Throws: The same errors as ``complete()``.
    public func release(delay: Duration = .zero) throws(SpaceError) {
        let operation = "put an item back"
        try state.namespace.core.attempt(operation) { () throws(SpaceError) in try delay.checkNotNegative("a delay") }
        guard delay > .zero else { return try state.release() }
        try end(operation) { (scope, item, rows, name) throws(SpaceError) in
            try scope.returnItem(item, rows, name, readyTime: scope.clock.time(after: delay))
        }
    }

    /// Sets the item aside, as a dead letter.
    ///
    /// - Throws: The same errors as ``complete()``.
    public func bury() throws(SpaceError) {
        try end("set an item aside") { (scope, item, rows, name) throws(SpaceError) in
            try scope.buryItem(item, rows, name)
        }
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
                try scope.endItem(place) { (item, rows) throws(SpaceError) in try body(scope, item, rows, place.name) }
            }
            guard isOurs else { throw .lost(place) }
        }
    }
}

extension NamespaceCore {
    /// Whether there may be an item to take now.
    func mayTakeItem(_ name: String) throws(SpaceError) -> Bool {
        try read { snapshot throws(SpaceError) in
            guard let (rows, _) = try snapshot.queue(name) else { return false }
            if try !snapshot.queueIDs(rows.key(.ready), limit: 1).isEmpty { return true }
            if let due = try snapshot.nextDelayed(rows), due <= snapshot.clock.milliseconds { return true }
            // A dead process may have taken an item.
            return try snapshot.counters().holds > 0
        }
    }
}
