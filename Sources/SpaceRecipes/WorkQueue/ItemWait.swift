import SpaceSystem
import TupleCoding

/// A wait until a queue has an item that a taker could get; it takes nothing.
///
/// A process that is killed while it waits leaves nothing behind.
struct ItemWait: Steps {
    let core: NamespaceCore
    let operation = "wait for an item of a queue"
    let name: String
    let deadline: MonotonicInstant?

    mutating func step() throws(SpaceError) -> Step<Bool> {
        let (isReady, due) = try state()
        if isReady { return .done(true) }
        if deadline?.hasPassed ?? false { return .done(false) }
        let text = Value.string("queue \(name)").json
        return .sleep(Sleep(Interest(object: name), text: text, until: core.sleepEnd(deadline, due: due)))
    }

    mutating func look() throws(SpaceError) -> Bool { try state().isReady }

    /// Whether there is an item, and when there can next be one without a commit.
    private func state() throws(SpaceError) -> (isReady: Bool, due: Int64?) {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return (false, nil) }
            let due = try snapshot.nextDue(rows, settings)
            if settings.isPaused(snapshot.clock.milliseconds) { return (false, due) }
            let isReady = try !snapshot.queueIDs(rows.key(.ready), limit: 1).isEmpty
            return (isReady || due ?? .max <= snapshot.clock.milliseconds, due)
        }
    }
}

extension NamespaceCore {
    /// When a sleep ends that ends at the caller's deadline, or when more can be taken from a queue, and in the latter case
    /// after one tick at most.
    ///
    /// The sleep's clock stands still while the machine sleeps. The namespace's clock goes on, or may be set, so the item
    /// can become due before the sleep ends.
    func sleepEnd(_ deadline: MonotonicInstant?, due: Int64?) -> MonotonicInstant? {
        guard let due else { return deadline }
        let remaining = Duration.milliseconds(max(0, due &- clock.milliseconds))
        return min(deadline ?? .distantFuture, .now.advanced(by: min(remaining, Ticking.interval)))
    }
}

extension Awaitable {
    /// An item of a queue that a taker could get now; a paused queue has none.
    public static func item(of queue: WorkQueue) -> Awaitable {
        Awaitable { (timeout) async throws(SpaceError) in
            try await queue.waiting(timeout: timeout).suspend()
        }
    }
}

extension WorkQueue {
    fileprivate func waiting(timeout: Duration?) throws(SpaceError) -> ItemWait {
        try attempt("wait for an item of a queue") { (core) throws(SpaceError) in
            ItemWait(core: core, name: name, deadline: MonotonicInstant.deadline(after: timeout))
        }
    }
}
