import SpaceSystem
import TupleCoding

/// What becomes of an item whose work has failed; see ``WorkQueue/work(timeout:deadline:_:onFailure:)``.
public enum FailureDecision: Sendable, Hashable {
    /// The item returns after a delay; `nil`: after 1 s at its first delivery, twice as long at each further one, and
    /// 1 min at most.
    case retry(after: Duration? = nil)
    /// The item is buried, with the reason; `nil`: with the error's text.
    case bury(reason: String? = nil)
    /// The item returns at once, and `work` throws the error.
    case stop

    /// How long an item waits after its first failure, its second and so on: 1 s, 2 s, 4 s, and 1 min at most.
    package static func delay(afterDeliveries deliveries: Int) -> Duration {
        .seconds(min(60, 1 << min(max(0, deliveries), 6)))
    }
}

extension WorkQueue {
    /// Waits for an item as long as it takes.
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

    private func takeSuspending(timeout: Duration?, deadline: Duration?) async throws(SpaceError) -> QueueItem? {
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

    // MARK: Working

    /// Takes one item after the other and runs `body` with each, until the task is cancelled or the time-out passes.
    ///
    /// If `body` returns, the item is completed. If it throws, `onFailure` decides what becomes of the item; by default
    /// it returns after a growing delay, and the work goes on with the next item.
    ///
    /// ```swift
    /// try await mail.work { item in
    ///     try await send(item.content())
    /// } onFailure: { error, item in
    ///     error is BadAddress ? .bury() : .retry()
    /// }
    /// ```
    ///
    /// If the task is cancelled, the call returns without an error. An item that `body` leaves with a
    /// `CancellationError` then returns at once. An item that `body` has ended itself, for example with
    /// ``QueueItem/complete(_:)``, stays as it ended.
    ///
    /// - Parameters:
    ///   - timeout: The time to wait for the next item, or `nil` to wait indefinitely.
    ///   - deadline: The time to run, as in ``take(deadline:)``.
    ///   - body: The work on one item; it runs with the caller's isolation.
    ///   - onFailure: What becomes of an item whose work has failed. It gets the error, and the item as it was taken,
    ///     with its earlier deliveries. If the item returned while `body` worked on it, `onFailure` gets `holdLost`;
    ///     then only ``FailureDecision/stop`` has an effect.
    /// - Throws: The errors that `onFailure` decides to stop at, and those of ``take(deadline:)`` except
    ///   `cancelled`.
    nonisolated(nonsending) public func work(
        timeout: Duration? = nil,
        deadline: Duration? = nil,
        _ body: (borrowing QueueItem) async throws -> Void,
        onFailure: (any Error, QueueItem.Info) -> FailureDecision = { _, _ in .retry() }
    ) async throws {
        try await work(
            taking: { () async throws(SpaceError) in
                Task.isCancelled ? nil : try await next(timeout: timeout, deadline: deadline)
            },
            body,
            onFailure: onFailure
        )
    }

    /// Works on the items that `next` takes, until it has none.
    nonisolated(nonsending) package func work(
        taking next: () async throws(SpaceError) -> QueueItem?,
        _ body: (borrowing QueueItem) async throws -> Void,
        onFailure: (any Error, QueueItem.Info) -> FailureDecision
    ) async throws {
        while let item = try await next() {
            do {
                try await body(item)
            } catch {
                if item.hasEnded { continue }
                if error is CancellationError, Task.isCancelled {
                    try? item.release()
                    return
                }
                try item.settle(error, onFailure(error, item.facts))
                continue
            }
            if item.hasEnded { continue }
            do throws(SpaceError) {
                try item.complete()
            } catch {
                guard error.code == .holdLost else { throw error }
                if onFailure(error, item.facts) == .stop { throw error }
            }
        }
    }

    /// The next item to work on; `nil` if the time has passed or the task is cancelled.
    package func next(timeout: Duration?, deadline: Duration?) async throws(SpaceError) -> QueueItem? {
        do throws(SpaceError) {
            return try await takeSuspending(timeout: timeout, deadline: deadline)
        } catch {
            if error.code == .cancelled { return nil }
            throw error
        }
    }
}

extension QueueItem {
    /// Does with a failed item what was decided; an item that can't be ended now returns when its value is released.
    fileprivate borrowing func settle(_ error: any Error, _ decision: FailureDecision) throws {
        switch decision {
        case .retry(let delay):
            try? giveBack(delay: delay ?? FailureDecision.delay(afterDeliveries: deliveries), reason: "\(error)")
        case .bury(let reason): try? bury(reason: reason ?? "\(error)")
        case .stop:
            try? giveBack(delay: .zero, reason: "\(error)")
            throw error
        }
    }
}
