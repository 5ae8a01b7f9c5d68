/// A named number of permits; each holder has one or more of them.
///
/// ```swift
/// try await jobs.semaphore("downloads", permits: 4).withPermits { _ in try await download(file) }
/// ```
///
/// A semaphore is fair, like ``SharedLock``: waiters for few permits don't overtake a waiter for many. If a process
/// dies, its permits are free again. All processes that use the name at the same time must give the same number of
/// permits, unless one was set for all of them: ``setPermits(_:)``.
public struct SharedSemaphore: StoredObject, StoredHandle, TurnHandle {
    package let object: ObjectReference
    /// The number of permits that this handle was given.
    let permits: Int

    package var detail: String { " of \(permits) permits" }
    package var removal: String { Self.setting }
    private static let setting = "set the permits of a semaphore"

    package func request(_ count: Int) throws(SpaceError) -> PlaceRequest {
        try namespace.core.naming("acquire a semaphore") { () throws(SpaceError) in
            try Self.check(permits: permits)
            guard (1...Int(UInt32.max)).contains(count) else {
                throw .badNumber("\(count) is no number of permits", advice: "ask for at least one")
            }
            return PlaceRequest(
                name: name,
                kind: .semaphore,
                rules: TurnRules(),
                weight: UInt32(count),
                details: .int(permits),
                unit: "permits"
            )
        }
    }

    /// Sets the number of permits for all processes, even while the semaphore is in use.
    ///
    /// From now on this number counts, whatever number the processes give. If it is smaller than before, holders keep
    /// their permits, and waiters are served once few enough permits are held. A waiter that asks for more permits than
    /// there now are gets `invalidArgument`, and delays no other. The number stays in the namespace until
    /// ``StoredObject/remove()`` takes it back: then the number that the processes give counts again.
    ///
    /// - Parameter number: The number, from 1 to 2³²−1.
    /// - Returns: Whether a number had been set before.
    /// - Throws: `invalidArgument` for another number; `typeMismatch` if the name belongs to another kind of object; and the
    ///   errors of every write.
    @discardableResult
    public func setPermits(_ number: Int) throws(SpaceError) -> Bool {
        try object.attempt(Self.setting) { (core) throws(SpaceError) in
            try Self.check(permits: number)
            return try core.write(.adding) { scope throws(SpaceError) in try scope.places.setPermits(number, of: name) }
        }
    }

    package func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        try core.write(.removing) { scope throws(SpaceError) in try scope.places.setPermits(nil, of: name) }
    }

    private static func check(permits: Int) throws(SpaceError) {
        guard (1...Int(UInt32.max)).contains(permits) else {
            throw .badNumber("there can't be \(permits) permits", advice: "a semaphore has 1 to \(UInt32.max)")
        }
    }

    /// Waits for permits without a limit, and runs `body` while they are held.
    ///
    /// - Parameters:
    ///   - count: The number of permits to hold.
    ///   - body: The work; it gets the fencing number (see ``Hold/fencing``).
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body` and of ``acquire(_:)``.
    nonisolated(nonsending) public func withPermits<Result>(
        _ count: Int = 1,
        _ body: (_ fencing: UInt64) async throws -> Result
    ) async throws -> Result {
        try await acquire(count).run(body)
    }

    /// Runs `body` while permits are held, unless the time passes first; `nil` if it did, and `body` did not run.
    nonisolated(nonsending) public func withPermits<Result>(
        _ count: Int = 1,
        timeout: Duration,
        _ body: (_ fencing: UInt64) async throws -> Result
    ) async throws -> Result? {
        guard let hold = try await acquire(count, timeout: timeout) else { return nil }
        return try await hold.run(body)
    }

    /// Runs `body` while permits are held, unless the time passes first; `nil` if it did, and `body` did not run.
    ///
    /// Blocks the thread while it waits; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func withPermits<Result>(
        _ count: Int = 1,
        timeout: Duration,
        _ body: (_ fencing: UInt64) throws -> Result
    ) throws -> Result? {
        guard let hold = try acquire(count, timeout: timeout) else { return nil }
        return try hold.run(body)
    }

    /// Runs `body` while permits are held, unless the time passes first; `false` if it did, and `body` did not run.
    nonisolated(nonsending) public func withPermits(
        _ count: Int = 1,
        timeout: Duration,
        _ body: (_ fencing: UInt64) async throws -> Void
    ) async throws -> Bool {
        let isDone: Void? = try await withPermits(count, timeout: timeout, body)
        return isDone != nil
    }

    /// Runs `body` while permits are held, unless the time passes first; `false` if it did, and `body` did not run.
    ///
    /// Blocks the thread while it waits; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func withPermits(
        _ count: Int = 1,
        timeout: Duration,
        _ body: (_ fencing: UInt64) throws -> Void
    ) throws -> Bool {
        let isDone: Void? = try withPermits(count, timeout: timeout, body)
        return isDone != nil
    }

    /// Waits for permits without a limit.
    ///
    /// - Parameter count: The number of permits to acquire.
    /// - Returns: The hold; the permits are released when it goes out of scope.
    /// - Throws: `wouldDeadlock` if only the task that waits could release enough permits; `cancelled` if the task is
    ///   cancelled; `typeMismatch` if the name belongs to another kind of object, or is in use with another number of
    ///   permits; `invalidArgument` for more permits than there are; and the errors of every write.
    public func acquire(_ count: Int = 1) async throws(SpaceError) -> Hold {
        try await namespace.acquireSuspending(request(count))
    }

    /// Waits for permits; `nil` if the time-out passes first.
    ///
    /// - Throws: The same errors as ``acquire(_:)``.
    public func acquire(_ count: Int = 1, timeout: Duration) async throws(SpaceError) -> Hold? {
        try await namespace.acquireSuspending(request(count), timeout: timeout)
    }

    /// Waits for permits; `nil` if the time-out passes first.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func acquire(_ count: Int = 1, timeout: Duration) throws(SpaceError) -> Hold? {
        try namespace.acquireBlocking(request(count), timeout: timeout)
    }

    /// Acquires permits if that is possible now without overtaking a waiter.
    ///
    /// - Parameter count: The number of permits to acquire.
    /// - Returns: The hold, or `nil` if the call would have to wait.
    /// - Throws: `typeMismatch`, `invalidArgument`, and the errors of every write.
    public func tryAcquire(_ count: Int = 1) throws(SpaceError) -> Hold? {
        try namespace.tryAcquire(request(count))
    }
}

extension Namespace {
    /// The semaphore with a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    ///   - permits: The number of permits, from 1 to 2³²−1.
    /// - Returns: The semaphore; nothing is written before a process asks for a permit.
    public func semaphore(_ name: String, permits: Int) -> SharedSemaphore {
        SharedSemaphore(object: ObjectReference(.semaphore, name, in: self), permits: permits)
    }
}
