import SpaceSystem
import Synchronization

/// Waiting until the handlers of this process have returned from every change before a call.
///
/// An observer has settled up to a change when it follows and the hub has read that change, or when it is running and
/// its handler has returned from everything up to it (`ObservationHub.Entry.handled`). Each event that can settle an
/// observer looks through those that wait: the hub has read, a batch is done, an observer has ended.
extension ObservationHub {
    /// A task that waits.
    struct Settling {
        /// The last change that the handlers must be told of.
        let target: UInt64
        /// The observers that may not have been told of it.
        var observers: Set<UInt64>
        let continuation: CheckedContinuation<Void, Never>
    }

    /// The observation whose handler the present task runs.
    @TaskLocal package static var running: UInt64?

    /// Waits until every observer that exists now was told of everything up to a change; ends early when the task is cancelled.
    package func settle(_ target: UInt64, in core: NamespaceCore) async {
        let id = state.withLock { state in
            state.lastSettling += 1
            return state.lastSettling
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    let observers = Set(state.entries.keys.filter { !state.hasSettled($0, target) })
                    // Looked at under the lock, which the cancellation takes too.
                    guard !observers.isEmpty, !Task.isCancelled else { return false }
                    state.settling[id] = Settling(target: target, observers: observers, continuation: continuation)
                    return true
                }
                guard isWaiting else { return continuation.resume() }
                // The signal may be under way, or not needed yet.
                EventLoop.shared.handlers.submit { self.hear(core) }
            }
        } onCancel: {
            state.withLock { $0.settling.removeValue(forKey: id) }?.continuation.resume()
        }
    }

    /// Resumes the tasks that wait for nothing any more.
    func resumeSettled() {
        let settled = state.withLock { state -> [Settling] in
            guard !state.settling.isEmpty else { return [] }
            var settled: [Settling] = []
            for (id, settling) in state.settling {
                let observers = settling.observers.filter { !state.hasSettled($0, settling.target) }
                state.settling[id]?.observers = observers
                if observers.isEmpty, let done = state.settling.removeValue(forKey: id) { settled.append(done) }
            }
            return settled
        }
        for settling in settled { settling.continuation.resume() }
    }
}

extension ObservationHub.State {
    fileprivate func hasSettled(_ id: UInt64, _ target: UInt64) -> Bool {
        guard let entry = entries[id] else { return true }
        return entry.isRunning
            ? entry.present == nil && entry.handled >= target
            : max(entry.position, position) >= target
    }
}

extension Namespace {
    /// Waits until the handlers of this process have returned from every change before this call.
    ///
    /// ```swift
    /// try jobs.set("progress", 0.5)
    /// try await jobs.settled()        // every observer of this process has been told of it
    /// ```
    ///
    /// `set`, `write` and `post` return as soon as the change is committed, before observers run. The call waits for
    /// the observations that exist at that moment, made with any handle. It does not wait for other processes, for
    /// sequences of changes, or for tasks that handlers have begun. If a handler never returns, the call waits until
    /// the task is cancelled.
    ///
    /// - Throws: `cancelled`; `invalidArgument` in a handler, which would wait for itself; `namespaceDeleted`, `closed`,
    ///   `readersExhausted`.
    public func settled() async throws(SpaceError) {
        try await attempt(suspending: "wait for the observers") { (core) async throws(SpaceError) in
            if ObservationHub.running != nil {
                throw .misuse(
                    "a handler of an observation waits until all handlers have returned, itself among them",
                    advice: "wait outside of the handler, or in a detached task"
                )
            }
            let last = try core.read { (snapshot) throws(SpaceError) in try snapshot.counters().sequence }
            await core.observations.settle(last, in: core)
            if Task.isCancelled { throw .cancelled }
        }
    }
}
