package import ClusterStore
import Synchronization

extension MemoryStore {
    /// A watch is a place in the history: a slow consumer costs no memory, and is told when its place is compacted away.
    struct Watch {
        let range: StoreRange
        /// The first revision that the watch has not told of.
        var next: Int64
        /// Whether the consumer is due the news that nothing has changed.
        var progress = false
        /// Whether the watch tells nothing and does not end, like a watch over a connection that stays open but is dead.
        var isSilent = false
        var error: StoreError?
        var consumer: CheckedContinuation<StoreNews?, any Error>?
    }

    package func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        let number = state.withLock { state in
            let number = state.nextWatch
            state.nextWatch += 1
            var watch = Watch(range: range, next: max(1, revision))
            if !state.hasLeader { watch.error = .unavailable("etcdserver: no leader") }
            state.watches[number] = watch
            return number
        }
        let cursor = MemoryCursor(self, number)
        return AsyncThrowingStream { try await cursor.store.nextNews(cursor.watch) }
    }

    /// How many watches have a consumer.
    package var watchCount: Int { state.withLock { $0.watches.count } }

    /// Tells each watch up to which revision nothing has changed.
    package func sendProgress() {
        state.withLock { state in
            for number in state.watches.keys { state.watches[number]?.progress = true }
        }
        tellWatches()
    }

    /// Makes each watch silent that there is; later ones are not.
    package func silenceWatches() {
        state.withLock { state in
            for number in state.watches.keys { state.watches[number]?.isSilent = true }
        }
    }

    func cutWatches(_ error: StoreError) {
        state.withLock { state in
            for number in state.watches.keys where state.watches[number]?.error == nil {
                state.watches[number]?.error = error
            }
        }
        tellWatches()
    }

    /// Tells the consumers that wait what there is to tell.
    func tellWatches() {
        let told = state.withLock { state in
            state.watches.keys.compactMap {
                number -> (CheckedContinuation<StoreNews?, any Error>, Result<StoreNews, StoreError>)? in
                guard state.watches[number]?.consumer != nil, let news = Self.news(of: number, &state),
                    let consumer = state.watches[number]?.consumer.take()
                else { return nil }
                return (consumer, news)
            }
        }
        for (consumer, news) in told { consumer.resume(with: news.map { $0 }.mapError { $0 }) }
    }

    /// What a watch has to tell next.
    private static func news(of number: UInt64, _ state: inout State) -> Result<StoreNews, StoreError>? {
        guard let watch = state.watches[number], !watch.isSilent else { return nil }
        if let error = watch.error { return .failure(error) }
        guard watch.next > state.data.compacted else { return .failure(.compacted(state.data.compacted + 1)) }
        if let (changes, revision) = state.data.changes(of: watch.range, from: watch.next) {
            state.watches[number]?.next = revision + 1
            return .success(.changes(changes, revision: revision))
        }
        state.watches[number]?.next = max(watch.next, state.data.revision + 1)
        guard watch.progress else { return nil }
        state.watches[number]?.progress = false
        return .success(.progress(revision: state.data.revision))
    }

    fileprivate func nextNews(_ number: UInt64) async throws -> StoreNews? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isThere = state.withLock { state in
                    state.watches[number]?.consumer = continuation
                    return state.watches[number] != nil
                }
                guard isThere else { return continuation.resume(returning: nil) }
                tellWatches()
            }
        } onCancel: {
            forget(number)
        }
    }

    fileprivate func forget(_ number: UInt64) {
        let consumer = state.withLock { $0.watches.removeValue(forKey: number)?.consumer }
        consumer?.resume(returning: nil)
    }
}

/// Forgets a watch when its sequence is gone.
private final class MemoryCursor: Sendable {
    let store: MemoryStore
    let watch: UInt64

    init(_ store: MemoryStore, _ watch: UInt64) {
        self.store = store
        self.watch = watch
    }

    deinit { store.forget(watch) }
}
