import Glibc
package import SpaceSystem
import Synchronization

/// Hears the change signals of the namespaces that this process watches.
///
/// There is one inotify instance for all namespaces, and one thread as long as no handler blocks.
///
/// Guarantees: a waiter for news of a namespace is resumed by its change signal, and at the latest at the next tick
/// after a commit. A signal that is lost to a kill, to an overflow of inotify's queue, to a replaced bell file or to
/// a used-up number of instances costs one tick, never a hang. Everything that is delivered is read from the journal;
/// a signal only says that there may be news.
///
/// Short handlers run on the thread that heard the signal, because a hand-over to another thread would cost as much
/// again as the signal. So that a handler that blocks delays no other one, `HandlerThreads` has another thread listen
/// in the meantime.
package final class EventLoop: Sendable {
    private static let current = Mutex<EventLoop?>(nil)

    /// The event loop of this process.
    ///
    /// A child made by fork begins with its own loop: it does not have its parent's threads, and its parent would
    /// miss any event that the child read from an inherited descriptor.
    package static var shared: EventLoop {
        current.withLock { current in
            if let room = current, room.forkGeneration == ForkGuard.generation { return room }
            let room = EventLoop()
            current = room
            return room
        }
    }

    let crew = HandlerThreads()
    /// The waiters for namespaces to appear and disappear.
    package let roots = RootSignals()
    private let state = Mutex(State())
    private let notifier = Mutex<Notifier?>(nil)
    private let forkGeneration = ForkGuard.generation

    private struct State {
        var watches: [ObjectIdentifier: Watched] = [:]
        var byWatch: [Int32: ObjectIdentifier] = [:]
        /// The deadlines of the listeners that have one.
        var deadlines: [UInt64: (time: MonotonicInstant, core: ObjectIdentifier)] = [:]
        var next: UInt64 = 1

        /// Removes and returns a namespace's listeners that fulfil a condition.
        mutating func take(_ watched: Watched, where isDue: @Sendable (Listener) -> Bool) -> [Listener] {
            guard !watched.listeners.isEmpty else { return [] }
            var due: [Listener] = []
            for (id, listener) in watched.listeners where isDue(listener) {
                due.append(listener)
                watched.listeners[id] = nil
                deadlines[id] = nil
            }
            return due
        }

        /// Returns the namespaces that were signalled, their waiters, and the events that belong to no namespace's
        /// signal.
        mutating func hear(
            _ events: [INotify.Event]
        ) -> (rung: [any ListeningNamespace], waiting: [Listener], others: [INotify.Event]) {
            var rung: [Watched] = []
            var others: [INotify.Event] = []
            for event in events {
                if let watched = byWatch[event.watch].flatMap({ watches[$0] }) {
                    if !rung.contains(where: { $0 === watched }) { rung.append(watched) }
                } else {
                    others.append(event)
                    // An overflow does not say which signals were lost, so all namespaces count as signalled.
                    if event.isOverflow { rung = Array(watches.values) }
                }
            }
            return (rung.map(\.core), rung.flatMap { take($0) { _ in true } }, others)
        }
    }

    /// A namespace that is listened to.
    ///
    /// It is accessed only under the lock of the state, and it is an object so that a look at it copies nothing.
    private final class Watched {
        let core: any ListeningNamespace
        var users = 1
        var watch: Int32?
        var listeners: [UInt64: Listener] = [:]

        init(_ core: any ListeningNamespace) { self.core = core }
    }

    /// A waiter for news.
    private struct Listener {
        let transaction: Int
        let resume: @Sendable () -> Void
    }

    private final class Notifier: Sendable {
        let notify: INotify
        init?() {
            guard let notify = try? INotify() else { return nil }
            self.notify = notify
        }
    }

    // MARK: Watching

    /// Begins to listen to a namespace's change signal; called before the registration, so that every later write
    /// signals.
    package func begin(_ core: any ListeningNamespace) {
        // A child made by fork cannot use what it inherited; a thread started for it would only meet locks that the
        // parent's threads may have held.
        guard !core.engine.isInherited else { return }
        let id = ObjectIdentifier(core)
        let isNew = state.withLock { state in
            if state.watches[id] != nil {
                state.watches[id]?.users += 1
                return false
            }
            state.watches[id] = Watched(core)
            return true
        }
        if isNew { listen(core) }
        crew.start(self)
    }

    package func end(_ core: any ListeningNamespace, users: Int = 1) {
        let id = ObjectIdentifier(core)
        let (watch, listeners) = state.withLock { state -> (Int32?, [Listener]) in
            guard let watched = state.watches[id] else { return (nil, []) }
            watched.users -= users
            guard watched.users <= 0 else { return (nil, []) }
            state.watches[id] = nil
            if let watch = watched.watch { state.byWatch[watch] = nil }
            return (watched.watch, state.take(watched) { _ in true })
        }
        if let watch { notifier.withLock { try? $0?.notify.remove(watch) } }
        for listener in listeners { listener.resume() }
    }

    /// Has inotify watch the file of the change signal.
    ///
    /// If that fails, the tick takes its place.
    private func listen(_ core: any ListeningNamespace) {
        guard let folder = (try? core.engine.openFolder("watch")) ?? nil else { return }
        let path = "\(folder.descriptor.procPath)/\(NamespaceFolder.bell)"
        let watch = notifier.withLock { notifier -> Int32? in
            makeIfNeeded(&notifier)
            return try? notifier?.notify.add(path, [.modified, .deletedItself, .movedItself, .noFollow])
        }
        guard let watch else { return }
        state.withLock { state in
            state.watches[ObjectIdentifier(core)]?.watch = watch
            state.byWatch[watch] = ObjectIdentifier(core)
        }
    }

    private func makeIfNeeded(_ notifier: inout Notifier?) {
        if notifier == nil, let made = Notifier(), crew.listen(to: made.notify.raw) { notifier = made }
    }

    // MARK: Root folders

    /// Has inotify watch a root folder for a waiter; if that fails, the tick takes its place.
    ///
    /// Returns the watch, which all waiters for that folder share.
    package func begin(_ bell: RootSignal, path: String) -> Int32? {
        defer { crew.start(self) }
        return notifier.withLock { notifier in
            makeIfNeeded(&notifier)
            let watch = try? notifier?.notify.add(path, RootSignals.mask)
            // Done under this lock: otherwise another waiter that ends at the same time could remove the watch.
            roots.begin(bell, watch: watch)
            return watch
        }
    }

    package func end(_ bell: RootSignal, watch: Int32?) {
        notifier.withLock { notifier in
            if let unused = roots.end(bell, watch: watch) { try? notifier?.notify.remove(unused) }
        }
    }

    // MARK: Waiting

    /// Suspends the task until there may be news since a transaction, the deadline has passed, or the task is cancelled.
    package func wait(for core: any ListeningNamespace, since transaction: Int, until deadline: MonotonicInstant?) async
    {
        let id = newID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(id, core, transaction, deadline) { continuation.resume() }
                if Task.isCancelled { resume(id, core) }
            }
        } onCancel: {
            resume(id, core)
        }
    }

    /// Blocks the thread until there may be news since a transaction, the deadline has passed, or the interruption comes.
    package func block(
        for core: any ListeningNamespace,
        since transaction: Int,
        until deadline: MonotonicInstant?,
        interruption: Interruption?
    ) {
        let signal = Signal()
        let id = newID()
        enter(id, core, transaction, deadline) { signal.send() }
        while !signal.isSent, !(interruption?.isTriggered ?? false) {
            signal.wait(atMost: Limits.tick)
            // The process could not get a listening thread, so this thread looks in its place.
            if crew.threadCount == 0 {
                crew.start(self)
                tick()
                resumeLate(.now)
            }
        }
        resume(id, core)
    }

    /// The word on which a blocked thread sleeps.
    private final class Signal: Sendable {
        private let word = FutexWord()

        var isSent: Bool { word.value.load() != 0 }

        func send() {
            word.value.storeSequential(1)
            word.futex.wake()
        }

        func wait(atMost limit: Duration) { _ = try? word.futex.wait(while: 0, for: limit) }
    }

    private func newID() -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    private func enter(
        _ id: UInt64,
        _ core: any ListeningNamespace,
        _ transaction: Int,
        _ deadline: MonotonicInstant?,
        _ resume: @escaping @Sendable () -> Void
    ) {
        let key = ObjectIdentifier(core)
        let isEntered = state.withLock { state in
            guard state.watches[key] != nil else { return false }
            state.watches[key]?.listeners[id] = Listener(transaction: transaction, resume: resume)
            if let deadline { state.deadlines[id] = (deadline, key) }
            return true
        }
        // The namespace is not listened to, as in a child made by fork; the caller's next look reports that.
        guard isEntered else { return resume() }
        // The listening threads may sleep past the deadline.
        if deadline != nil { crew.wake() }
        core.engine.awaitSignal()
        // A change between the look and the entry of the listener signalled to no listener.
        if core.engine.lastCommit != transaction || !core.engine.isUsable { self.resume(id, core) }
    }

    private func resume(_ id: UInt64, _ core: any ListeningNamespace) {
        let listener = state.withLock { state in
            state.deadlines[id] = nil
            return state.watches[ObjectIdentifier(core)]?.listeners.removeValue(forKey: id)
        }
        listener?.resume()
    }

    /// Resumes all waiters of a namespace that was left.
    ///
    /// If the process has no event loop, this makes none: the leaving process may have no descriptor to spare.
    static func wake(_ core: any ListeningNamespace) {
        let room = current.withLock { $0?.forkGeneration == ForkGuard.generation ? $0 : nil }
        room?.wake(core)
    }

    private func wake(_ core: any ListeningNamespace) {
        for listener in takeListeners(ObjectIdentifier(core), where: { _ in true }) { listener.resume() }
    }

    private func takeListeners(_ key: ObjectIdentifier, where isDue: @Sendable (Listener) -> Bool) -> [Listener] {
        state.withLock { state in state.watches[key].map { state.take($0, where: isDue) } ?? [] }
    }

    // MARK: Calls from the handler threads

    /// The first deadline of a waiter.
    var nextDeadline: MonotonicInstant? { state.withLock { $0.deadlines.values.map(\.time).min() } }

    /// Reads which change signals have arrived, resumes their waiters and notifies their namespaces.
    func hearSignals() {
        while true {
            let events = notifier.withLock { (try? $0?.notify.readEvents()) ?? [] }
            guard !events.isEmpty else { return }
            let (rung, listeners, others) = state.withLock { $0.hear(events) }
            for listener in listeners { listener.resume() }
            for core in rung { core.hear() }
            for event in others { roots.hear(event) }
            // The descriptor is edge-triggered: read until all events are read; a later event is a new edge.
            if events.count < INotify.batch { return }
        }
    }

    /// Looks after all namespaces, and finds the news of lost signals.
    package func tick() {
        for core in state.withLock({ $0.watches.values.map(\.core) }) {
            core.tick()
            // Repeats the request for a signal, in case a process that was killed has taken it.
            core.engine.awaitSignal()
            let (last, isUsable) = (core.engine.lastCommit, core.engine.isUsable)
            let due = takeListeners(ObjectIdentifier(core)) { !isUsable || $0.transaction != last }
            for listener in due { listener.resume() }
            core.tickParts()
        }
        roots.tick()
    }

    /// Resumes the waiters whose deadline has passed.
    func resumeLate(_ now: MonotonicInstant) {
        let late = state.withLock { state -> [Listener] in
            guard !state.deadlines.isEmpty else { return [] }
            return state.deadlines.filter { $0.value.time <= now }.compactMap { (id, deadline) in
                state.deadlines[id] = nil
                return state.watches[deadline.core]?.listeners.removeValue(forKey: id)
            }
        }
        for listener in late { listener.resume() }
    }
}
