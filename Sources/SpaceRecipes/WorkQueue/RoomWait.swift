import SpaceSystem
import TupleCoding

/// The wait of a process that puts an item into a full queue: it ends when the item is put or the time has passed.
///
/// Each item that ends or is buried wakes all that wait. The first of them puts; the others find the queue full, and
/// wait on. A process that is killed while it waits leaves nothing behind.
struct RoomWait: Steps {
    let core: NamespaceCore
    let operation: String
    let name: String
    let deadline: MonotonicInstant?
    /// Puts the item, or returns `nil` if the queue is full.
    let put: () throws(SpaceError) -> UInt64?

    mutating func step() throws(SpaceError) -> Step<UInt64?> {
        if let id = try put() { return .done(id) }
        if deadline?.hasPassed ?? false { return .done(nil) }
        let text = Value.string("queue \(name)").json
        return .sleep(Sleep(Interest(object: name), text: text, until: deadline))
    }

    mutating func look() throws(SpaceError) -> Bool {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return true }
            return try !snapshot.isFull(rows, settings)
        }
    }
}
