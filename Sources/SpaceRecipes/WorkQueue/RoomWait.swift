import SpaceSystem

/// The wait of a process that puts an item into a full queue: it ends when the item is put or the time has passed.
///
/// Each item that ends or is buried wakes all waiting processes. The first of them puts its item; the others find the
/// queue full, and continue to wait. An item is not put if another item has got its unique key in the meantime, so it
/// needs no room. Therefore each change of an item with a key wakes the waiting processes too. When the time to run of
/// a taken item is over, its return may bury it, which makes room; the waiting process returns such an item itself. A
/// process that is killed while it waits leaves nothing behind.
struct RoomWait: Steps {
    let core: NamespaceCore
    let operation: String
    private let name: String
    private let new: NewItem
    private let deadline: MonotonicInstant?
    /// Puts the item, or returns `nil` if the queue is full.
    private let put: () throws(SpaceError) -> QueuePut?
    /// The next time at which there can be room without a commit; it limits the present sleep.
    private var due: Int64?

    init(
        _ core: NamespaceCore,
        _ operation: String,
        _ name: String,
        _ new: NewItem,
        timeout: Duration?,
        put: @escaping () throws(SpaceError) -> QueuePut?
    ) {
        self.core = core
        self.operation = operation
        self.name = name
        self.new = new
        deadline = MonotonicInstant.deadline(after: timeout)
        self.put = put
    }

    mutating func step() throws(SpaceError) -> Step<QueuePut?> {
        if let result = try put() { return .done(result) }
        if deadline?.hasPassed ?? false { return .done(nil) }
        due = try state().due
        let text = "room in queue \(name.quotedForPeople)"
        return .sleep(Sleep(Interest(object: name), text: text, until: core.queues.sleepEnd(deadline, due: due)))
    }

    mutating func look() throws(SpaceError) -> Bool {
        let now = try state()
        return now.isPossible || now.due ?? .max < due ?? .max
    }

    private func state() throws(SpaceError) -> (isPossible: Bool, due: Int64?) {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return (true, nil) }
            let isPossible =
                if case .add = try snapshot.plan(new, rows) { try !snapshot.isFull(rows, settings) } else { true }
            return (isPossible, try snapshot.nextTime(rows, .running))
        }
    }
}
