import SpaceSystem
import TupleCoding

/// A point at which a number of processes wait for each other.
///
/// ```swift
/// try await simulation.barrier("step", parties: 4).wait()
/// ```
///
/// When as many as there are parties wait, all go on, and the barrier stands for the next round. Who waits and dies, or
/// gives up, is not counted: the others wait until somebody comes in its stead.
public struct SharedBarrier: Sendable {
    private let namespace: Namespace
    /// The name, in the namespace.
    public let name: String
    /// How many are to wait.
    public let parties: Int

    init(_ name: String, parties: Int, in namespace: Namespace) {
        self.name = name
        self.parties = parties
        self.namespace = namespace
    }

    private static let operation = "wait at a barrier"

    private func request() throws(SpaceError) -> (NamespaceCore, HoldRequest) {
        try namespace.checkObjectName(name, Self.operation)
        guard parties > 0 else {
            throw SpaceError(
                .invalidArgument,
                Self.operation,
                namespace: namespace.name,
                reason: "\(parties) parties never meet",
                advice: "give a number from 1"
            )
        }
        return (
            try namespace.usableCore(Self.operation),
            HoldRequest(name: name, kind: .barrier, details: .int(parties))
        )
    }

    /// Waits until all are there.
    ///
    /// - Parameter timeout: How long; `nil`: no limit.
    /// - Returns: Whether all were there in time; if not, this one no longer counts.
    /// - Throws: `cancelled` when the task is; `typeMismatch` when the name is something else, or in use with another number of
    ///   parties; and what every write does.
    @discardableResult
    public func wait(timeout: Duration? = nil) async throws(SpaceError) -> Bool {
        let (core, request) = try request()
        guard let place = try await core.holdSuspending(Self.operation, request, timeout: timeout) else { return false }
        core.endOrRemember(place)
        return true
    }

    /// Waits until all are there.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func wait(timeout: Duration) throws(SpaceError) -> Bool {
        try waitBlocking(timeout: timeout, interruption: nil)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func waitBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Bool {
        let (core, request) = try request()
        let place = try core.holdBlocking(Self.operation, request, timeout: timeout, interruption: interruption)
        guard let place else { return false }
        // What could not be taken away now is with the next tick, and stands in nobody's way.
        core.endOrRemember(place)
        return true
    }
}

extension Namespace {
    /// The barrier of a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes, in the room of all shared objects' names.
    ///   - parties: How many wait for each other, from 1.
    /// - Returns: The barrier; nothing is written before somebody waits.
    public func barrier(_ name: String, parties: Int) -> SharedBarrier {
        SharedBarrier(name, parties: parties, in: self)
    }
}
