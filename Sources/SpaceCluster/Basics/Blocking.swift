import Glibc
import SpaceEngine
import SpaceSystem
import Synchronization
import SystemPackage

/// Runs what may wait for the gate or for the disk on a thread of its own, so that no task that answers a process waits
/// behind it.
package func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
        do throws(Errno) {
            try DetachedThread.start { continuation.resume(with: Result { try body() }) }
        } catch {
            continuation.resume(throwing: SpaceError(error, subject: "a thread of the daemon"))
        }
    }
}

/// Waits on this thread, which ``onThread(_:)`` has started, for what a task does.
package func waiting<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
    let answer = BlockingAnswer<R>()
    Task {
        do { answer.give(.success(try await body())) } catch { answer.give(.failure(error)) }
    }
    return try answer.wait().get()
}

/// A result that one thread waits for.
private final class BlockingAnswer<R: Sendable>: Sendable {
    private let result = Mutex<Result<R, any Error>?>(nil)
    /// The memory of a pthread mutex and condition, which must not move.
    ///
    /// `nonisolated(unsafe)`: the pointers are set once, and the functions of pthread(7) synchronize what they point to.
    private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private nonisolated(unsafe) let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

    init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func give(_ result: Result<R, any Error>) {
        self.result.withLock { $0 = result }
        pthread_mutex_lock(mutex)
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    func wait() -> Result<R, any Error> {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = result.withLock({ $0 }) { return result }
            pthread_cond_wait(condition, mutex)
        }
    }
}
