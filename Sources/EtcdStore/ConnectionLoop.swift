import NIOCore
import NIOPosix

/// The thread that reads and writes all connections to etcd, and runs all their tasks.
///
/// The transport's tasks and its event loop hand over to each other several times in each call. On two threads each
/// hand-over wakes the other one, a dozen times in each call; on one thread they are entries of its queue. A task that waited
/// for a disk, or for a lock that is held for long, would make all others wait.
final class ConnectionLoop: TaskExecutor {
    static let shared = ConnectionLoop()

    let loop: any EventLoop

    /// Starts the thread, which stays for good.
    private init() { loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next() }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }

    /// Starts a task that no other waits for by its structure.
    @discardableResult
    static func start<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> Task<R, Never> {
        Task(executorPreference: shared) { await body() }
    }
}
