import SpaceSystem
import Synchronization

/// What a process holds by name: a lock, permits of a semaphore, leadership.
///
/// ```swift
/// let hold = try await builds.lock("repository").acquire()
/// try deploy(fencing: hold.fencing)
/// try hold.release()
/// ```
///
/// It is let go when it is released, when it goes out of scope, and when the process ends, however it ends; whoever waits next
/// then holds it. It is the process's, not the thread's: it may be passed on, and released anywhere. The namespace is kept
/// open as long as it lives.
public struct Hold: ~Copyable, Sendable {
    package let state: HoldState

    package init(_ place: HoldPlace, in namespace: Namespace) { state = HoldState(place, in: namespace) }

    deinit { state.drop() }

    /// The name of what is held.
    public var name: String { state.place.name }

    /// The fencing number: greater than that of every earlier holder, also in an earlier life of the namespace.
    ///
    /// (In a later life as long as the machine's clock was not set back by more than lies between the two creations.)
    /// A holder that was stopped, and goes on when it has been deposed, is told from the present one by it: whatever it writes
    /// to is to refuse a number smaller than the greatest it has seen.
    public var fencing: UInt64 { state.place.ticket }

    /// Whether it is still held: not released, nor taken away.
    ///
    /// - Returns: What is so at this moment, and may be otherwise at the next.
    /// - Throws: `namespaceDeleted`, `closed`: then nothing is held either.
    /// - Complexity: O(log n), without a lock.
    public func isHeld() throws(SpaceError) -> Bool { try state.isHeld() }

    /// Lets go.
    ///
    /// - Throws: `holdLost` when it had been taken away; `invalidArgument` when it was released before; `holderStopped`,
    ///   `holderBusy`: then it is still held.
    public func release() throws(SpaceError) { try state.release() }
}

extension Hold {
    /// Runs `body` with the fencing number, and lets go when it ends.
    package consuming func run<Result>(_ body: (UInt64) throws -> Result) throws -> Result {
        let result: Result
        do {
            result = try body(fencing)
        } catch {
            // What can't be let go now is when the hold goes.
            try? release()
            throw error
        }
        try release()
        return result
    }

    /// The same, in a task.
    nonisolated(nonsending) consuming func run<Result>(_ body: (UInt64) async throws -> Result) async throws -> Result {
        let result: Result
        do {
            result = try await body(fencing)
        } catch {
            try? release()
            throw error
        }
        try release()
        return result
    }
}
