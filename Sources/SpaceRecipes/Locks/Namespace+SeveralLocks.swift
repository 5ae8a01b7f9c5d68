import SpaceSystem
import TupleCoding

extension Namespace {
    /// Runs `body` while several locks are held.
    ///
    /// ```swift
    /// try await bank.withLocks(["account/7", "account/9"]) { _ in try await transfer() }
    /// ```
    ///
    /// The locks are acquired one after the other, in the order of their names, whatever the order in the call. So calls
    /// of this form never wait for each other in a circle, and if one lock can't be had in time, those that were are let
    /// go. A process that already holds one of the locks and calls this form can make such a circle.
    ///
    /// - Parameters:
    ///   - names: The names of the locks, each once.
    ///   - mode: How the locks are held.
    ///   - body: The work; it gets the fencing numbers in the order of `names`, and runs with the caller's isolation.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body` and of ``SharedLock/acquire(_:)``; `invalidArgument` if there is no name, or one
    ///   comes twice.
    nonisolated(nonsending) public func withLocks<Result>(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        _ body: (_ fencing: [UInt64]) async throws -> Result
    ) async throws -> Result {
        let order = try LockOrder(names, in: self)
        var holds: [KeptHold] = []
        for index in order.indices { holds.append(KeptHold(try await lock(names[index]).acquire(mode))) }
        Self.begin(holds)
        let result = try await body(order.fencing(holds))
        try Self.release(holds)
        return result
    }

    /// Runs `body` while several locks are held, unless the time for all of them together passes first; `nil` if it did, and
    /// `body` did not run.
    nonisolated(nonsending) public func withLocks<Result>(
        _ names: [String],
        mode: SharedLock.Mode = .exclusive,
        timeout: Duration,
        _ body: (_ fencing: [UInt64]) async throws -> Result
    ) async throws -> Result? {
        let order = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        var holds: [KeptHold] = []
        for index in order.indices {
            guard let hold = try await lock(names[index]).acquire(mode, timeout: deadline.remaining) else { return nil }
            holds.append(KeptHold(hold))
        }
        Self.begin(holds)
        let result = try await body(order.fencing(holds))
        try Self.release(holds)
        return result
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
        let order = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.now.advanced(by: timeout)
        var holds: [KeptHold] = []
        for index in order.indices {
            guard let hold = try lock(names[index]).acquire(mode, timeout: deadline.remaining) else { return nil }
            holds.append(KeptHold(hold))
        }
        Self.begin(holds)
        let result = try body(order.fencing(holds))
        try Self.release(holds)
        return result
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
    /// - Throws: `timedOut`, which names the holder of the lock that was not to be had.
    package func acquireOrTell(
        _ names: [String],
        _ mode: SharedLock.Mode,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> (all: [KeptHold], fencing: [UInt64]) {
        let order = try LockOrder(names, in: self)
        let deadline = MonotonicInstant.deadline(after: timeout)
        var holds: [KeptHold] = []
        for index in order.indices {
            let lock = lock(names[index])
            holds.append(
                KeptHold(try lock.acquireOrTell(mode, timeout: deadline?.remaining, interruption: interruption))
            )
        }
        return (holds, order.fencing(holds))
    }

    private static func begin(_ holds: [KeptHold]) { for hold in holds { hold.hold.state.note(isScoped: true) } }

    private static func release(_ holds: [KeptHold]) throws(SpaceError) {
        for hold in holds.reversed() { try hold.hold.release() }
    }
}

/// A hold among several; what is not released is let go with the last reference.
package final class KeptHold: Sendable {
    package let hold: Hold

    package init(_ hold: consuming Hold) { self.hold = hold }
}

/// The order in which locks are acquired: that of their names' bytes.
private struct LockOrder {
    let indices: [Int]

    init(_ names: [String], in namespace: Namespace) throws(SpaceError) {
        indices = try namespace.attempt("acquire locks") { (_) throws(SpaceError) in
            if names.isEmpty { throw .misuse("there is no lock to acquire", advice: "name one at least") }
            let indices = names.indices.sorted { Name(names[$0]) < Name(names[$1]) }
            for (first, second) in zip(indices, indices.dropFirst()) where names[first].isSame(as: names[second]) {
                throw .misuse("the lock \(names[first].quotedForPeople) is named twice", advice: "name it once")
            }
            return indices
        }
    }

    /// The fencing numbers of holds that were acquired in this order, in the order of the names.
    func fencing(_ holds: [KeptHold]) -> [UInt64] {
        var fencing = Array(repeating: UInt64(0), count: holds.count)
        for (index, hold) in zip(indices, holds) { fencing[index] = hold.hold.fencing }
        return fencing
    }
}
