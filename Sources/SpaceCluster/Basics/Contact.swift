import SpaceSystem
import Synchronization

/// Since when the store has answered without a pause.
package final class Contact: Sendable {
    private let began = Mutex<Int64?>(nil)

    package init() {}

    /// In milliseconds since 1970; `nil` while the store does not answer.
    package var since: Int64? { began.withLock { $0 } }

    func noteAnswer() { began.withLock { $0 = $0 ?? Clock.realtimeMilliseconds() } }

    func noteSilence() { began.withLock { $0 = nil } }
}

/// The result of what a task does, or `nil` if it fails or takes longer.
///
/// The task is cancelled then, and not waited for: it may wait for a store that does not answer.
func result<R: Sendable>(within time: Duration, _ body: @escaping @Sendable () async throws -> R) async -> R? {
    let (results, continuation) = AsyncStream<R?>.makeStream()
    let work = TaskHome.daemon.start {
        let result = try? await body()
        continuation.yield(result)
    }
    let timer = TaskHome.daemon.start {
        try? await Task.sleep(for: time)
        continuation.yield(nil)
    }
    defer {
        work.cancel()
        timer.cancel()
    }
    for await result in results { return result }
    return nil
}
