package import SpaceSystem
import Synchronization

/// A word to tasks that something has changed; a task that looks, and then waits, misses nothing.
package final class Nudge: Sendable {
    private struct State {
        var count: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Void, Never>] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// How often ``nudge()`` was called: a task reads it before it looks.
    package var count: UInt64 { state.withLock { $0.count } }

    package func nudge() {
        let woken = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in woken.values { continuation.resume() }
    }

    /// Waits until there was a nudge after a count, the moment has come, or the task is cancelled.
    package func wait(after seen: UInt64, until moment: MonotonicInstant? = nil) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let timer = moment.map { moment in
            Task {
                while !moment.hasPassed, !Task.isCancelled { try? await Task.sleep(for: moment.remaining) }
                self.wake(number)
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let isOver = state.count != seen || Task.isCancelled || moment?.hasPassed ?? false
                    if !isOver { state.waiting[number] = continuation }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            wake(number)
        }
        timer?.cancel()
    }

    private func wake(_ number: UInt64) {
        state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
    }
}
