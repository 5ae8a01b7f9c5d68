import LMDB
import Synchronization
public import TupleCoding

/// The election of one leader among the processes that stand for it.
///
/// ```swift
/// try await cluster.election("scheduler").lead { term in
///     while !Task.isCancelled { try await schedule(fencing: term) }
/// }
/// ```
///
/// Who has stood longest leads; when the leader resigns or dies, the next does. The number of a term (the fencing number)
/// is greater than that of every term before. A leader that is stopped goes on leading, since nobody can tell it from a slow
/// one, until somebody deposes it: then the next term begins at once, and the old leader learns of it when it goes on.
public struct Election: Sendable {
    private let namespace: Namespace
    /// The name, in the namespace.
    public let name: String

    package init(_ name: String, in namespace: Namespace) {
        self.name = name
        self.namespace = namespace
    }

    private func request(_ value: Value) throws(SpaceError) -> HoldRequest {
        let operation = "acquire an election"
        let size = try namespace.encodedElement(of: value, operation).count
        guard size <= Limits.candidateBytes else {
            throw SpaceError(
                .tooLarge,
                operation,
                namespace: namespace.name,
                reason: "a candidate's value of \(size) bytes is too large",
                advice: "keep it to \(Limits.candidateBytes) bytes: a name, an address"
            )
        }
        return HoldRequest(name: name, kind: .election, details: value)
    }

    /// Stands for leadership, runs `body` as leader, and resigns when it ends.
    ///
    /// - Parameters:
    ///   - value: What the others see of this leader: its address, say.
    ///   - timeout: How long to stand; `nil`: no limit.
    ///   - body: The work; it gets the number of the term. Its task is cancelled when leadership is lost, and when the caller's
    ///     is.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws, and what ``stand(as:timeout:onLoss:)`` does; `holdLost` when leadership was lost
    ///   before `body` returned.
    public func lead<Result: Sendable>(
        as value: Value = .null,
        timeout: Duration? = nil,
        _ body: @escaping @Sendable (_ term: UInt64) async throws -> Result
    ) async throws -> Result {
        let hold = try await namespace.acquireSuspending(try request(value), timeout: timeout)
        let (term, state) = (hold.fencing, hold.state)
        return try await hold.run { _ in
            try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask { try await body(term) }
                group.addTask {
                    // Cancelled with the caller, it has nothing to tell: what the body makes of that counts.
                    guard let loss = try? await state.loss() else { return nil }
                    throw loss
                }
                defer { group.cancelAll() }
                while let ended = try await group.next() {
                    if let result = ended { return result }
                }
                throw CancellationError()
            }
        }
    }

    /// Stands for leadership, and waits until it is had.
    ///
    /// - Parameters:
    ///   - value: What the others see of this leader, up to 256 bytes encoded.
    ///   - timeout: How long to stand; `nil`: no limit.
    ///   - onLoss: Called once, on any thread, when leadership is lost otherwise than by resigning: it was deposed, the namespace
    ///     was deleted or left by the process (its last handle), or the session was given up for dead.
    /// - Returns: The leadership, which ends when it goes out of scope.
    /// - Throws: `timedOut`, which names the leader; `cancelled` when the task is; `typeMismatch` when the name is something
    ///   else; `tooLarge` for the value; and what every write does.
    public func stand(
        as value: Value = .null,
        timeout: Duration? = nil,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) async throws(SpaceError) -> Leadership {
        Leadership(try await namespace.acquireSuspending(try request(value), timeout: timeout), onLoss)
    }

    /// Stands for leadership, and waits until it is had.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func stand(
        as value: Value = .null,
        timeout: Duration,
        onLoss: (@Sendable (SpaceError) -> Void)? = nil
    ) throws(SpaceError) -> Leadership {
        Leadership(try namespace.acquireBlocking(try request(value), timeout: timeout), onLoss)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func standBlocking(
        as value: Value,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Hold {
        try namespace.acquireBlocking(try request(value), timeout: timeout, interruption: interruption)
    }

    // MARK: Who leads

    /// The leader of this moment; `nil`: nobody leads.
    ///
    /// - Returns: Its number, value and process.
    /// - Throws: What every read does.
    public func leader() throws(SpaceError) -> Leader? {
        let operation = "look who leads"
        let core = try namespace.usableCore(operation)
        guard let row = try core.firstLivingHold(name, .election, operation) else { return nil }
        return Leader(term: row.ticket, value: row.details, pid: core.pid(of: row.holder))
    }

    /// Ends the term of the present leader, who may be stopped or stuck; the next in the queue leads.
    ///
    /// - Parameter term: Which; unless given, whatever it is.
    /// - Returns: Whether there was such a leader.
    /// - Throws: `typeMismatch` when the name is something else, and what every write does.
    @discardableResult
    public func depose(term: UInt64? = nil) throws(SpaceError) -> Bool {
        let operation = "depose the leader"
        let core = try namespace.usableCore(operation)
        return try core.write(operation, .removing(1)) { scope throws(SpaceError) in
            guard let row = try scope.snapshot.firstHold(name, .election), term == nil || term == row.ticket else {
                return false
            }
            try scope.removeHold(name, row.ticket)
            return true
        }
    }
}

extension Limits {
    /// The largest value of a candidate in an election, encoded.
    public static let candidateBytes = 256
}

extension Namespace {
    /// The election of a name.
    ///
    /// - Parameter name: 1 to 240 bytes, in the room of all shared objects' names.
    /// - Returns: The election; nothing is written before somebody stands.
    public func election(_ name: String) -> Election { Election(name, in: self) }
}

extension Snapshot {
    /// Who holds a name, the oldest first.
    ///
    /// Throws: `typeMismatch` when the name is something else.
    func firstHold(_ name: String, _ kind: SharedObjectKind) throws(SpaceError) -> HoldRow? {
        var first: HoldRow?
        try forEachHold(HoldKeys(name)) { row throws(SpaceError) in
            first = row
            return false
        }
        if let first, first.kind != kind { throw mismatch(name, first.kind, wanted: kind) }
        return first.flatMap { $0.isHolding ? $0 : nil }
    }
}
