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
                try item.carryOut(onFailure(error, item.facts), after: error)
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
    fileprivate borrowing func carryOut(_ decision: FailureDecision, after error: any Error) throws {
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
