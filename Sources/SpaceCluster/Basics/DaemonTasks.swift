import SpaceSystem

/// The daemon's tasks, all of which run on one thread.
enum DaemonTasks {
    static let thread = TaskThread()

    /// Starts a task that no other waits for by its structure.
    @discardableResult
    static func start<R: Sendable>(_ body: @escaping @Sendable () async -> R) -> Task<R, Never> {
        Task(executorPreference: thread) { await body() }
    }
}
