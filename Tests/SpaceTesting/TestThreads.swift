import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// The threads on which tests run that block.
///
/// Tasks usually share as many threads as there are processors. A test that waits for another process keeps its thread
/// meanwhile, so two such tests on two processors would keep all others from running while both processors are idle.
/// Here are more threads than the tests that run together need. What the library itself starts as a task still runs on
/// the usual threads.
final class TestThreads: TaskExecutor {
    static let shared = TestThreads(32)

    private let jobs = Mutex<[UnownedJob]>([])
    /// The number of jobs that no thread has begun with.
    ///
    /// sem_overview(7): any thread may wait for it and raise it. It is never freed, and neither is this object.
    nonisolated(unsafe) private let count = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    private init(_ threads: Int) {
        precondition(sem_init(count, 0, 0) == 0, "sem_init: errno \(errno)")
        for _ in 0..<threads {
            do throws(Errno) {
                try DetachedThread.start { [self] in while true { runNext() } }
            } catch {
                preconditionFailure("the tests' threads can't be started: \(error)")
            }
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        sem_post(count)
    }

    private func runNext() {
        // sem_wait(3): a signal ends the wait early.
        while sem_wait(count) != 0 {}
        let job = jobs.withLock { $0.removeFirst() }
        job.runSynchronously(on: asUnownedTaskExecutor())
    }
}
