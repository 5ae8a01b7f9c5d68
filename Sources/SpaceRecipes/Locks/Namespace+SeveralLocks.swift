import SpaceSystem

extension Namespace {
    /// Runs `body` while several locks are held.
    ///
    /// ```swift
    /// try await bank.withLocks(["account/7", "account/9"]) { _ in try await transfer() }
    /// ```
    ///
    /// The locks are acquired one after the other, in the order of their names, whatever the order in the call. So
    /// calls of this form never wait for each other in a circle, and if one lock is not acquired in time, the acquired
    /// ones are released. But if a process already holds one of the locks when it calls this form, such a circle is
    /// possible.
    ///
    /// - Parameters:
    ///   - names: The names of the locks, each once.
    ///   - mode: How the locks are held.
    ///   - body: The work; it gets the fencing numbers in the order of `names`, and runs with the caller's isolation.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body` and of ``SharedLock/acquire(_:)``; `invalidArgument` if there is no name, or one
    ///   occurs twice.
    nonisolated(nonsending) public func withLocks<Result>(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        _ body: (_ fencing: [UInt64]) async throws -> Result
    ) async throws -> Result {
        let locks = try LockOrder(names, in: self)
        return try await locks.acquire { (lock) async throws(SpaceError) in try await lock.acquire(mode) }.orEnded()
            .run(body)
    }

    /// Runs `body` while several locks are held, unless the time for all of them together passes first; `nil` if it did, and
    /// `body` did not run.
    nonisolated(nonsending) public func withLocks<Result>(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: [UInt64]) async throws -> Result
    ) async throws -> Result? {
        let locks = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        let held = try await locks.acquire { (lock) async throws(SpaceError) in
            try await lock.acquire(mode, timeout: deadline.remaining)
        }
        return try await held?.run(body)
    }

    /// Runs `body` while several locks are held, unless the time for all of them together passes first; `nil` if it did, and
    /// `body` did not run.
    ///
    /// Blocks the thread while it waits; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func withLocks<Result>(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: [UInt64]) throws -> Result
    ) throws -> Result? {
        let locks = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        let held = try locks.acquire { (lock) throws(SpaceError) in
            try lock.acquire(mode, timeout: deadline.remaining)
        }
        return try held?.run(body)
    }

    /// Runs `body` while several locks are held, unless the time passes first; `false` if it did, and `body` did not run.
    nonisolated(nonsending) public func withLocks(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: [UInt64]) async throws -> Void
    ) async throws -> Bool {
        let isDone: Void? = try await withLocks(names, mode: mode, timeout: timeout, body)
        return isDone != nil
    }

    /// Runs `body` while several locks are held, unless the time passes first; `false` if it did, and `body` did not run.
    ///
    /// Blocks the thread while it waits; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    @_disfavoredOverload
    public func withLocks(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: [UInt64]) throws -> Void
    ) throws -> Bool {
        let isDone: Void? = try withLocks(names, mode: mode, timeout: timeout, body)
        return isDone != nil
    }

    /// Acquires several locks for a command, in the order of their names; if `timeout` is `nil`, only the interruption ends
    /// the wait.
    ///
    /// - Throws: `timedOut`, which names the holder of the lock that was not acquired.
    package func acquireOrTell(
        _ names: [String],
        _ mode: SharedLock.Mode,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> (all: [KeptHold], fencing: [UInt64]) {
        let locks = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.deadline(after: timeout)
        let held = try locks.acquire { (lock) throws(SpaceError) in
            try lock.acquireOrTell(mode, timeout: deadline?.remaining, interruption: interruption)
        }.orEnded()
        return (held.all, held.fencing)
    }

    /// Acquires several locks in the order of their names, suspending the task; if `timeout` is `nil`, without a limit.
    ///
    /// - Throws: `timedOut`, which names the holder of the lock that was not acquired.
    package func acquireOrTell(
        _ names: [String],
        _ mode: SharedLock.Mode,
        timeout: Duration?
    ) async throws(SpaceError) -> (all: [KeptHold], fencing: [UInt64]) {
        let locks = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.deadline(after: timeout)
        let held = try await locks.acquire { (lock) async throws(SpaceError) in
            try await lock.acquireOrTell(mode, timeout: deadline?.remaining)
        }.orEnded()
        return (held.all, held.fencing)
    }
}

/// A hold among several; if it was not released before, it is released with the last reference.
package final class KeptHold: Sendable {
    package let hold: Hold

    package init(_ hold: consuming Hold) { self.hold = hold }
}

/// Several locks in the order in which they are acquired: that of their names' bytes.
private struct LockOrder {
    private let locks: [SharedLock]
    /// For each lock, the place of its name in the call.
    private let places: [Int]

    init(_ names: [String], in namespace: Namespace) throws(SpaceError) {
        let places = try namespace.attempt("acquire locks") { (_) throws(SpaceError) in
            if names.isEmpty { throw .misuse("there is no lock to acquire", advice: "name one at least") }
            let places = names.indices.sorted { Name(names[$0]) < Name(names[$1]) }
            for (first, second) in zip(places, places.dropFirst()) where names[first].isSame(as: names[second]) {
                throw .misuse("the lock \(names[first].quotedForPeople) is named twice", advice: "name it once")
            }
            return places
        }
        self.places = places
        locks = places.map { namespace.lock(names[$0]) }
    }

    /// Acquires one after the other; `nil` if one of them was not acquired, and then those before it are released.
    func acquire(_ one: (SharedLock) throws(SpaceError) -> Hold?) throws(SpaceError) -> HeldLocks? {
        var all: [KeptHold] = []
        for lock in locks {
            guard let hold = try one(lock) else { return nil }
            all.append(KeptHold(hold))
        }
        return HeldLocks(all, at: places)
    }

    /// Does the same, and suspends the task.
    nonisolated(nonsending) func acquire(
        _ one: (SharedLock) async throws(SpaceError) -> Hold?
    ) async throws(SpaceError) -> HeldLocks? {
        var all: [KeptHold] = []
        for lock in locks {
            guard let hold = try await one(lock) else { return nil }
            all.append(KeptHold(hold))
        }
        return HeldLocks(all, at: places)
    }
}

/// Several locks that are held.
private struct HeldLocks {
    let all: [KeptHold]
    /// The fencing numbers, in the order of the names in the call.
    let fencing: [UInt64]

    init(_ all: [KeptHold], at places: [Int]) {
        self.all = all
        var fencing = Array(repeating: UInt64(0), count: all.count)
        for (place, held) in zip(places, all) { fencing[place] = held.hold.fencing }
        self.fencing = fencing
    }

    func run<Result>(_ body: ([UInt64]) throws -> Result) throws -> Result {
        begin()
        let result = try body(fencing)
        try release()
        return result
    }

    nonisolated(nonsending) func run<Result>(_ body: ([UInt64]) async throws -> Result) async throws -> Result {
        begin()
        let result = try await body(fencing)
        try release()
        return result
    }

    private func begin() { for held in all { held.hold.state.note(isScoped: true) } }

    private func release() throws(SpaceError) { for held in all.reversed() { try held.hold.release() } }
}
