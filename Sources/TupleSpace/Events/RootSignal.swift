import SpaceSystem
import Synchronization

/// A word that rises when there may be news, for one watcher of a root folder.
///
/// Unchecked: the word's address never changes, and the word is accessed only by atomic operations.
package final class RootSignal: @unchecked Sendable {
    private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
    private let tasks = Mutex<[UInt64: CheckedContinuation<Void, Never>]>([:])
    private let nextTask = Atomic<UInt64>(0)

    init() { word.initialize(to: 0) }
    deinit { word.deallocate() }

    /// The number of signals so far.
    package var count: UInt32 { SharedWord32(at: word).load() }

    func ring() {
        let tasks = tasks.withLock { tasks in
            // Changed under the lock under which a task looks before it waits.
            SharedWord32(at: word).storeSequential(SharedWord32(at: word).load() &+ 1)
            defer { tasks = [:] }
            return tasks
        }
        _ = Futex(at: word).wake()
        for task in tasks.values { task.resume() }
    }

    /// Suspends the task until the count has risen, or the task is cancelled.
    package func wait(since count: UInt32) async {
        let id = nextTask.add(1, ordering: .relaxed).newValue
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = tasks.withLock { tasks in
                    guard self.count == count, !Task.isCancelled else { return false }
                    tasks[id] = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            tasks.withLock { $0.removeValue(forKey: id) }?.resume()
        }
    }

    /// Blocks the thread until the count has risen, a system signal has arrived, or the time is over.
    package func block(since count: UInt32, atMost limit: Duration) {
        _ = try? Futex(at: word).wait(while: count, for: limit)
    }
}
