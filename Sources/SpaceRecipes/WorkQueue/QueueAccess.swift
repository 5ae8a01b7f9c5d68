import SpaceSystem

/// What a process that waits for an item, or for room, does with a work queue.
struct QueueAccess {
    let core: NamespaceCore

    /// Whether there may be an item to take now.
    func mayTakeItem(_ name: String) throws(SpaceError) -> Bool {
        try core.read { snapshot throws(SpaceError) in
            guard let (rows, settings) = try snapshot.queue(name) else { return false }
            if settings.isPaused(snapshot.clock.milliseconds) { return false }
            if try !snapshot.queueIDs(rows.key(.ready), limit: 1).isEmpty { return true }
            if let due = try snapshot.nextDue(rows, settings), due <= snapshot.clock.milliseconds { return true }
            // A dead process may have taken an item.
            return try snapshot.counters().holds > 0
        }
    }

    /// Settles a queue in which something is due; returns `false` if the machines that share the namespace don't agree
    /// at this moment.
    func settle(_ name: String) throws(SpaceError) -> Bool {
        do throws(SpaceError) {
            try core.write(.removing) { scope throws(SpaceError) in scope.queues.noteUnsettled(name) }
            return true
        } catch  where error.isOfOtherMembers {
            return false
        }
    }

    /// The end of a sleep: the caller's deadline, or the time at which a queue has more to give; in the latter case
    /// after one tick at most.
    ///
    /// The sleep's clock stands still while the machine sleeps. The namespace's clock goes on, or may be set, so the item
    /// can become due before the sleep ends.
    func sleepEnd(_ deadline: MonotonicInstant?, due: Int64?) -> MonotonicInstant? {
        guard let due else { return deadline }
        let remaining = Duration.milliseconds(max(0, due &- core.clock.milliseconds))
        return min(deadline ?? .distantFuture, .now.advanced(by: min(remaining, Ticking.interval)))
    }
}

extension NamespaceCore {
    /// What this process does with work queues.
    var queues: QueueAccess { QueueAccess(core: self) }
}
