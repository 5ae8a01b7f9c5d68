package import SpaceSystem
import Synchronization

/// The waits of tasks and threads for what the event loop hears.
extension EventLoop {
    // MARK: Root folders

    /// Suspends the task until a signal's count has risen, or the task is cancelled.
    package func wait(for signal: PathSignal, since count: UInt32) async {
        await sleepers.suspend(at: ObjectIdentifier(signal), for: .root, until: nil) { _ in signal.count == count }
    }

    /// Blocks the thread until a signal's count has risen, the deadline has passed, or the interruption comes.
    package func block(
        for signal: PathSignal,
        since count: UInt32,
        until deadline: MonotonicInstant?,
        interruption: Interruption?
    ) {
        block(at: ObjectIdentifier(signal), for: .root, until: deadline, interruption) { signal.count == count }
    }

    // MARK: News of namespaces

    /// Suspends the task until there may be news since a transaction, the deadline has passed, or the task is cancelled.
    package func wait(for core: any ListeningNamespace, since transaction: Int, until deadline: MonotonicInstant?) async
    {
        await sleepers.suspend(
            at: ObjectIdentifier(core),
            for: .signal(transaction: transaction),
            until: deadline
        ) { isFirst in
            if isFirst { handlers.wake() }
            return mustWait(for: core, since: transaction)
        }
    }

    /// Blocks the thread until there may be news since a transaction, the deadline has passed, or the interruption comes.
    package func block(
        for core: any ListeningNamespace,
        since transaction: Int,
        until deadline: MonotonicInstant?,
        interruption: Interruption?
    ) {
        block(at: ObjectIdentifier(core), for: .signal(transaction: transaction), until: deadline, interruption) {
            mustWait(for: core, since: transaction)
        }
    }

    private func block(
        at place: ObjectIdentifier,
        for cause: SleeperTable.Cause,
        until deadline: MonotonicInstant?,
        _ interruption: Interruption?,
        mayStay: () -> Bool
    ) {
        sleepers.block(
            at: place,
            for: cause,
            until: deadline,
            interruption: interruption,
            mayStay: mayStay,
            // If the process can't have a listening thread, this thread looks in its place.
            limit: { handlers.start(self) ? nil : .now.advanced(by: Limits.tick) },
            look: { tick(.now) }
        )
    }

    /// Whether a watcher that has entered the table still has to sleep.
    private func mustWait(for core: any ListeningNamespace, since transaction: Int) -> Bool {
        // If the namespace is not listened to, as in a child made by fork, the caller's next look reports that.
        let isHeard = state.withLock { ($0.attended[ObjectIdentifier(core)]?.users ?? 0) > 0 }
        guard isHeard else { return false }
        core.engine.changeSignal.request(in: core.engine.control)
        // A change between the look and the entry of the sleeper signalled to no sleeper.
        return core.engine.lastChange == transaction && core.engine.isUsable
    }
}
