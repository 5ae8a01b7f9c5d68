import LMDB
import SpaceSystem
package import Synchronization
import TupleCoding

/// The observations of this process in one namespace: one reader of the journal for all of them.
///
/// Guarantees: each observer is told of every change later than its registration, once, in order, or of a gap; one call of it at
/// a time. A change is read and decoded once for all whom it concerns. Nothing is queued: an observer either *follows*, and
/// stands where the hub stands, or is *running*, with a batch of changes and a position of its own. What comes meanwhile it
/// reads from the journal itself when its handler has returned, if the hub has seen that it concerns it, and follows again. So a
/// handler that is slow, or never returns, costs one batch of memory and nobody's time; behind the journal's bound it gets a gap.
/// One that is to be told first what is there begins running, and reads a slice of it at a time, as it was at the registration.
///
/// Everything that can go wrong on the way (no reader to be had, a stopped holder of the gate) leaves the positions as they
/// are, and is tried again at the next tick.
///
/// No lock is held while a handler runs, or anything that a user gave is released.
package final class ObservationHub: NamespacePart {
    package let state = Mutex(State())
    /// Held while the journal is read: one of LMDB's readers serves all observers, and is there still when the namespace has
    /// been deleted and no other can be had.
    package let reading = Mutex<Void>(())
    /// How often a filter was asked about a change.
    private let evaluations = Atomic<Int>(0)

    package struct State {
        var entries: [UInt64: Entry] = [:]
        var index = ObserverIndex()
        /// The last change that the hub has read.
        var position: UInt64 = 0
        /// LMDB's last transaction at the last look.
        var transaction = -1
        var isReading = false
        var mustReadAgain = false
        /// Entered while the hub was reading, so that what it read then may have been for them.
        var newcomers: [UInt64] = []
        /// Running ones that could not read on.
        var stalled: [UInt64] = []
        /// The namespace's end has been read.
        var isGone = false
        /// Then: the namespace's last change, of which the hub may have read less.
        var last: UInt64 = 0
    }

    /// How far an observer is; reached through the hub's state alone.
    ///
    /// An object, so that a change is given to one without copying the rest.
    package final class Entry {
        let observer: Observer
        /// The last change that it has been given, or must not be given; while it follows, the hub's position may be later.
        var position: UInt64
        /// The last change that it is to be given and, because it was running, has not been.
        var owed: UInt64 = 0
        /// What is still to be told of what was there when it registered.
        var present: PresentState?
        var isRunning = false
        /// What it is about to be started with.
        var batch = Observer.Batch()

        init(observer: Observer, position: UInt64, present: PresentState?) {
            self.observer = observer
            self.position = position
            self.present = present
        }
    }

    package init() {}

    var filterEvaluations: Int { evaluations.load(ordering: .relaxed) }

    func noteEvaluations(_ count: Int) { evaluations.add(count, ordering: .relaxed) }

    /// Those there are, in the order in which they were made.
    package var all: [Observer] { state.withLock { $0.entries.values.map(\.observer) }.sorted { $0.id < $1.id } }

    // MARK: Coming and going

    /// Registers an observer, which is told of what is later than its registration.
    ///
    /// `afterRegistering`: Called before the observer is told of anything; if it throws, the registration ends.
    package func add(
        _ request: ObservationRequest,
        handle: Namespace,
        afterRegistering: () throws(SpaceError) -> Void = { () throws(SpaceError) in }
    ) throws(SpaceError) -> Observer {
        let core = handle.core
        let isFirst = state.withLock { $0.entries.isEmpty }
        // Before the registration: what is written from then on rings.
        EventLoop.shared.begin(core)
        let registration: NamespaceCore.Registration
        do throws(SpaceError) {
            registration = try core.registerWatcher(request.filter, start: .now, subscription: "")
        } catch {
            EventLoop.shared.end(core)
            throw error
        }
        do throws(SpaceError) {
            try afterRegistering()
        } catch {
            EventLoop.shared.end(core)
            remove([registration.number], core)
            throw error
        }
        let observer = Observer(row: registration.number, handle: handle, request)
        let position = registration.present
        let present = request.options.contains(.initial) ? PresentState(registration, request.filter) : nil
        let mustRun = state.withLock { state in
            if state.entries.isEmpty, !state.isReading {
                state.position = position
                state.transaction = -1
            }
            let entry = Entry(observer: observer, position: position, present: present)
            // What it would have to be told of has been read already, without it.
            if state.position > position { entry.owed = state.position }
            entry.isRunning = present != nil || entry.owed > 0
            state.entries[observer.id] = entry
            state.index.insert(observer)
            if state.isReading { state.newcomers.append(observer.id) }
            return entry.isRunning
        }
        if mustRun, let first = next(observer, core) { start(observer, first, core, isCrew: false) }
        core.engine.awaitSignal()
        // What was written since the registration may have rung before there was somebody to look; and left, or deleted, in
        // between, nobody else looks.
        if core.control.sequence.load() > position || !core.isUsable {
            EventLoop.shared.crew.submit { self.hear(core) }
        }
        // The ticks do it from now on.
        if isFirst { core.dropWatchersOfTheDead() }
        return observer
    }

    /// Ends an observation: no call begins after this returns, but one that has begun, on another thread, may still run.
    ///
    /// May be called anywhere, in the handler too.
    package func end(_ observer: Observer, of core: NamespaceCore) {
        if observer.end() { forget([observer], core) }
    }

    /// Ends the observations that a condition holds for.
    package func end(_ core: NamespaceCore, where condition: (Observer) -> Bool) {
        forget(all.filter { condition($0) && $0.end() }, core)
    }

    package func end(handle: ObjectIdentifier, of core: NamespaceCore) { end(core) { $0.handle == handle } }

    /// Ends them all, without a word: the process leaves, and takes its rows along.
    package func endAll(of core: NamespaceCore) {
        let ended = all.filter { $0.end() }
        take(ended)
        if !ended.isEmpty { EventLoop.shared.end(core, users: ended.count) }
    }

    private func forget(_ observers: [Observer], _ core: NamespaceCore) {
        guard !observers.isEmpty else { return }
        take(observers)
        EventLoop.shared.end(core, users: observers.count)
        remove(observers.map(\.row), core)
    }

    /// Removes registrations, now or as soon as it can be.
    private func remove(_ rows: [UInt64], _ core: NamespaceCore) {
        // Without waiting for the gate: this may be a deinit, or a handler on the thread that listens for all.
        core.letGo(patience: NamespaceCore.upkeepPatience) { core, patience throws(SpaceError) in
            try core.removeWatchers(rows, timeout: patience)
        }
    }

    private func take(_ observers: [Observer]) {
        // Returned, so that they are released outside the lock.
        _ = state.withLock { state in
            observers.map { observer in
                state.index.remove(observer)
                return state.entries.removeValue(forKey: observer.id)
            }
        }
    }
}

extension NamespaceCore {
    /// The observations of this process.
    package var observations: ObservationHub { parts[ObservationHub.self] }

    /// Removes registrations of this process, all in one transaction.
    func removeWatchers(_ numbers: [UInt64], timeout: Duration?) throws(SpaceError) {
        try write(
            "stop observing",
            .removing(numbers.count, bytes: 1024 * numbers.count),
            timeout: timeout
        ) { (scope) throws(SpaceError) in
            for number in numbers { try scope.remove(watcher: number) }
        }
    }
}
