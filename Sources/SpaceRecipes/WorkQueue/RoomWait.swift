import SpaceSystem
import TupleCoding

/// The wait of a process that puts an item into a full queue: it ends when the item is put or the time has passed.
///
/// Each item that ends or is buried wakes all that wait. The first of them puts; the others find the queue full, and
/// wait on. An item whose time to run is over may be due to be buried, which makes room; the process that waits returns
/// it itself. A process that is killed while it waits leaves nothing behind.
struct RoomWait<Result>: Steps {
    let core: NamespaceCore
    let operation: String
    private let name: String
    private let deadline: MonotonicInstant?
    /// Puts the item, or returns `nil` if the queue is full.
    private let put: () throws(SpaceError) -> Result?
    /// When there can next be room without a commit, by which the present sleep is limited.
    private var due: Int64?

    init(
        _ core: NamespaceCore,
        _ operation: String,
        _ name: String,
        timeout: Duration?,
        put: @escaping () throws(SpaceError) -> Result?
    ) {
        self.core = core
        self.operation = operation
        self.name = name
        deadline = MonotonicInstant.deadline(after: timeout)
        self.put = put
    }

    mutating func step() throws(SpaceError) -> Step<Result?> {
        if let result = try put() { return .done(result) }
        if deadline?.hasPassed ?? false { return .done(nil) }
        due = try state().due
        let text = "room in queue \(name.quotedForPeople)"
        return .sleep(Sleep(Interest(object: name), text: text, until: core.sleepEnd(deadline, due: due)))
    }

    mutating func look() throws(SpaceError) -> Bool {
        let now = try state()
        return now.hasRoom || now.due ?? .max < due ?? .max
    }

    private func state() throws(SpaceError) -> (hasRoom: Bool, due: Int64?) {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return (true, nil) }
            return (try !snapshot.isFull(rows, settings), try snapshot.nextTime(rows, .running))
        }
    }
}
