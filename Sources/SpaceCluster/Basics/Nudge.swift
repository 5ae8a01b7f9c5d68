package import SpaceSystem
import Synchronization

/// A word to tasks that something has changed; a task that looks, and then waits, misses nothing.
package final class Nudge: Sendable {
    private struct State {
        var count: UInt64 = 0
        var waits = LimitedWaits<CheckedContinuation<Void, Never>>()
    }

    private let state = Mutex(State())

    package init() {}

    /// How often ``nudge()`` was called: a task reads it before it looks.
    package var count: UInt64 { state.withLock { $0.count } }

    package func nudge() {
        let woken = state.withLock { state in
            state.count += 1
            return state.waits.removeAll()
        }
        for wait in woken { wait.resume() }
    }

    /// Waits until there was a nudge after a count, the moment has come, or the task is cancelled.
    package func wait(after seen: UInt64, until moment: MonotonicInstant? = nil) async {
        let number = state.withLock { $0.waits.newNumber() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, timer) = state.withLock { state in
                    let isOver = state.count != seen || Task.isCancelled || moment?.hasPassed ?? false
                    return (isOver, isOver ? nil : state.waits.add(continuation, number, until: moment))
                }
                if isOver { continuation.resume() }
                if let timer { start(timer) }
            }
        } onCancel: {
            state.withLock { $0.waits.remove(number) }?.resume()
        }
    }

    private func start(_ timer: MonotonicInstant) {
        TaskHome.daemon.start { [weak self] in
            await timer.sleep()
            guard let self else { return }
            let (over, next) = state.withLock { $0.waits.ring(timer) }
            for wait in over { wait.resume() }
            if let next { start(next) }
        }
    }
}
