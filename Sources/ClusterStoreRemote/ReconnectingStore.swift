package import ClusterStore
import SpaceSystem
import Synchronization

/// A ``RemoteStore`` that is connected again when its connection has ended.
///
/// Calls that were under way then fail, and watches end, as if the store had no leader for a while. The first call or watch
/// after that connects, so that a member outlives the program that connects it with etcd.
package final class ReconnectingStore: Store {
    private struct State {
        var store: RemoteStore
        /// The earliest moment of the next attempt.
        var nextAttempt = MonotonicInstant.now
        var pause = ReconnectingStore.shortestPause
        /// Why the last attempt has failed.
        var failure: StoreError?
    }

    private let connect: @Sendable () throws -> RemoteStore
    private let state: Mutex<State>

    /// The pause between attempts; it doubles with each that fails, or whose connection ends without an answer.
    private static let shortestPause = Duration.milliseconds(20)
    private static let longestPause = Duration.seconds(2)

    /// Connects for the first time.
    ///
    /// - Parameter connect: Makes a connection, without waiting for the other side.
    /// - Throws: What `connect` throws; later such an error makes calls `unavailable`.
    package init(_ connect: @escaping @Sendable () throws -> RemoteStore) throws {
        self.connect = connect
        state = Mutex(State(store: try connect()))
    }

    /// The store, connected again if its connection has ended.
    private var store: RemoteStore {
        get throws(StoreError) {
            try state.withLock { state throws(StoreError) in
                guard state.store.hasEnded else { return state.store }
                guard state.nextAttempt.hasPassed else {
                    // The one that has ended says why.
                    if let failure = state.failure { throw failure }
                    return state.store
                }
                let hasWorked = state.failure == nil && state.store.hasAnswered
                state.pause = hasWorked ? Self.shortestPause : min(state.pause * 2, Self.longestPause)
                state.nextAttempt = .now.advanced(by: state.pause)
                do {
                    state.store = try connect()
                    state.failure = nil
                } catch {
                    let failure = error as? StoreError ?? .unavailable("it can't be connected anew: \(error)")
                    state.failure = failure
                    throw failure
                }
                return state.store
            }
        }
    }

    package func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading {
        try await store.read(range, limit: limit, keysOnly: keysOnly)
    }

    package func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome {
        try await store.transact(transaction)
    }

    package func makeLease(seconds: Int) async throws(StoreError) -> StoreLease {
        try await store.makeLease(seconds: seconds)
    }

    package func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int { try await store.keepAlive(lease) }

    package func end(_ lease: StoreLease) async throws(StoreError) { try await store.end(lease) }

    package func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        do { return try store.watch(range, from: revision) } catch { return AsyncThrowingStream { throw error } }
    }

    package func status() async throws(StoreError) -> StoreStatus { try await store.status() }
}
