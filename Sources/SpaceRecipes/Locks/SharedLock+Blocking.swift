// The forms that block the calling thread.

extension SharedLock {
    /// Runs `body` while the lock is held, unless the time passes first; `nil` if it did, and `body` did not run.
    ///
    /// Blocks the thread while it waits; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func withLock<Result>(
        _ mode: Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: UInt64) throws -> Result
    ) throws -> Result? {
        guard let hold = try acquire(mode, timeout: timeout) else { return nil }
        return try hold.run(body)
    }

    /// Runs `body` while the lock is held, unless the time passes first; `false` if it did, and `body` did not run.
    ///
    /// Blocks the thread while it waits; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func withLock(
        _ mode: Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: UInt64) throws -> Void
    ) throws -> Bool {
        let isDone: Void? = try withLock(mode, timeout: timeout, body)
        return isDone != nil
    }

    /// Waits for the lock; `nil` if the time-out passes first, and the place in the queue is given up.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func acquire(_ mode: Mode = .exclusive, timeout: Duration) throws(SpaceError) -> Hold? {
        try namespace.acquireBlocking(request(mode), timeout: timeout)
    }
}
