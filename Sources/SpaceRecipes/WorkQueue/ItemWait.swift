import SpaceSystem

/// A wait until a queue has an item that a taker could get; it takes nothing.
///
/// A process that is killed while it waits leaves nothing behind.
struct ItemWait: Steps {
    private enum State {
        case ready
        /// The time to run of some items is over: once they return, there may be one to take.
        case overdue
        /// There is no item before this time, unless a process commits something; `nil`: there is no such time.
        case nothing(before: Int64?)
    }

    let core: NamespaceCore
    let operation = "wait for an item of a queue"
    let name: String
    let deadline: MonotonicInstant?
    /// The next time at which there can be an item without a commit; it limits the present sleep.
    fileprivate var due: Int64?

    mutating func step() throws(SpaceError) -> Step<Bool> {
        var state = try state()
        var isSettled = true
        if case .overdue = state {
            isSettled = try core.queues.settle(name)
            state = try self.state()
        }
        switch state {
        case .ready: return .done(true)
        case .overdue: due = isSettled ? 0 : core.clock.time(after: Limits.tick)
        case .nothing(let time): due = time
        }
        if deadline?.hasPassed ?? false { return .done(false) }
        let text = Value.string("queue \(name)").json
        return .sleep(Sleep(Interest(object: name), text: text, until: core.queues.sleepEnd(deadline, due: due)))
    }

    mutating func look() throws(SpaceError) -> Bool {
        switch try state() {
        case .ready: true
        case .overdue: due ?? .max <= core.clock.milliseconds
        case .nothing(let time): time ?? .max < due ?? .max
        }
    }

    private func state() throws(SpaceError) -> State {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return .nothing(before: nil) }
            let now = snapshot.clock.milliseconds
            guard let due = try snapshot.nextDue(rows, settings) else { return .nothing(before: nil) }
            if due > now { return .nothing(before: due) }
            if try !snapshot.queueIDs(rows.key(.ready), limit: 1).isEmpty { return .ready }
            return try snapshot.nextTime(rows, .delayed) ?? .max <= now ? .ready : .overdue
        }
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
