package import ClusterStore
import Synchronization

/// A ``Store`` in memory, with etcd's meaning, for tests: its clock and its faults are the test's.
///
/// Nothing in it waits for time. If it is made with a clock that the test moves, leases end in ``advance(by:)``; else
/// the code that has the store moves its clock (`space-test-store` does so by real time).
package final class MemoryStore: Store {
    /// What etcd's settings limit.
    package struct Limits: Sendable {
        /// etcd's `--max-txn-ops`.
        package var operations = 128
        /// etcd's `--max-request-bytes`.
        package var requestBytes = 1_572_864

        package init() {}
    }

    /// A store's rows and leases at one moment.
    package struct Checkpoint: Sendable {
        let data: MemoryState
    }

    struct State: ~Copyable {
        var data = MemoryState()
        var now = Duration.zero
        var hasLeader = true
        var troubles: [String] = []
        var fault: (@Sendable (MemoryCall) -> MemoryFault)?
        var watches: [UInt64: Watch] = [:]
        var nextWatch: UInt64 = 1
    }

    let state = Mutex(State())
    private let limits: Limits

    package init(limits: Limits = Limits()) { self.limits = limits }

    // MARK: Store

    package func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading {
        try await perform(.read(range)) { state throws(StoreError) in
            try state.data.read(range, limit: limit, keysOnly: keysOnly)
        }
    }

    package func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome {
        let limits = limits
        return try await perform(.transact(transaction)) { state throws(StoreError) in
            try state.data.transact(transaction, limits: limits)
        }
    }

    package func makeLease(seconds: Int) async throws(StoreError) -> StoreLease {
        try await perform(.makeLease(seconds: seconds)) { state throws(StoreError) in
            try state.data.makeLease(seconds: seconds, now: state.now)
        }
    }

    package func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int {
        try await perform(.keepAlive(lease)) { state throws(StoreError) in
            state.data.keepAlive(lease, now: state.now)
        }
    }

    package func end(_ lease: StoreLease) async throws(StoreError) {
        try await perform(.end(lease)) { state throws(StoreError) in state.data.end(lease) }
    }

    package func status() async throws(StoreError) -> StoreStatus {
        try await perform(.status) { state throws(StoreError) in
            StoreStatus(version: "3.5.13", troubles: state.troubles)
        }
    }

    /// Does a call with its fault.
    private func perform<Answer: Sendable>(
        _ call: MemoryCall,
        _ body: @escaping @Sendable (inout State) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        let fault = state.withLock { $0.fault }?(call) ?? .none
        switch fault {
        case .none: return try done(body).get()
        case .fails(let error): throw error
        case .requestLost: throw call.unanswered
        case .answerLost:
            _ = done(body)
            throw call.unanswered
        case .heldBefore(let gate):
            // A task of its own, so that the call is done when the gate opens, whatever becomes of its caller.
            let work = Task {
                await gate.pass()
                return self.done(body)
            }
            return try await Self.answer(of: work, to: call)
        case .heldAfter(let gate):
            let answer = done(body)
            let work = Task {
                await gate.pass()
                return answer
            }
            return try await Self.answer(of: work, to: call)
        case .late(let gate):
            Task {
                await gate.pass()
                _ = self.done(body)
            }
            throw call.unanswered
        case .twice:
            let answer = done(body)
            _ = done(body)
            return try answer.get()
        }
    }

    /// Changes keys as another program would, whatever the faults.
    package func change(_ operations: [StoreOperation]) {
        let limits = limits
        _ = done { state throws(StoreError) in
            try state.data.transact(StoreTransaction(then: operations), limits: limits)
        }
    }

    /// The value of a key, whatever the faults.
    package func value(of key: String) -> [UInt8]? {
        try? done { state throws(StoreError) in try state.data.read(.key(key), limit: nil, keysOnly: false) }.get().rows
            .first?.value
    }

    private func done<Answer: Sendable>(
        _ body: (inout State) throws(StoreError) -> Answer
    ) -> Result<Answer, StoreError> {
        let result = state.withLock { state -> Result<Answer, StoreError> in
            guard state.hasLeader else { return .failure(.unavailable("etcdserver: no leader")) }
            do throws(StoreError) { return .success(try body(&state)) } catch { return .failure(error) }
        }
        tellWatches()
        return result
    }

    /// Waits for a call that is held; a caller that is cancelled gets no answer.
    private static func answer<Answer: Sendable>(
        of work: Task<Result<Answer, StoreError>, Never>,
        to call: MemoryCall
    ) async throws(StoreError) -> Answer {
        let (answers, continuation) = AsyncStream<Result<Answer, StoreError>>.makeStream()
        Task {
            continuation.yield(await work.value)
            continuation.finish()
        }
        for await answer in answers { return try answer.get() }
        throw call.unanswered
    }

    // MARK: What a test does to it

    /// Chooses the fault of each call from now on; `nil` for none.
    package func setFault(_ fault: (@Sendable (MemoryCall) -> MemoryFault)?) { state.withLock { $0.fault = fault } }

    /// Moves the clock, and ends the leases whose time is over then.
    package func advance(by duration: Duration) {
        state.withLock { state in
            state.now += duration
            // Like etcd: without a leader no lease ends, and a new leader gives all of them their whole time.
            guard state.hasLeader else { return }
            for lease in state.data.overdue(state.now) { state.data.end(lease) }
        }
        tellWatches()
    }

    /// Ends the leases of some rows, as if their time were over.
    ///
    /// - Parameter isMeant: Whether a row is one of them.
    /// - Returns: Whether there was one.
    package func endLeases(where isMeant: (StoreRow) -> Bool) -> Bool {
        let hasEnded = state.withLock { state in
            let rows = (try? state.data.read(.prefix(""), limit: nil, keysOnly: false))?.rows ?? []
            let leases = Set(rows.filter { $0.lease != .none && isMeant($0) }.map(\.lease))
            for lease in leases { state.data.end(lease) }
            return !leases.isEmpty
        }
        tellWatches()
        return hasEnded
    }

    /// Takes the leader away, which ends all watches, or gives the store one again.
    package func setLeader(_ hasLeader: Bool) {
        state.withLock { state in
            if hasLeader, !state.hasLeader { state.data.renewLeases(now: state.now) }
            state.hasLeader = hasLeader
        }
        if !hasLeader { cutWatches(.unavailable("etcdserver: no leader")) }
    }

    /// What the store says from now on is wrong with it.
    package func setTroubles(_ troubles: [String]) { state.withLock { $0.troubles = troubles } }

    /// Ends all watches, as a connection that is lost does.
    package func cutWatches() { cutWatches(.unavailable("a fault of the test: the connection is lost")) }

    /// Forgets the changes up to and including a revision; watches that have not come so far end.
    ///
    /// - Parameter last: `nil` for the store's revision.
    package func compact(through last: Int64? = nil) {
        state.withLock { $0.data.compact(through: last ?? $0.data.revision) }
        tellWatches()
    }

    /// The store's revision.
    package var revision: Int64 { state.withLock { $0.data.revision } }

    /// All keys, in order.
    package var keys: [String] {
        let reading = state.withLock { try? $0.data.read(.prefix(""), limit: nil, keysOnly: true) }
        return reading?.rows.map(\.key) ?? []
    }

    /// How many leases there are.
    package var leaseCount: Int { state.withLock { $0.data.leases.count } }

    /// The store as it is, for ``restore(_:)``.
    package func checkpoint() -> Checkpoint { state.withLock { Checkpoint(data: $0.data) } }

    /// Sets the store back, as an operator does who restores an old snapshot: revisions are given out again.
    package func restore(_ checkpoint: Checkpoint) {
        state.withLock { state in
            state.data = checkpoint.data
            state.data.renewLeases(now: state.now)
        }
        cutWatches()
    }
}
