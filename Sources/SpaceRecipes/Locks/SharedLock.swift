/// A named lock between processes: exclusive, or shared by processes that only read.
///
/// ```swift
/// try await builds.lock("repository").withLock { fencing in try await deploy(fencing: fencing) }
/// ```
///
/// The lock is fair: waiters are served in the order in which they came, and a reader behind a waiting writer waits
/// too. If the holder dies, the kernel releases its session lock, and the hold ends. The lock is not reentrant: each
/// acquisition counts separately, even within one process and thread, so a thread that acquires the lock twice waits
/// for itself. If that may happen, give a time-out. The lock exists only while a process holds it or waits for it, and
/// costs nothing otherwise.
public struct SharedLock: SharedObject, TurnHandle {
    /// How a lock is held.
    public enum Mode: Sendable, Hashable {
        /// By one holder at a time.
        case exclusive
        /// By any number of sharing holders, while no exclusive holder has it.
        case shared
    }

    package let object: ObjectReference

    package func request(_ mode: Mode) -> PlaceRequest {
        PlaceRequest(name: name, kind: .lock, rules: TurnRules(), isShared: mode == .shared)
    }

    // MARK: With a body

    /// Waits for the lock without a limit, and runs `body` while it is held.
    ///
    /// - Parameters:
    ///   - mode: How the lock is held.
    ///   - body: The work; it gets the fencing number (see ``Hold/fencing``) and runs with the caller's isolation.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body` and of ``acquire(_:)``; `holdLost` if the lock was taken away before `body` returned.
    nonisolated(nonsending) public func withLock<Result>(
        _ mode: Mode = .exclusive,
        _ body: (_ fencing: UInt64) async throws -> Result
    ) async throws -> Result {
        try await acquire(mode).run(body)
    }

    /// Runs `body` while the lock is held, unless the time passes first; `nil` if it did, and `body` did not run.
    nonisolated(nonsending) public func withLock<Result>(
        _ mode: Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: UInt64) async throws -> Result
    ) async throws -> Result? {
        guard let hold = try await acquire(mode, timeout: timeout) else { return nil }
        return try await hold.run(body)
    }

    /// Runs `body` while the lock is held, unless the time passes first; `false` if it did, and `body` did not run.
    nonisolated(nonsending) public func withLock(
        _ mode: Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: UInt64) async throws -> Void
    ) async throws -> Bool {
        let isDone: Void? = try await withLock(mode, timeout: timeout, body)
        return isDone != nil
    }

    // MARK: As a value

    /// Waits for the lock without a limit.
    ///
    /// - Parameter mode: How the lock is held.
    /// - Returns: The hold; the lock is released when it goes out of scope.
    /// - Throws: `wouldDeadlock` if only the task that waits could release it; `cancelled` if the task is cancelled;
    ///   `typeMismatch` if the name belongs to another kind of object; `storageFull`, `limitReached`, `holderStopped`,
    ///   `holderBusy`, `namespaceDeleted`. In all these cases the place in the queue is given up.
    public func acquire(_ mode: Mode = .exclusive) async throws(SpaceError) -> Hold {
        try await namespace.acquireSuspending(request(mode))
    }

    /// Waits for the lock; `nil` if the time-out passes first, and the place in the queue is given up.
    ///
    /// A process that itself holds the lock also gets `nil`: locks are not reentrant. But another of its threads may
    /// release the lock.
    ///
    /// - Throws: The same errors as ``acquire(_:)``.
    public func acquire(_ mode: Mode = .exclusive, timeout: Duration) async throws(SpaceError) -> Hold? {
        try await namespace.acquireSuspending(request(mode), timeout: timeout)
    }

    /// Acquires the lock if that is possible now without overtaking a waiter.
    ///
    /// - Parameter mode: How the lock is held.
    /// - Returns: The hold, or `nil` if the call would have to wait.
    /// - Throws: `typeMismatch`, and the errors of every write.
    public func tryAcquire(_ mode: Mode = .exclusive) throws(SpaceError) -> Hold? {
        try namespace.tryAcquire(request(mode))
    }
}

extension Namespace {
    /// The lock with a name.
    ///
    /// - Parameter name: 1 to 240 bytes; locks, collections and all other shared objects of the namespace share one set
    ///   of names.
    /// - Returns: The lock; nothing is written before a process asks for it.
    public func lock(_ name: String) -> SharedLock { SharedLock(object: ObjectReference(.lock, name, in: self)) }
}
