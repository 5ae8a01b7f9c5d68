import SharedSpace
import SpaceSystem

// A take from any of several queues.

extension QueueCommand {
    /// Takes from the first queue that has an item, in the order in which they are named; `nil` if none has one in time.
    ///
    /// The wait takes nothing, so it has no turn in any of the queues: a worker that waits for one of them alone is served
    /// first. If another worker was quicker, it goes on.
    func takenFromAny(of namespace: Namespace, in space: Space, _ remaining: Duration?) throws -> QueueItem? {
        let queues = ([name] + others).map { namespace.queue($0, deliveries: deliveries, bound: bound) }
        let end = MonotonicInstant.deadline(after: remaining ?? .zero)
        let isUnlimited = wait?.timeout == nil && remaining != nil
        while true {
            for queue in queues {
                if let item = try queue.takeIfReady(deadline: ttr) { return item }
            }
            try Signals.check()
            let left = isUnlimited ? nil : end?.remaining ?? .zero
            if left == .zero { return nil }
            let isThere = try TaskEnd.result {
                let items = queues.map { Awaitable.item(of: $0) }
                guard let left else { return try await space.first(of: items) as Int? }
                return try await space.first(of: items, timeout: left)
            }
            if isThere == nil { return nil }
        }
    }
}
