package import SpaceSystem
import Synchronization
import SystemPackage
import TupleCoding

/// The waiting tasks of this process for one root, and the thread that resumes them.
///
/// The thread sleeps on the process's wake-up word, and resumes each task whose bell, the word that it waits on, has
/// changed.
///
/// Guarantees: a task is resumed exactly once for each sleep, by its bell, its deadline, its cancellation or a tick,
/// whichever comes first. If the process has no wake-up word (the table or the disk is full), only the tick resumes
/// its tasks: slower, but never stuck.
///
/// Unchecked Sendable only because of `localWord`, whose address never changes and which is accessed by atomic
/// operations.
package final class TaskWakeups: @unchecked Sendable {
    private static let rooms = Mutex<[Name: TaskWakeups]>([:])

    /// The object for a root; the first wait makes it and starts its thread.
    package static func of(_ root: SpaceRoot) -> TaskWakeups {
        rooms.withLock { rooms in
            // After a fork this process does not have the thread.
            if let room = rooms[Name(root.path)], room.forkGeneration == ForkGuard.generation,
                room.file?.isLinked ?? true
            {
                return room
            }
            let room = TaskWakeups(root)
            rooms[Name(root.path)] = room
            return room
        }
    }

    /// The index of the process's wake-up word, if it got one.
    let doorbell: UInt32?

    private let file: TaskWakeupFile?
    /// Takes the place of the wake-up word if there is none.
    private let localWord: UnsafeMutablePointer<UInt32>
    private let state = Mutex(State())
    private let forkGeneration = ForkGuard.generation

    private struct State {
        var sleepers: [UInt64: Sleeper] = [:]
        var next: UInt64 = 1
        /// The namespaces that need ticks even without waiters: those with owner objects, whose end only a tick
        /// notices, and those with deferred releases.
        var watched: [ObjectIdentifier: Watched] = [:]
        var hasThread = false

        struct Watched { weak var core: (any ListeningNamespace)? }
    }

    private struct Sleeper {
        let core: any ListeningNamespace
        let bell: SharedWord32
        let heard: UInt32
        let transaction: Int
        let deadline: MonotonicInstant?
        let continuation: CheckedContinuation<Void, Never>
    }

    private init(_ root: SpaceRoot) {
        let file = try? root.makeWakeupFile()
        doorbell = (try? file?.acquire()) ?? nil
        self.file = doorbell == nil ? nil : file
        localWord = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        localWord.initialize(to: 0)
    }

    private var word: SharedWord32 {
        if let doorbell, let file { return file.word(doorbell) }
        return SharedWord32(at: localWord)
    }

    private func wakeThread() {
        if let doorbell, let file { return file.ring(doorbell) }
        word.add(1)
        _ = Futex(at: word.address).wake()
    }

    /// Suspends the task until the bell has moved, the deadline has passed, the task is cancelled, or a tick finds a
    /// change.
    ///
    /// - Parameters:
    ///   - bell: The word that moves when there may be news.
    ///   - heard: The bell's value at the last look.
    ///   - transaction: LMDB's last transaction at the last look.
    ///   - core: The namespace in which the task waits.
    ///   - deadline: The deadline, or `nil` to wait indefinitely.
    package func sleep(
        on bell: SharedWord32,
        heard: UInt32,
        transaction: Int,
        in core: any ListeningNamespace,
        until deadline: MonotonicInstant?
    ) async {
        let id = state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let sleeper = Sleeper(
                    core: core,
                    bell: bell,
                    heard: heard,
                    transaction: transaction,
                    deadline: deadline,
                    continuation: continuation
                )
                let mustStart = state.withLock { state in
                    state.sleepers[id] = sleeper
                    defer { state.hasThread = true }
                    return !state.hasThread
                }
                if mustStart { startThread() } else { wakeThread() }
                // If the task was cancelled before the sleeper was entered, the cancellation handler found no
                // sleeper.
                if Task.isCancelled { resume(id) }
            }
        } onCancel: {
            resume(id)
        }
    }

    private func resume(_ id: UInt64) {
        state.withLock { $0.sleepers.removeValue(forKey: id) }?.continuation.resume()
    }

    /// Ticks for a namespace as long as it needs ticks.
    package func watch(_ core: any ListeningNamespace) {
        let (mustStart, isNew) = state.withLock { state in
            let isNew = state.watched.updateValue(State.Watched(core: core), forKey: ObjectIdentifier(core)) == nil
            defer { state.hasThread = true }
            return (!state.hasThread, isNew)
        }
        // While it watches a namespace, the thread sleeps no longer than a tick.
        if mustStart { startThread() } else if isNew { wakeThread() }
    }

    // MARK: The thread

    private func startThread() {
        do throws(Errno) {
            try DetachedThread.start { self.run() }
        } catch {
            // Without a thread, all tasks look again at once, which is slow but correct.
            let sleepers = state.withLock { state in
                state.hasThread = false
                defer { state.sleepers = [:] }
                return Array(state.sleepers.values)
            }
            for sleeper in sleepers { sleeper.continuation.resume() }
        }
    }

    private func run() {
        var nextTick = MonotonicInstant.now.advanced(by: Ticking.interval)
        while true {
            let heard = word.loadSequential()
            let now = MonotonicInstant.now
            let isTick = now >= nextTick
            if isTick { nextTick = now.advanced(by: Ticking.interval) }
            let limit = turn(now: now, isTick: isTick, nextTick: nextTick)
            setSleeping(true)
            _ = try? Futex(at: word.address).wait(while: heard, for: limit)
            setSleeping(false)
        }
    }

    private func setSleeping(_ isSleeping: Bool) {
        if let doorbell, let file { file.isSleeping(doorbell).storeSequential(isSleeping ? 1 : 0) }
    }

    /// Resumes the tasks that are due.
    ///
    /// - Returns: The time until the next work; `nil` to sleep until a wake-up.
    private func turn(now: MonotonicInstant, isTick: Bool, nextTick: MonotonicInstant) -> Duration? {
        if isTick {
            let cores = state.withLock { state in
                state.watched = state.watched.filter { $0.value.core?.needsTicks ?? false }
                // A namespace is ticked once, however many tasks wait in it.
                var cores: [ObjectIdentifier: any ListeningNamespace] = [:]
                for sleeper in state.sleepers.values { cores[ObjectIdentifier(sleeper.core)] = sleeper.core }
                for core in state.watched.values.compactMap(\.core) { cores[ObjectIdentifier(core)] = core }
                return Array(cores.values)
            }
            for core in cores {
                core.tick()
                core.forgetDeadOwners()
            }
        }
        var due: [CheckedContinuation<Void, Never>] = []
        let limit: Duration? = state.withLock { state in
            var end = nextTick
            for (id, sleeper) in state.sleepers {
                let isDue =
                    sleeper.bell.load() != sleeper.heard || sleeper.deadline.map { $0 <= now } ?? false
                    || (isTick
                        && (sleeper.core.engine.lastCommit != sleeper.transaction
                            || !sleeper.core.engine.isUsable))
                if isDue {
                    due.append(sleeper.continuation)
                    state.sleepers[id] = nil
                } else if let deadline = sleeper.deadline {
                    end = min(end, deadline)
                }
            }
            if state.sleepers.isEmpty, state.watched.isEmpty { return nil }
            return end.duration(since: now)
        }
        for continuation in due { continuation.resume() }
        return limit
    }
}
