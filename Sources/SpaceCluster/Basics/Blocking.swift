import SpaceEngine
import SpaceSystem
import Synchronization
import SystemPackage

/// Runs what may wait for the gate or for the disk on a thread that does nothing else, so that no task that answers a
/// process waits behind it.
package func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        do throws(Errno) {
            try SpareThreads.shared.start { continuation.resume(with: Result { try body() }) }
        } catch {
            continuation.resume(throwing: SpaceError(error, subject: "a thread of the daemon"))
        }
    }
}

/// Waits on this thread, which ``onThread(_:)`` has started, for what a task does.
package func waiting<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
    let answer = BlockingAnswer<Result<R, any Error>>()
    TaskHome.daemon.start {
        do { answer.give(.success(try await body())) } catch { answer.give(.failure(error)) }
    }
    while true {
        if let result = answer.wait(until: .distantFuture) { return try result.get() }
    }
}

/// An answer that one thread waits for.
final class BlockingAnswer<R: Sendable>: Sendable {
    private enum State {
        case awaited
        case given(R)
        case givenUp
    }

    private let state = Mutex(State.awaited)
    /// 1 once the answer is given.
    private let word = FutexWord()

    /// Gives the answer.
    ///
    /// - Returns: Whether the thread still waits for it.
    @discardableResult
    func give(_ answer: R) -> Bool {
        let isAwaited = state.withLock { state in
            guard case .awaited = state else { return false }
            state = .given(answer)
            return true
        }
        word.value.storeSequential(1)
        word.futex.wake()
        return isAwaited
    }

    /// Waits for the answer; `nil` if it has not come until the deadline, after which nothing waits for it any more.
    func wait(until deadline: MonotonicInstant) -> R? {
        while word.value.load() == 0, !deadline.hasPassed { _ = try? word.futex.wait(while: 0, until: deadline) }
        return state.withLock { state in
            guard case .given(let answer) = state else {
                state = .givenUp
                return nil
            }
            return answer
        }
    }
}
