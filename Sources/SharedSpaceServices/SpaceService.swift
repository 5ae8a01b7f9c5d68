public import ServiceLifecycle
public import SharedSpace

/// A service that works in a namespace until the service group shuts down.
///
/// ```swift
/// let intake = SpaceService {
///     for try await change in try shop.changes(.tuples(["order", .any])) { try await take(change) }
/// }
/// try await ServiceGroup(services: [intake], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
///
/// When the group begins its graceful shutdown, the task of the body is cancelled: its waits in a namespace end, and
/// the service ends without an error. For work that should be finished first, use
/// ``SharedSpace/WorkQueue/worker(concurrency:deadline:_:onFailure:)``.
public struct SpaceService: Service {
    private let body: @Sendable () async throws -> Void

    /// Makes a service of a body.
    ///
    /// - Parameter body: The work. What it throws ends the service, except `cancelled` and `CancellationError` after
    ///   its task was cancelled.
    public init(_ body: @escaping @Sendable () async throws -> Void) { self.body = body }

    /// Runs the body until it returns or the group shuts down.
    public func run() async throws {
        let body = body
        try await cancelWhenGracefulShutdown {
            do {
                try await body()
            } catch  where Task.isCancelled && Self.isCancellation(error) {}
        }
    }

    private static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? SpaceError)?.code == .cancelled
    }
}

extension WorkQueue {
    /// A service that works on the queue's items.
    ///
    /// At graceful shutdown it takes no more items, and finishes those that it has. If an item is not finished when the
    /// group's time for shutdown is over, or when the process is killed, the item returns to the queue.
    ///
    /// - Parameters:
    ///   - concurrency: How many items are worked on at the same time.
    ///   - deadline: The time to run, as in ``work(timeout:deadline:_:onFailure:)``.
    ///   - body: The work on one item, in a task.
    ///   - onFailure: What becomes of an item whose work has failed; by default it returns after a growing delay.
    /// - Returns: The service; an error at which `onFailure` decides to stop ends the service.
    public func worker(
        concurrency: Int = 1,
        deadline: Duration? = nil,
        _ body: @escaping @Sendable (borrowing QueueItem) async throws -> Void,
        onFailure: @escaping @Sendable (any Error, QueueItem.Info) -> FailureDecision = { _, _ in .retry() }
    ) -> some Service {
        QueueWorker(queue: self, concurrency: concurrency, deadline: deadline, body: body, onFailure: onFailure)
    }
}

private struct QueueWorker: Service {
    let queue: WorkQueue
    let concurrency: Int
    let deadline: Duration?
    let body: @Sendable (borrowing QueueItem) async throws -> Void
    let onFailure: @Sendable (any Error, QueueItem.Info) -> FailureDecision

    func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<max(1, concurrency) { group.addTask { try await work() } }
            try await group.waitForAll()
        }
    }

    /// Works on one item after the other; only the wait for the next one ends at a graceful shutdown.
    private func work() async throws {
        let (queue, deadline) = (queue, deadline)
        try await queue.work(
            taking: { () async throws(SpaceError) -> QueueItem? in
                do {
                    let held = try await cancelWhenGracefulShutdown { () async throws -> QueueItem.Detached? in
                        guard !Task.isShuttingDownGracefully,
                            let item = try await queue.next(timeout: nil, deadline: deadline)
                        else { return nil }
                        return item.detach()
                    }
                    return try held?.attach()
                } catch let error as SpaceError {
                    throw error
                } catch {
                    return nil
                }
            },
            body,
            onFailure: onFailure
        )
    }
}

extension Election {
    /// A service that stands for leadership, leads, and stands again after it has lost leadership, until the group
    /// shuts down.
    ///
    /// - Parameters:
    ///   - content: What other processes see while this one leads; see ``lead(as:_:)``.
    ///   - body: The leader's work; it gets the number of the term. Its task is cancelled when leadership is lost, and at
    ///     graceful shutdown. If it returns, this process resigns and stands again.
    /// - Returns: The service; an error of `body` ends the service, and so does `badData`, if the content doesn't
    ///   encode.
    public func candidate(
        as content: some Encodable & Sendable = Value.null,
        _ body: @escaping @Sendable (_ term: UInt64) async throws -> Void
    ) -> some Service {
        let election = self
        return SpaceService {
            while !Task.isCancelled {
                do {
                    try await election.lead(as: content, body)
                } catch let error as SpaceError where error.code == .holdLost {
                    continue
                }
            }
        }
    }
}
