import SpaceSystem
public import TupleCoding

/// An item that this process works on: nobody else has it, and it returns to its queue unless it is completed.
///
/// It returns when the value goes out of scope, when it is released, and when the process ends, however it ends.
public struct QueueItem: ~Copyable, Sendable {
    private let row: QueueItemRow
    private let state: HoldState
    /// The item.
    public let value: Value

    init(_ row: QueueItemRow, _ value: Value, _ state: HoldState) {
        self.row = row
        self.value = value
        self.state = state
    }

    deinit { state.drop() }

    /// The item's number.
    public var id: UInt64 { row.id }

    /// The group; `nil`: none.
    public var group: String? { row.group }

    /// The priority.
    public var priority: Int { Int(row.priority) }

    /// How often it had come back before: 0 at its first delivery.
    public var deliveries: Int { Int(row.deliveries) }

    /// The fencing number: greater than that of whoever had the item before.
    public var fencing: UInt64 { state.place.ticket }

    /// The item, decoded.
    ///
    /// - Parameter type: The type.
    /// - Returns: The content.
    /// - Throws: `badData` when it doesn't decode as that.
    public func content<Content: Decodable>(as type: Content.Type = Content.self) throws(SpaceError) -> Content {
        do throws(TupleCodingError) {
            return try value.decode(type)
        } catch {
            throw SpaceError(error, "decode an item of a queue", namespace: state.namespace.name)
        }
    }

    /// The work is done: the item is gone for good, and the next of its group may be had.
    ///
    /// - Throws: `holdLost` when the item had returned already; `invalidArgument` when it was ended before; `holderStopped`,
    ///   `holderBusy`: then it is still held.
    public func complete() throws(SpaceError) {
        try end("complete an item") { (scope, item, rows, name) throws(SpaceError) in
            try scope.completeItem(item, rows, name)
        }
    }

    /// Puts the item back; its deliveries count.
    ///
    /// - Parameter delay: How long no worker gets it; a negative one is refused.
    /// - Throws: What ``complete()`` does.
    public func release(delay: Duration = .zero) throws(SpaceError) {
        let operation = "put an item back"
        try state.namespace.core.checkNotNegative(delay, "a delay", operation)
        guard delay > .zero else { return try state.release() }
        try end(operation) { (scope, item, rows, name) throws(SpaceError) in
            try scope.returnItem(item, rows, name, readyTime: scope.clock.time(after: delay))
        }
    }

    /// Sets the item aside, as a dead letter.
    ///
    /// - Throws: What ``complete()`` does.
    public func bury() throws(SpaceError) {
        try end("set an item aside") { (scope, item, rows, name) throws(SpaceError) in
            try scope.buryItem(item, rows, name)
        }
    }

    /// Puts an item back that no worker has seen, now or as soon as it can be: that is no delivery.
    package func returnUnseen() { state.drop(wasDelivered: false) }

    private func end(
        _ operation: String,
        _ body: (WriteScope, QueueItemRow, QueueRows, String) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let place = state.place
        try state.end(operation) { (core, operation) throws(SpaceError) in
            let isOurs = try core.write(operation, .removing(16, bytes: 4096)) { scope throws(SpaceError) in
                try scope.endItem(place) { (item, rows) throws(SpaceError) in try body(scope, item, rows, place.name) }
            }
            guard isOurs else { throw core.lost(place, operation) }
        }
    }
}

/// A taker's wait: until it is served, the time has passed, or a delayed item is due, which it then sees to itself.
///
/// Used by one thread or task at a time.
final class QueueWait {
    static let operation = "take an item from a queue"

    enum Outcome { case served, sooner }

    let core: NamespaceCore
    let place: HoldPlace
    private let deadline: MonotonicInstant?
    private(set) var isOver: Bool
    private var isServed: Bool
    /// Whether it was served by others, and has not said yet that it knows.
    private var isUnseen = false

    /// Enters the queue of takers; `nil`: it would have had to wait, and may not.
    init?(_ core: NamespaceCore, _ request: HoldRequest, until deadline: MonotonicInstant?) throws(SpaceError) {
        self.core = core
        self.deadline = deadline
        let mayWait = deadline?.hasPassed != true
        // Who only looks writes nothing where there is nothing.
        if !mayWait, try !core.mayTakeItem(request.name) { return nil }
        guard let (place, isHolding) = try core.enter(Self.operation, request, waits: mayWait) else { return nil }
        self.place = place
        isServed = isHolding
        isOver = isHolding
    }

    /// When the next delayed item is ready.
    func nextDue() throws(SpaceError) -> Int64? {
        try core.read(Self.operation) { snapshot throws(SpaceError) in
            guard let object = try snapshot.object(place.name, .queue) else { return nil }
            return try snapshot.nextDelayed(QueueRows(number: object.number))
        }
    }

    /// How long to sleep: until the caller's time is over, or the next item is due, and where one is to be due no longer than a
    /// tick.
    ///
    /// For the sleep's clock stands still while the machine does, and the namespace's goes on, or is set: then the item is due
    /// before the sleep is over.
    func limit(_ due: Int64?) -> MonotonicInstant? {
        guard let due else { return deadline }
        let remaining = Duration.milliseconds(max(0, due &- core.clock.milliseconds))
        return min(deadline ?? .distantFuture, .now.advanced(by: min(remaining, Ticking.interval)))
    }

    private func isDue(_ due: Int64?) -> Bool { due.map { $0 <= core.clock.milliseconds } ?? false }

    /// Served; or an item was put that is due sooner than the one that the sleep was for.
    func look(_ due: Int64?) throws(SpaceError) -> Found<Outcome>? {
        guard let row = try core.hold(place) else { throw core.lost(place, Self.operation) }
        if row.isHolding { return Found(result: .served, removed: nil) }
        return try nextDue() ?? .max < due ?? .max ? Found(result: .sooner, removed: nil) : nil
    }

    /// `due`: What the sleep was for.
    func follow(_ outcome: Outcome?, _ due: Int64?) throws(SpaceError) {
        switch outcome {
        case .served?: (isServed, isUnseen, isOver) = (true, true, true)
        case .sooner?: break
        case nil where deadline?.hasPassed ?? false: isOver = true
        case nil where !isDue(due): break
        case nil:
            // Whoever comes first serves all who wait.
            try core.write(Self.operation, .removing(16, bytes: 4096)) { scope throws(SpaceError) in
                try scope.settle(place.name)
            }
        }
    }

    /// What is held; `nil`: the time has passed, and nothing was served meanwhile.
    func result() throws(SpaceError) -> HoldPlace? {
        guard isServed else { return try core.endWaiting(place, Self.operation) }
        if isUnseen { try core.see(place, Self.operation) }
        return place
    }
}

extension NamespaceCore {
    /// Whether an item may be to be had now.
    fileprivate func mayTakeItem(_ name: String) throws(SpaceError) -> Bool {
        try read(QueueWait.operation) { snapshot throws(SpaceError) in
            guard let object = try snapshot.object(name, .queue) else { return false }
            let rows = QueueRows(number: object.number)
            if try !snapshot.queueIDs(rows.key(.ready), limit: 1).isEmpty { return true }
            if let due = try snapshot.nextDelayed(rows), due <= snapshot.clock.milliseconds { return true }
            // Taken by somebody who may be dead.
            return try snapshot.counters().holds > 0
        }
    }
}
