import Synchronization

/// The news of a watch between the connection that brings them and the task that consumes them.
///
/// It has an upper limit: a consumer that is too slow gets what is there, and then an error, and watches again from the
/// revision behind the last one that it has seen. So a slow consumer costs the other watches nothing, and no memory
/// without bound.
package final class StoreNewsQueue: Sendable {
    private struct State: ~Copyable {
        var news: [(StoreNews, bytes: Int)] = []
        /// How many of `news` are consumed.
        var consumed = 0
        var bytes = 0
        /// Set when no more news come; consumed after the news.
        var end: Result<Void, StoreError>?
        var consumer: CheckedContinuation<StoreNews?, any Error>?
        var onStop: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let maximumCount: Int
    private let maximumBytes: Int

    /// - Parameters:
    ///   - maximumCount: How many news wait for the consumer at most.
    ///   - maximumBytes: How many bytes of keys and values they have at most; one news may always wait.
    ///   - onStop: Called once, when the consumer stops before the end of the news.
    package init(
        maximumCount: Int = 10_000,
        maximumBytes: Int = 32 << 20,
        onStop: @escaping @Sendable () -> Void
    ) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
        state = Mutex(State(onStop: onStop))
    }

    /// The news as a sequence for one consumer.
    package var sequence: AsyncThrowingStream<StoreNews, any Error> {
        // The closure alone has the consumer, so the consumer goes when the sequence goes.
        let consumer = StoreNewsConsumer(self)
        return AsyncThrowingStream { try await consumer.queue.next() }
    }

    /// Appends news.
    ///
    /// - Returns: `false` if the consumer has stopped, or is too slow: the queue then ends with an error.
    package func append(_ news: StoreNews) -> Bool {
        let (consumer, accepted) = state.withLock { state -> (CheckedContinuation<StoreNews?, any Error>?, Bool) in
            guard state.end == nil else { return (nil, false) }
            if let consumer = state.consumer.take() { return (consumer, true) }
            let bytes = news.size
            let count = state.news.count - state.consumed
            guard count == 0 || (count < maximumCount && bytes <= maximumBytes - state.bytes) else {
                state.end = .failure(
                    .unavailable(
                        "the watch's consumer is too slow: \(count) news with \(state.bytes) bytes wait for it"
                    )
                )
                state.onStop = nil
                return (nil, false)
            }
            state.news.append((news, bytes))
            state.bytes += bytes
            return (nil, true)
        }
        consumer?.resume(returning: news)
        return accepted
    }

    /// Whether news wait for the consumer.
    package var hasNews: Bool { state.withLock { $0.consumed < $0.news.count } }

    /// Ends the queue; the consumer gets the news that wait for it, and then the error.
    package func finish(throwing error: StoreError) {
        let consumer = state.withLock { state -> CheckedContinuation<StoreNews?, any Error>? in
            guard state.end == nil else { return nil }
            state.onStop = nil
            guard let consumer = state.consumer.take() else {
                state.end = .failure(error)
                return nil
            }
            state.end = .success(())
            return consumer
        }
        consumer?.resume(throwing: error)
    }

    /// Ends the queue at the consumer's wish.
    fileprivate func stop() {
        let (consumer, onStop) = state.withLock {
            state -> (CheckedContinuation<StoreNews?, any Error>?, (@Sendable () -> Void)?) in
            if state.end == nil { state.end = .success(()) }
            state.news = []
            state.consumed = 0
            return (state.consumer.take(), state.onStop.take())
        }
        consumer?.resume(returning: nil)
        onStop?()
    }

    fileprivate func next() async throws -> StoreNews? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let found = state.withLock { state -> Result<StoreNews?, any Error>? in
                    if state.consumed < state.news.count {
                        let (news, bytes) = state.news[state.consumed]
                        state.consumed += 1
                        state.bytes -= bytes
                        // The news that are consumed go from time to time, so that each costs the same.
                        if state.consumed == state.news.count || state.consumed > 1024 {
                            state.news.removeFirst(state.consumed)
                            state.consumed = 0
                        }
                        return .success(news)
                    }
                    if let end = state.end {
                        state.end = .success(())
                        return end.map { nil }.mapError { $0 }
                    }
                    state.consumer = continuation
                    return nil
                }
                if let found { continuation.resume(with: found) }
            }
        } onCancel: {
            stop()
        }
    }
}

/// Stops a queue when its sequence is gone.
private final class StoreNewsConsumer: Sendable {
    let queue: StoreNewsQueue

    init(_ queue: StoreNewsQueue) { self.queue = queue }

    deinit { queue.stop() }
}

extension StoreNews {
    /// About how many bytes the news hold.
    fileprivate var size: Int {
        guard case .changes(let changes, _) = self else { return 16 }
        return changes.reduce(64) { sum, change in
            switch change {
            case .put(let row): sum + 96 + row.key.utf8.count + row.value.count
            case .deleted(let key, _): sum + 48 + key.utf8.count
            }
        }
    }
}
