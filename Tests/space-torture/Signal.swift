import Glibc
import Synchronization

/// Lets a thread wait for a task.
final class Signal: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { sem_init(semaphore, 0, 0) }
    deinit { semaphore.deallocate() }
    func signal() { sem_post(semaphore) }
    func wait() { while sem_wait(semaphore) != 0 {} }
}

/// Runs a task, and blocks until it has ended.
func runTask<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
    let outcome = TaskOutcome<R>()
    Task.detached {
        do { outcome.end(.success(try await body())) } catch { outcome.end(.failure(error)) }
    }
    return try outcome.wait()
}

private final class TaskOutcome<R: Sendable>: Sendable {
    private let result = Mutex<Result<R, any Error>?>(nil)
    private let done = Signal()

    func end(_ result: Result<R, any Error>) {
        self.result.withLock { $0 = result }
        done.signal()
    }

    func wait() throws -> R {
        done.wait()
        guard let result = result.withLock({ $0 }) else { throw UsageError(text: "a task has no result") }
        return try result.get()
    }
}
