import Glibc
import LMDB
package import SpaceSystem
import Synchronization
import SystemPackage

/// Where this process hears the bells of the namespaces it watches: one inotify instance for all of them, and one thread, as
/// long as what it has to do does not block.
///
/// Guarantees: whoever waits for news of a namespace is resumed by its bell, and at the latest at the next tick after a commit:
/// a bell lost to a kill, to inotify's queue overflowing, to a replaced bell file or to a used-up number of instances costs one
/// tick, never a hang. Everything that is delivered is read from the journal; a bell says only that there may be news.
///
/// Short handlers run on the thread that heard the bell, because a hand-over to another thread would cost as much again as
/// the bell did. So that one that blocks holds up nobody else, `HandlerThreads` has another thread listen meanwhile.
package final class EventLoop: Sendable {
    private static let current = Mutex<EventLoop?>(nil)

    /// The room of this process.
    ///
    /// A child made by fork begins with one of its own: its parent's threads are not there, and what it heard through the
    /// inherited descriptors its parent would miss.
    package static var shared: EventLoop {
        current.withLock { current in
            if let room = current, room.forkGeneration == ForkGuard.generation { return room }
            let room = EventLoop()
            current = room
            return room
        }
    }

    let crew = HandlerThreads()
    /// Who waits for namespaces to come and go.
    package let roots = RootSignals()
    private let state = Mutex(State())
    private let notifier = Mutex<Notifier?>(nil)
    private let forkGeneration = ForkGuard.generation

    private struct State {
        var watches: [ObjectIdentifier: Watched] = [:]
        var byWatch: [Int32: ObjectIdentifier] = [:]
        /// Of the listeners that have one.
        var deadlines: [UInt64: (time: MonotonicInstant, core: ObjectIdentifier)] = [:]
        var next: UInt64 = 1

        /// Takes the listeners of a namespace that a condition holds for.
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

        /// Whose bells rang, and who waits there; and the events that are no bell's.
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
                    // Whose bells were lost is not known.
                    if event.isOverflow { rung = Array(watches.values) }
                }
            }
            return (rung.map(\.core), rung.flatMap { take($0) { _ in true } }, others)
        }
    }

    /// A namespace that is listened to; reached through the state alone, and an object so that a look at it copies nothing.
    private final class Watched {
        let core: any ListeningNamespace
        var users = 1
        var watch: Int32?
        var listeners: [UInt64: Listener] = [:]

        init(_ core: any ListeningNamespace) { self.core = core }
    }

    /// Somebody who waits for news.
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

    /// Begins to listen to a namespace's bell, before the registration: what is written from then on rings.
    package func begin(_ core: any ListeningNamespace) {
        // A child made by fork can't use what it inherited; a thread started for it would only meet locks that the parent's
        // threads may have held.
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

    /// Has inotify watch the bell.
    ///
    /// Where that fails the tick serves.
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

    /// Has inotify watch a root folder for somebody; where that fails the tick serves.
    ///
    /// Returns: The watch, one for all who watch that folder.
    package func begin(_ bell: RootSignal, path: String) -> Int32? {
        defer { crew.start(self) }
        return notifier.withLock { notifier in
            makeIfNeeded(&notifier)
            let watch = try? notifier?.notify.add(path, RootSignals.mask)
            // Under this lock, or the watch could go with another who ends meanwhile.
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
            // No thread was to be had for the crew: this one looks in its stead.
            if crew.threadCount == 0 {
                crew.start(self)
                tick()
                resumeLate(.now)
            }
        }
        resume(id, core)
    }

    /// What a blocked thread sleeps on.
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
        // Nobody listens: a child made by fork. Its next look tells it so.
        guard isEntered else { return resume() }
        // The threads may sleep past the deadline.
        if deadline != nil { crew.wake() }
        core.engine.awaitSignal()
        // What happened between the look and the entry rang nobody.
        if core.engine.environment.lastTransaction != transaction || !core.engine.isUsable { self.resume(id, core) }
    }

    private func resume(_ id: UInt64, _ core: any ListeningNamespace) {
        let listener = state.withLock { state in
            state.deadlines[id] = nil
            return state.watches[ObjectIdentifier(core)]?.listeners.removeValue(forKey: id)
        }
        listener?.resume()
    }

    /// Resumes everybody who waits for a namespace: it was left.
    ///
    /// A process that never watched gets no room for that: who leaves may have no descriptor to spare.
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

    // MARK: What the crew calls

    /// The first deadline of somebody who waits.
    var nextDeadline: MonotonicInstant? { state.withLock { $0.deadlines.values.map(\.time).min() } }

    /// Looks which bells have rung, and tells those concerned.
    func hearSignals() {
        while true {
            let events = notifier.withLock { (try? $0?.notify.readEvents()) ?? [] }
            guard !events.isEmpty else { return }
            let (rung, listeners, others) = state.withLock { $0.hear(events) }
            for listener in listeners { listener.resume() }
            for core in rung { core.hear() }
            for event in others { roots.hear(event) }
            // Edge-triggered: until all was read; what comes later is a new edge.
            if events.count < INotify.batch { return }
        }
    }

    /// Looks after all namespaces: what a lost bell would have told is found here.
    package func tick() {
        for core in state.withLock({ $0.watches.values.map(\.core) }) {
            core.tick()
            // Should the word have been lost to somebody who was killed.
            core.engine.awaitSignal()
            let (last, isUsable) = (core.engine.environment.lastTransaction, core.engine.isUsable)
            let due = takeListeners(ObjectIdentifier(core)) { !isUsable || $0.transaction != last }
            for listener in due { listener.resume() }
            core.tickParts()
        }
        roots.tick()
    }

    /// Resumes those whose deadline has passed.
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
