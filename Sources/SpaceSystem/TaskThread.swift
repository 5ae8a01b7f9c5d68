import Synchronization
package import SystemPackage

/// A thread that runs tasks, one step at a time.
///
/// It is for a program whose tasks are many and short and hand over to each other all the time. On the shared pool each
/// hand-over wakes another thread, which costs more than the step itself; here only work from other threads wakes, and only
/// a thread that sleeps. A step that waits for a lock or a disk makes all tasks wait.
package final class TaskThread: TaskExecutor {
    private struct State {
        var steps: [UnownedJob] = []
        var isAsleep = false
    }

    private let state = Mutex(State())
    /// Changes with each wake-up.
    private let word = FutexWord()

    /// Starts the thread, which never ends.
    ///
    /// - Throws: `EAGAIN` if no thread can be created (pthread_create(3)).
    package init() throws(Errno) { try DetachedThread.start { self.run() } }

    package func enqueue(_ job: consuming ExecutorJob) {
        let step = UnownedJob(job)
        let wakes = state.withLock { state in
            state.steps.append(step)
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        guard wakes else { return }
        word.value.add(1)
        word.futex.wake()
    }

    private func run() {
        var steps: [UnownedJob] = []
        while true {
            let heard = word.value.load()
            let isIdle = state.withLock { state in
                swap(&steps, &state.steps)
                state.isAsleep = steps.isEmpty
                return steps.isEmpty
            }
            if isIdle { _ = try? word.futex.wait(while: heard, for: nil) }
            for step in steps { step.runSynchronously(on: asUnownedTaskExecutor()) }
            steps.removeAll(keepingCapacity: true)
        }
    }
}

/// Where a program's tasks run: on one thread, or on the shared pool if no thread could be started for them.
package struct TaskHome: Sendable {
    package let thread: TaskThread?

    package init() { thread = try? TaskThread() }

    /// Starts a task that no other waits for by its structure.
    @discardableResult
    package func start<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> Task<R, Never> {
        Task(executorPreference: thread) { await body() }
    }
}

extension MonotonicInstant {
    /// Suspends the task until this moment; a cancellation does not end the sleep.
    package func sleep() async {
        while !hasPassed { try? await Task.sleep(for: remaining) }
    }
}
