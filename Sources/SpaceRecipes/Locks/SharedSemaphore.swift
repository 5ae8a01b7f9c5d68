import TupleCoding

/// A named number of permits, of which each holder has one or more.
///
/// ```swift
/// try await jobs.semaphore("downloads", permits: 4).withPermits { _ in try await download(file) }
/// ```
///
/// Fair, as ``SharedLock`` is: who wants many permits is not overtaken by those who want few. The permits of a process
/// that dies are free again. All who use the name at one time mean the same number of permits.
public struct SharedSemaphore: Sendable {
    private let namespace: Namespace
    /// The name, in the namespace.
    public let name: String
    /// How many permits there are.
    public let permits: Int

    init(_ name: String, permits: Int, in namespace: Namespace) {
        self.name = name
        self.permits = permits
        self.namespace = namespace
    }

    private func request(_ count: Int) throws(SpaceError) -> HoldRequest {
        let operation = "acquire a semaphore"
        guard (1...Int(UInt32.max)).contains(permits) else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: namespace.name,
                reason: "there can't be \(permits) permits",
                advice: "a semaphore has 1 to \(UInt32.max)"
            )
        }
        guard (1...permits).contains(count) else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: namespace.name,
                reason: "\(count) of \(permits) permits are never to be had",
                advice: "ask for at least one, and no more than there are"
            )
        }
        return HoldRequest(name: name, kind: .semaphore, weight: UInt32(count), details: .int(permits))
    }

    /// Runs `body` while permits are held.
    ///
    /// - Parameters:
    ///   - count: How many permits.
    ///   - timeout: How long to wait for them; `nil`: no limit.
    ///   - body: The work; it gets the fencing number (see ``Hold/fencing``).
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws, and what ``acquire(_:timeout:)-(_,Duration?)`` does.
    nonisolated(nonsending) public func withPermits<Result>(
        _ count: Int = 1,
        timeout: Duration? = nil,
        _ body: (_ fencing: UInt64) async throws -> Result
    ) async throws -> Result {
        try await acquire(count, timeout: timeout).run(body)
    }

    /// Runs `body` while permits are held.
    ///
    /// Blocks the thread while it waits; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func withPermits<Result>(
        _ count: Int = 1,
        timeout: Duration,
        _ body: (_ fencing: UInt64) throws -> Result
    ) throws -> Result {
        try acquire(count, timeout: timeout).run(body)
    }

    /// Waits for permits.
    ///
    /// - Parameters:
    ///   - count: How many permits.
    ///   - timeout: How long to wait; `nil`: no limit.
    /// - Returns: What is held; it is let go when it goes out of scope.
    /// - Throws: `timedOut`, which names the oldest holder; `cancelled` when the task is; `typeMismatch` when the name is
    ///   something else, or in use with another number of permits; `invalidArgument` for more permits than there are; and
    ///   what every write does.
    public func acquire(_ count: Int = 1, timeout: Duration? = nil) async throws(SpaceError) -> Hold {
        try await namespace.acquireSuspending(request(count), timeout: timeout)
    }

    /// Waits for permits.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func acquire(_ count: Int = 1, timeout: Duration) throws(SpaceError) -> Hold {
        try namespace.acquireBlocking(request(count), timeout: timeout)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func acquireBlocking(
        _ count: Int,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Hold {
        try namespace.acquireBlocking(request(count), timeout: timeout, interruption: interruption)
    }

    /// Acquires permits if they are to be had now, and nobody waits.
    ///
    /// - Parameter count: How many permits.
    /// - Returns: What is held; `nil` when it would have had to wait.
    /// - Throws: `typeMismatch`, `invalidArgument`, and what every write does.
    public func tryAcquire(_ count: Int = 1) throws(SpaceError) -> Hold? {
        try namespace.tryAcquire(request(count))
    }
}

extension Namespace {
    /// The semaphore of a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes, in the room of all shared objects' names.
    ///   - permits: How many there are, from 1 to 2³²−1.
    /// - Returns: The semaphore; nothing is written before somebody asks for a permit.
    public func semaphore(_ name: String, permits: Int) -> SharedSemaphore {
        SharedSemaphore(name, permits: permits, in: self)
    }
}
