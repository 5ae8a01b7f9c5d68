import SpaceSystem
import Synchronization

/// The threads and tasks of this process that sleep until something happens in a namespace or in a root folder.
///
/// A thread that waits in a slot is not in the table: it sleeps on the slot's wake word, where any process wakes it.
///
/// Guarantees: each sleeper is woken exactly once: by `wake`, at its deadline, or by its cancellation, whichever comes
/// first. A sleeper enters the table first and looks once more afterwards, so nothing that happens between its look
/// and its sleep is missed.
final class SleeperTable: Sendable {
    /// What a sleeper waits for.
    enum Cause: Sendable {
        /// News of a namespace whose last transaction was this one at the sleeper's look.
        case signal(transaction: Int)
        /// A wake word that had this value at the sleeper's look, when this was the namespace's last transaction.
        case wakeWord(WakeWord, heard: UInt32, transaction: Int)
        /// A change in a root folder.
        case root
    }

    private struct Sleeper {
        let cause: Cause
        let deadline: MonotonicInstant?
        let wake: @Sendable () -> Void
    }

    private struct State {
        /// The sleepers by what they sleep at: a namespace or a root's signal.
        var places: [ObjectIdentifier: [UInt64: Sleeper]] = [:]
        var next: UInt64 = 1
        /// No sleeper's deadline is earlier.
        var firstDeadline: MonotonicInstant?

        /// Removes and returns the sleepers of a place that fulfil a condition.
        mutating func take(_ place: ObjectIdentifier, where isDue: (Sleeper) -> Bool) -> [Sleeper] {
            guard let sleepers = places[place], !sleepers.isEmpty else { return [] }
            var due: [Sleeper] = []
            for (id, sleeper) in sleepers where isDue(sleeper) {
                due.append(sleeper)
                places[place]?[id] = nil
            }
            return due
        }
    }

    private let state = Mutex(State())

    // MARK: Sleeping

    /// Suspends the task until it is woken or cancelled, or the deadline has passed.
    ///
    /// - Parameters:
    ///   - place: What it sleeps at.
    ///   - cause: What it waits for.
    ///   - deadline: The deadline, or `nil` to wait indefinitely.
    ///   - mayStay: Called when the sleeper is in the table; whether it still has to sleep. `isFirst` says that no other
    ///     deadline is as early.
    func suspend(
        at place: ObjectIdentifier,
        for cause: Cause,
        until deadline: MonotonicInstant?,
        _ mayStay: (_ isFirst: Bool) -> Bool
    ) async {
        let id = newID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFirst = enter(id, place, Sleeper(cause: cause, deadline: deadline) { continuation.resume() })
                // If the task was cancelled before the sleeper was entered, the cancellation handler found none.
                if !mayStay(isFirst) || Task.isCancelled { wake(id, at: place) }
            }
        } onCancel: {
            wake(id, at: place)
        }
    }

    /// Blocks the thread until it is woken, the deadline has passed, or the interruption comes.
    ///
    /// - Parameters:
    ///   - place: What it sleeps at.
    ///   - cause: What it waits for.
    ///   - deadline: The deadline, or `nil` to wait indefinitely.
    ///   - interruption: Ends the sleep.
    ///   - mayStay: Called when the sleeper is in the table; whether it still has to sleep.
    ///   - limit: Called before each sleep; the moment at which the thread looks after the sleepers itself, or `nil` if
    ///     another thread does.
    ///   - look: Looks after the sleepers.
    func block(
        at place: ObjectIdentifier,
        for cause: Cause,
        until deadline: MonotonicInstant?,
        interruption: Interruption?,
        mayStay: () -> Bool,
        limit: () -> MonotonicInstant?,
        look: () -> Void
    ) {
        let word = FutexWord()
        let id = newID()
        _ = enter(
            id,
            place,
            Sleeper(cause: cause, deadline: nil) {
                word.value.storeSequential(1)
                word.futex.wake()
            }
        )
        // In a child that a signal handler of this thread has made, the table is the parent's, and its lock may be held.
        defer { if !LibraryUse.isInherited { forget(id, at: place) } }
        guard mayStay() else { return }
        while word.value.load() == 0, !(interruption?.isTriggered ?? false), !(deadline?.hasPassed ?? false) {
            let limit = limit()
            let end = min(
                deadline ?? .distantFuture,
                limit ?? .distantFuture,
                interruption?.sleepLimit ?? .distantFuture
            )
            _ = try? word.futex.wait(while: 0, until: end)
            if LibraryUse.isInherited { return }
            if limit?.hasPassed ?? false { look() }
        }
    }

    private func newID() -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    /// Enters a sleeper; returns whether its deadline is the first.
    private func enter(_ id: UInt64, _ place: ObjectIdentifier, _ sleeper: Sleeper) -> Bool {
        state.withLock { state in
            state.places[place, default: [:]][id] = sleeper
            guard let deadline = sleeper.deadline, deadline < state.firstDeadline ?? .distantFuture else {
                return false
            }
            state.firstDeadline = deadline
            return true
        }
    }

    private func forget(_ id: UInt64, at place: ObjectIdentifier) {
        state.withLock { _ = $0.places[place]?.removeValue(forKey: id) }
    }

    // MARK: Waking

    private func wake(_ id: UInt64, at place: ObjectIdentifier) {
        state.withLock { $0.places[place]?.removeValue(forKey: id) }?.wake()
    }

    /// Wakes all sleepers of a place.
    func wake(at place: ObjectIdentifier) { wake(at: place) { _ in true } }

    /// Wakes the sleepers of a place whose cause fulfils a condition.
    func wake(at place: ObjectIdentifier, where isDue: (Cause) -> Bool) {
        for sleeper in state.withLock({ $0.take(place) { isDue($0.cause) } }) { sleeper.wake() }
    }

    /// Wakes the sleepers whose words were raised.
    func wakeRung() {
        let due = state.withLock { state in
            state.places.keys.flatMap { place in
                state.take(place) {
                    if case .wakeWord(let wakeWord, let heard, _) = $0.cause {
                        wakeWord.isRaised(since: heard)
                    } else {
                        false
                    }
                }
            }
        }
        for sleeper in due { sleeper.wake() }
    }

    /// Wakes the sleepers whose deadline has passed.
    func wakeLate(_ now: MonotonicInstant) {
        let due: [Sleeper] = state.withLock { state in
            guard let first = state.firstDeadline, first <= now else { return [] }
            let due = state.places.keys.flatMap { place in
                state.take(place) { $0.deadline.map { $0 <= now } ?? false }
            }
            state.firstDeadline = state.places.values.lazy.flatMap(\.values).compactMap(\.deadline).min()
            return due
        }
        for sleeper in due { sleeper.wake() }
    }

    /// The moment before which no sleeper's deadline passes.
    var firstDeadline: MonotonicInstant? { state.withLock { $0.firstDeadline } }

    /// Forgets a place at which nothing sleeps any more.
    func forget(_ place: ObjectIdentifier) {
        state.withLock { if $0.places[place]?.isEmpty ?? false { $0.places[place] = nil } }
    }
}
