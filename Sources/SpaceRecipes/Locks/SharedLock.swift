/// A named lock between processes: exclusive, or shared by those who only read.
///
/// ```swift
/// try await builds.lock("repository").withLock { fencing in try await deploy(fencing: fencing) }
/// ```
///
/// Fair: who came first is served first, a reader behind a waiting writer waits too. The kernel lets go of it when its
/// holder dies. It is not reentrant: each acquisition stands for itself, also within one process and thread, so who asks
/// twice waits for itself; give a time-out where that may happen. It is there while somebody holds it or waits, and costs
/// nothing otherwise.
public struct SharedLock: Sendable {
    /// How it is held.
    public enum Mode: Sendable, Hashable {
        /// By one at a time.
        case exclusive
        /// By any number of those who share it, while nobody holds it exclusively.
        case shared
    }

    private let namespace: Namespace
    /// The name, in the namespace.
    public let name: String

    init(_ name: String, in namespace: Namespace) {
        self.name = name
        self.namespace = namespace
    }

    private func request(_ mode: Mode) -> HoldRequest {
        HoldRequest(name: name, kind: .lock, isShared: mode == .shared)
    }

    // MARK: With a body

    /// Runs `body` while the lock is held.
    ///
    /// - Parameters:
    ///   - mode: How it is held.
    ///   - timeout: How long to wait for it; `nil`: no limit.
    ///   - body: The work; it gets the fencing number (see ``Hold/fencing``) and runs where the caller does.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws, and what ``acquire(_:timeout:)-(_,Duration?)`` does; `holdLost` when the lock had
    ///   been taken away before `body` returned.
    nonisolated(nonsending) public func withLock<Result>(
        _ mode: Mode = .exclusive,
        timeout: Duration? = nil,
        _ body: (_ fencing: UInt64) async throws -> Result
    ) async throws -> Result {
        try await acquire(mode, timeout: timeout).run(body)
    }

    /// Runs `body` while the lock is held.
    ///
    /// Blocks the thread while it waits; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func withLock<Result>(
        _ mode: Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: UInt64) throws -> Result
    ) throws -> Result {
        try acquire(mode, timeout: timeout).run(body)
    }

    // MARK: As a value

    /// Waits for the lock.
    ///
    /// - Parameters:
    ///   - mode: How it is held.
    ///   - timeout: How long to wait; `nil`: no limit.
    /// - Returns: What is held; it is let go when it goes out of scope.
    /// - Throws: `timedOut`, which names the holder; `cancelled` when the task is; `typeMismatch` when the name is something
    ///   else; `storageFull`, `limitReached`, `holderStopped`, `holderBusy`, `namespaceDeleted`. The place in the queue is
    ///   given up then.
    public func acquire(_ mode: Mode = .exclusive, timeout: Duration? = nil) async throws(SpaceError) -> Hold {
        try await namespace.acquireSuspending(request(mode), timeout: timeout)
    }

    /// Waits for the lock.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func acquire(_ mode: Mode = .exclusive, timeout: Duration) throws(SpaceError) -> Hold {
        try namespace.acquireBlocking(request(mode), timeout: timeout)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func acquireBlocking(
        _ mode: Mode,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Hold {
        try namespace.acquireBlocking(request(mode), timeout: timeout, interruption: interruption)
    }

    /// Acquires the lock if it is to be had now, and nobody waits for it.
    ///
    /// - Parameter mode: How it is held.
    /// - Returns: What is held; `nil` when it would have had to wait.
    /// - Throws: `typeMismatch`, and what every write does.
    public func tryAcquire(_ mode: Mode = .exclusive) throws(SpaceError) -> Hold? {
        try namespace.tryAcquire(request(mode))
    }
}

extension Namespace {
    /// The lock of a name.
    ///
    /// - Parameter name: 1 to 240 bytes; the names of locks, collections and all other shared objects are one room.
    /// - Returns: The lock; nothing is written before somebody asks for it.
    public func lock(_ name: String) -> SharedLock { SharedLock(name, in: self) }
}
