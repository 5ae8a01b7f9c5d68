import SpaceSystem

extension WorkQueue {
    /// Waits for an item without a limit.
    ///
    /// - Parameter deadline: The time to run: how long the worker may have the item, from the moment it gets it. After
    ///   that time the item returns, which counts as a delivery, and the worker's later ``QueueItem/complete()`` throws
    ///   `holdLost`. So the item of a stopped or hung worker is not stuck. ``QueueItem/extend(by:)`` gives more time.
    ///   `nil`: until the worker ends the item, or ends itself. The time goes on while the machine sleeps.
    /// - Returns: The item, which returns to the queue unless it is completed.
    /// - Throws: `cancelled` if the task is cancelled; `invalidArgument` for a time to run of zero or less;
    ///   `typeMismatch`, and the errors of every write.
    public func take(deadline: Duration? = nil) async throws(SpaceError) -> QueueItem {
        try await takeSuspending(timeout: nil, deadline: deadline).orEnded()
    }

    /// Waits for an item; `nil` if the time-out passes first.
    ///
    /// - Throws: The same errors as ``take(deadline:)``.
    public func take(timeout: Duration, deadline: Duration? = nil) async throws(SpaceError) -> QueueItem? {
        try await takeSuspending(timeout: timeout, deadline: deadline)
    }

    func takeSuspending(timeout: Duration?, deadline: Duration?) async throws(SpaceError) -> QueueItem? {
        let end = MonotonicInstant.deadline(after: timeout)
        while let place = try await taking(until: end, deadline: deadline).suspend() {
            if let item = try item(place) { return item }
        }
        return nil
    }

    /// Waits for an item; `nil` if the time-out passes first.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func take(timeout: Duration, deadline: Duration? = nil) throws(SpaceError) -> QueueItem? {
        try takeBlocking(timeout: timeout, deadline: deadline, interruption: nil)
    }

    /// Waits for an item, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
    package func takeBlocking(
        timeout: Duration?,
        deadline: Duration? = nil,
        interruption: Interruption?
    ) throws(SpaceError) -> QueueItem? {
        let end = MonotonicInstant.deadline(after: timeout)
        while let place = try taking(until: end, deadline: deadline).block(interruption: interruption) {
            if let item = try item(place) { return item }
        }
        return nil
    }

    private func taking(until end: MonotonicInstant?, deadline: Duration?) throws(SpaceError) -> QueueWait {
        try attempt(QueueWait.operation) { (core) throws(SpaceError) in
            try deadline.map { deadline throws(SpaceError) in try Self.check(deadline) }
            return QueueWait(core, name, until: end, itemDeadline: deadline)
        }
    }

    private static func check(_ deadline: Duration) throws(SpaceError) {
        if deadline <= .zero {
            throw .badNumber("a time to run of \(deadline) is over at once", advice: "give more than zero")
        }
    }

    /// Takes an item if one is ready and no earlier taker waits for it.
    ///
    /// - Parameter deadline: The time to run, as in ``take(deadline:)``.
    /// - Returns: The item, which returns to the queue unless it is completed, or `nil` if none is ready.
    /// - Throws: `typeMismatch`, and the errors of every write.
    public func takeIfReady(deadline: Duration? = nil) throws(SpaceError) -> QueueItem? {
        try takeBlocking(timeout: .zero, deadline: deadline, interruption: nil)
    }

    /// Takes the item with a number, if it is ready or delayed, without regard to priorities, delays, pauses and
    /// earlier takers.
    ///
    /// - Parameters:
    ///   - id: The item's number.
    ///   - deadline: The time to run, as in ``take(deadline:)``.
    /// - Returns: The item, or `nil` if there is none with this number, or it is taken, blocked or buried.
    /// - Throws: `typeMismatch`, and the errors of every write.
    public func take(_ id: UInt64, deadline: Duration? = nil) throws(SpaceError) -> QueueItem? {
        while let place = try take(place: id, deadline: deadline) {
            if let item = try item(place) { return item }
        }
        return nil
    }

    private func take(place id: UInt64, deadline: Duration?) throws(SpaceError) -> Place? {
        try attempt(QueueWait.operation) { (core) throws(SpaceError) in
            try deadline.map { deadline throws(SpaceError) in try Self.check(deadline) }
            try core.checkUsable()
            _ = core.endedHolders.returnIfAskingIsDue(at: name)
            core.claimants.announce()
            let request = QueueWait.request(name, deadline, core.clock)
            let row = try core.write(.removing) { scope throws(SpaceError) in
                try scope.queues.takeItem(id, request, holder: .session(core.session.number))
            }
            return row.map { Place(name: name, kind: .queue, ticket: $0.ticket, rules: request.rules) }
        }
    }

    /// The item that a place holds; `nil` if the item was gone before this process could look at it: its time to run
    /// was over, or another process has cancelled it.
    func item(_ place: Place) throws(SpaceError) -> QueueItem? {
        do throws(SpaceError) {
            let found = try namespace.core.read { snapshot throws(SpaceError) -> (QueueItemRow, Value)? in
                guard let hold = try snapshot.place(PlaceKeys(name), place.ticket) else { return nil }
                guard let id = hold.item, let (rows, _) = try snapshot.queue(name),
                    let item = try snapshot.queueItem(rows, id)
                else { throw .lost(place) }
                return (item, try snapshot.queueValue(rows, item.id))
            }
            return found.map { (row, value) in QueueItem(row, value, OwnPlace(place, in: namespace)) }
        } catch  where error.code == .damaged {
            // No worker can ever read this item. Once it is buried, it does not block the items behind it.
            bury(place, reason: "\(error)")
            throw error.named(QueueWait.operation, namespace.name)
        } catch {
            namespace.core.places.endOrRemember(place.unseen)
            throw error.named(QueueWait.operation, namespace.name)
        }
    }

    private func bury(_ place: Place, reason: String) {
        do throws(SpaceError) {
            _ = try namespace.core.write(.removing) { scope throws(SpaceError) in
                try scope.queues.endItem(place) { (item, rows) throws(SpaceError) in
                    try scope.queues.bury(item, rows, name, reason: reason)
                }
            }
        } catch {
            namespace.core.places.endOrRemember(place.unseen)
        }
    }
}
