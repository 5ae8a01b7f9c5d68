import CSpaceShims

/// The task that runs now or, outside of tasks, the thread.
///
/// The number of a task is given out once in a process, unlike the address of a task, which a later task may have. The
/// kernel may give out a thread's number again, but only after all others.
package enum RunningTask: Hashable, Sendable {
    case task(UInt64)
    case thread(Int32)

    /// The task or thread that calls.
    package static var current: RunningTask {
        withUnsafeCurrentTask { task in
            // An `UnsafeCurrentTask` is the address of its task, and nothing else.
            task.map { .task(number(of: unsafeBitCast($0, to: UnsafeRawPointer.self))) }
        } ?? .thread(space_thread_id())
    }
}

/// The number of a task, as the runtime's library gives it to debuggers and to `ExecutorJob.description`.
@_silgen_name("swift_task_getJobTaskId")
private func number(of task: UnsafeRawPointer) -> UInt64
