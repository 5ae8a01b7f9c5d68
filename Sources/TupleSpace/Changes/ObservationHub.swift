import SpaceSystem
package import Synchronization

/// The observations of this process in one namespace, with one reader of the journal for all of them.
///
/// Guarantees: each observer receives every change after its registration, once and in order, or a gap; its handler
/// runs one call at a time. A change is read and decoded once for all observers that it concerns.
///
/// Nothing is queued. An observer either *follows*, and then its position is the hub's, or it is *running*, with a
/// batch of changes and a position of its own. If the hub reads a change that concerns a running observer, the
/// observer reads it from the journal itself once its handler has returned, and then follows again. So a handler that
/// is slow, or never returns, costs one batch of memory and delays no other observer; if it falls behind the
/// journal's bound, it gets a gap. An observer with the option `initial` begins running, and reads the contents of
/// the moment of its registration slice by slice.
///
/// If a step fails (no reader is free, or the holder of the gate is stopped), the positions stay as they are, and the
/// next tick tries again.
///
/// No lock is held while a handler runs, or while an object that the user supplied is released.
package final class ObservationHub: NamespacePart {
    package let state = Mutex(State())
    /// Held while the journal is read, so that one of LMDB's readers serves all observers.
    ///
    /// That reader still exists after the namespace has been deleted, when no other one is available.
    package let reading = Mutex<Void>(())
    /// How often a filter was evaluated for a change.
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
        /// The observers that were added while the hub was reading: the changes that it read then may concern them.
        var newcomers: [UInt64] = []
        /// The running observers that could not read on.
        var stalled: [UInt64] = []
        /// Whether the namespace's end has been read.
        var isGone = false
        /// The namespace's last change, once `isGone` is set; the hub may have read less.
        var last: UInt64 = 0
        /// The tasks that wait for the handlers, by number.
        var settling: [UInt64: Settling] = [:]
        var lastSettling: UInt64 = 0
    }

    /// An observer's progress, accessed only under the hub's lock.
    ///
    /// It is an object, so that giving one entry a change copies nothing else.
    package final class Entry {
        let observer: Observer
        /// The last change that the observer was given, or must not be given; while it follows, the hub's position
        /// may be later.
        var position: UInt64
        /// The last change that concerns the observer and that it was not given because it was running.
        var owed: UInt64 = 0
        /// While it is running: the change up to which its handler has returned from everything.
        var handled: UInt64 = 0
        /// The initial contents that are still to be delivered.
        var present: PresentState?
        var isRunning = false
        /// The changes that it is about to be started with.
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

    /// The observers, in the order in which they were made.
    package var all: [Observer] { state.withLock { $0.entries.values.map(\.observer) }.sorted { $0.id < $1.id } }

    // MARK: Coming and going

    /// Registers an observer, which receives all changes after its registration.
    ///
    /// `handle` is the handle that the observation is made with, and `kept` the one that it retains, if that is another.
    /// `afterRegistering` is called before the observer receives anything; if it throws, the registration ends.
    package func add(
        _ request: ObservationRequest,
        handle: Namespace,
        keeping kept: Namespace? = nil,
        afterRegistering: () throws(SpaceError) -> Void = { () throws(SpaceError) in }
    ) throws(SpaceError) -> Observer {
        let core = handle.core
        // Before anything else: a child made by fork may wait for a lock of the runtime for ever.
        try core.checkUsable()
        let isFirst = state.withLock { $0.entries.isEmpty }
        // Begun before the registration, so that every later write signals a change.
        EventLoop.shared.begin(core)
        let registration: Registrations.Registration
        do throws(SpaceError) {
            registration = try core.registrations.registerWatcher(request.filter, start: .now, subscription: "")
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
        let observer = Observer(row: registration.number, handle: handle, keeping: kept, request)
        let position = registration.present
        let present = request.options.contains(.initial) ? PresentState(registration, request.filter) : nil
        let mustRun = state.withLock { state in
            if state.entries.isEmpty, !state.isReading {
                state.position = position
                state.transaction = -1
            }
            let entry = Entry(observer: observer, position: position, present: present)
            // The hub has read past the registration without this observer.
            if state.position > position { entry.owed = state.position }
            entry.isRunning = present != nil || entry.owed > 0
            state.entries[observer.id] = entry
            state.index.insert(observer)
            if state.isReading { state.newcomers.append(observer.id) }
            return entry.isRunning
        }
        if mustRun, let first = next(observer, core) { start(observer, first, core, isCrew: false) }
        core.engine.changeSignal.request(in: core.engine.control)
        // A write since the registration may have signalled before the observer was entered. If the namespace was
        // left or deleted in between, no other thread looks.
        if core.control.sequence.load() > position || !core.isUsable {
            EventLoop.shared.handlers.submit { self.hear(core) }
        }
        // From now on the ticks drop them.
        if isFirst { core.dropRegistrations(of: .theDead) }
        return observer
    }

    /// Ends an observation: no call begins after this returns, but a call that has begun on another thread may still
    /// run.
    ///
    /// May be called anywhere, even in the handler.
    package func end(_ observer: Observer, of core: NamespaceCore) {
        if observer.end() { forget([observer], core) }
    }

    /// Ends the observations that fulfil a condition.
    package func end(_ core: NamespaceCore, where condition: (Observer) -> Bool) {
        forget(all.filter { condition($0) && $0.end() }, core)
    }

    package func end(handle: ObjectIdentifier, of core: NamespaceCore) { end(core) { $0.isMade(with: handle) } }

    /// Ends all observations without a last call: the process leaves the namespace and removes its rows.
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

    /// Removes registrations, now or as soon as possible.
    private func remove(_ rows: [UInt64], _ core: NamespaceCore) {
        // It does not wait long for the gate: the caller may be a deinit, or a handler on the thread that listens for
        // all.
        core.letGo(patience: Engine.upkeepPatience) { core, patience throws(SpaceError) in
            try core.registrations.removeWatchers(rows, timeout: patience)
        }
    }

    private func take(_ observers: [Observer]) {
        // The entries are returned, so that they are released outside the lock.
        _ = state.withLock { state in
            observers.map { observer in
                state.index.remove(observer)
                return state.entries.removeValue(forKey: observer.id)
            }
        }
        resumeSettled()
    }
}

extension NamespaceCore {
    /// The observations of this process.
    package var observations: ObservationHub { parts[ObservationHub.self] }
}
