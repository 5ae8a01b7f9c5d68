package import SpaceSystem
import Synchronization

/// A word to tasks that something has changed; a task that looks, and then waits, misses nothing.
///
/// Waits that have a limit share timers: one that ends early leaves its timer to the others, since most waits end early,
/// and a timer of its own would cost each of them more than the wait.
package final class Nudge: Sendable {
    private struct Wait {
        let continuation: CheckedContinuation<Void, Never>
        let limit: MonotonicInstant?
    }

    private struct State {
        var count: UInt64 = 0
        var waits: [UInt64: Wait] = [:]
        var next: UInt64 = 0
        /// The moments at which a timer rings.
        var timers: Set<MonotonicInstant> = []
    }

    private let state = Mutex(State())

    package init() {}

    /// How often ``nudge()`` was called: a task reads it before it looks.
    package var count: UInt64 { state.withLock { $0.count } }

    package func nudge() {
        let woken = state.withLock { state in
            state.count += 1
            defer { state.waits = [:] }
            return state.waits
        }
        for wait in woken.values { wait.continuation.resume() }
    }

    /// Waits until there was a nudge after a count, the moment has come, or the task is cancelled.
    package func wait(after seen: UInt64, until moment: MonotonicInstant? = nil) async {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    let isOver = state.count != seen || Task.isCancelled || moment?.hasPassed ?? false
                    if !isOver {
                        state.waits[number] = Wait(continuation: continuation, limit: moment)
                        setTimer(&state)
                    }
                    return isOver
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waits.removeValue(forKey: number) }?.continuation.resume()
        }
    }

    /// Makes sure that a timer rings when the first wait's limit comes.
    private func setTimer(_ state: inout State) {
        guard let first = state.waits.values.lazy.compactMap(\.limit).min() else { return }
        if let set = state.timers.min(), set <= first { return }
        state.timers.insert(first)
        TaskHome.daemon.start { [weak self] in
            while !first.hasPassed { try? await Task.sleep(for: first.remaining) }
            self?.ring(first)
        }
    }

    private func ring(_ timer: MonotonicInstant) {
        let over = state.withLock { state in
            state.timers.remove(timer)
            let over = state.waits.filter { $0.value.limit?.hasPassed ?? false }
            for number in over.keys { state.waits[number] = nil }
            setTimer(&state)
            return over
        }
        for wait in over.values { wait.continuation.resume() }
    }
}
