import SpaceSystem
import Synchronization

/// The source of all wake-ups of this process's waiters and watchers: change signals, events in root folders, ends of
/// processes, deadlines and ticks.
///
/// There is one epoll set for all of them, with one inotify instance for all namespaces, and one thread as long as no
/// handler blocks.
///
/// Guarantees: a waiter for news of a namespace is resumed by its change signal, and at the latest a tick after a
/// commit. A signal that is lost to a kill, to an overflow of inotify's queue, to a replaced signal file or to a used-up
/// number of instances costs one tick, never a hang. Everything that is delivered is read from the journal; a signal
/// only says that there may be news.
///
/// One process ticks for all that wait or watch in a namespace (`TickerSeat`); it nudges the others if there was a
/// commit. The others listen for its end, and one of them, the deputy, looks once a second whether it still ticks. So a
/// process wakes four times a second however many namespaces it ticks for, once if it is a deputy, watches, or has tasks
/// that wait, and more seldom otherwise.
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
            if let loop = current, loop.forkGeneration == ForkGuard.generation { return loop }
            let loop = EventLoop()
            current = loop
            return loop
        }
    }

    /// The event loop if this process has one: a caller that only ends something, or leaves, needs none, and may have no
    /// descriptor to spare.
    static var existing: EventLoop? {
        current.withLock { $0?.forkGeneration == ForkGuard.generation ? $0 : nil }
    }

    /// How often a process that follows a ticker looks whether it still ticks.
    private static let watchInterval = Duration.seconds(1)
    /// The time to wait for the gate when a claimer has ended; after it, the tick returns what is left.
    private static let patience = Duration.milliseconds(100)

    /// What those who follow many processes need to look at the namespaces of one that has ended.
    static let spareDescriptors: UInt64 = 16

    let handlers = HandlerThreads()
    let sleepers = SleeperTable()
    /// The waiters for namespaces to appear and disappear.
    package let roots = PathSignals()
    let exits = ProcessExits(firstToken: HandlerThreads.firstExitToken)
    let state = Mutex(State())
    let notifier = Mutex<Notifier?>(nil)
    /// The time of the next tick, in monotonic nanoseconds.
    ///
    /// It is set under the lock of the state. Only the thread that takes a tick moves it on without the lock, by
    /// compare-and-exchange, and sets it again under the lock at the tick's end.
    private let nextTick = Atomic<Int64>(.max)
    private let forkGeneration = ForkGuard.generation

    struct State {
        var attended: [ObjectIdentifier: Attended] = [:]
        var byWatch: [Int32: ObjectIdentifier] = [:]
        /// When the root folders' waiters look again without a signal.
        var rootsDue = MonotonicInstant.distantFuture

        /// The namespaces that were signalled, and the events that belong to no namespace's signal.
        mutating func hear(_ events: [INotify.Event]) -> (rung: [Attended], others: [INotify.Event]) {
            var rung: [Attended] = []
            var others: [INotify.Event] = []
            for event in events {
                if let attended = byWatch[event.watch].flatMap({ attended[$0] }) {
                    if !rung.contains(where: { $0 === attended }) { rung.append(attended) }
                    // The file was removed or replaced: the next look listens to the one that is there.
                    if !event.mask.isDisjoint(with: [.deletedItself, .movedItself, .ignored]) {
                        byWatch[event.watch] = nil
                        attended.watch = nil
                    }
                } else {
                    others.append(event)
                    // An overflow does not say which signals were lost, so all namespaces count as signalled.
                    if event.isOverflow { rung = Array(attended.values) }
                }
            }
            return (rung, others)
        }
    }

    /// A namespace that the loop looks after.
    ///
    /// It is an object so that a look at it copies nothing. Unchecked: it is accessed only under the lock of the state.
    final class Attended: @unchecked Sendable {
        weak var namespace: (any ListeningNamespace)?
        /// The namespace, as long as it is watched.
        var watched: (any ListeningNamespace)?
        /// How many watchers it has.
        var users = 0
        var watch: Int32?
        var due: MonotonicInstant
        /// Whether another process ticks for it.
        var isFollowing = false
        /// The count of claimants at the last look at them.
        var claimants: UInt32 = 0

        init(_ namespace: any ListeningNamespace, due: MonotonicInstant) {
            self.namespace = namespace
            self.due = due
        }
    }

    final class Notifier: Sendable {
        let notify: INotify
        init?() {
            guard let notify = try? INotify() else { return nil }
            self.notify = notify
        }
    }

    // MARK: Namespaces

    /// Looks after a namespace as long as this process waits in it or has affairs there that need ticks.
    ///
    /// - Parameters:
    ///   - core: The namespace.
    ///   - mayRest: Whether the caller needs no look of its own: it is a thread that waits.
    /// - Returns: Whether the loop has a thread for that.
    package static func attend(_ core: any ListeningNamespace, mayRest: Bool = false) -> Bool {
        if core.attendance.isGiven {
            if !mayRest, core.attendance.isResting { existing?.endRest(core) }
            return true
        }
        // A child made by fork cannot use what it inherited; a thread started for it would only meet locks that the
        // parent's threads may have held.
        guard !core.engine.isInherited else { return false }
        return shared.attend(core)
    }

    private func attend(_ core: any ListeningNamespace) -> Bool {
        state.withLock { state in _ = entry(core, &state) }
        let hasThread = handlers.start(self)
        core.attendance.isGiven = hasThread
        return hasThread
    }

    /// Looks after a namespace within a second, and from then on once a second.
    private func endRest(_ core: any ListeningNamespace) {
        state.withLock { state in
            core.attendance.isResting = false
            guard let attended = state.attended[ObjectIdentifier(core)] else { return }
            attended.due = min(attended.due, .now.advanced(by: Ticking.interval))
            hasten(attended.due, &state)
        }
    }

    private func entry(_ core: any ListeningNamespace, _ state: inout State) -> Attended {
        let id = ObjectIdentifier(core)
        // The object that had this address may be gone.
        if let known = state.attended[id], known.namespace === core { return known }
        let due = MonotonicInstant.now.advanced(by: Ticking.interval)
        let new = Attended(core, due: due)
        state.attended[id] = new
        hasten(due, &state)
        return new
    }

    /// Sees to it that there is a tick at a time.
    func hasten(_ due: MonotonicInstant, _: inout State) {
        guard due.nanoseconds < nextTick.load(ordering: .relaxed) else { return }
        nextTick.store(due.nanoseconds, ordering: .relaxed)
        handlers.wake()
    }

    /// Begins to listen to a namespace's change signal; called before the registration, so that every later write
    /// signals.
    package func begin(_ core: any ListeningNamespace) {
        guard !core.engine.isInherited else { return }
        let isNew = state.withLock { state in
            let attended = entry(core, &state)
            attended.users += 1
            attended.watched = core
            return attended.users == 1
        }
        if isNew {
            listen(core)
            if core.attendance.isResting { endRest(core) }
        }
        core.attendance.isGiven = handlers.start(self)
    }

    package func end(_ core: any ListeningNamespace, users: Int = 1) {
        let watch = state.withLock { state -> Int32?? in
            guard let attended = state.attended[ObjectIdentifier(core)] else { return nil }
            attended.users -= users
            guard attended.users <= 0 else { return nil }
            attended.watched = nil
            defer { attended.watch = nil }
            if let watch = attended.watch { state.byWatch[watch] = nil }
            return .some(attended.watch)
        }
        guard let watch else { return }
        if let watch { notifier.withLock { try? $0?.notify.remove(watch) } }
        sleepers.wake(at: ObjectIdentifier(core)) { if case .signal = $0 { true } else { false } }
    }

    /// Has inotify watch the file of the change signal.
    ///
    /// If that fails, the tick takes its place.
    private func listen(_ core: any ListeningNamespace) {
        guard let folder = (try? core.engine.openFolder()) ?? nil else { return }
        let path = "\(folder.descriptor.procPath)/\(NamespaceFolder.changeSignal)"
        let watch = notifier.withLock { notifier -> Int32? in
            makeIfNeeded(&notifier)
            return try? notifier?.notify.add(path, [.modified, .deletedItself, .movedItself, .noFollow])
        }
        guard let watch else { return }
        state.withLock { state in
            state.attended[ObjectIdentifier(core)]?.watch = watch
            state.byWatch[watch] = ObjectIdentifier(core)
        }
    }

    func makeIfNeeded(_ notifier: inout Notifier?) {
        if notifier == nil, let made = Notifier(), handlers.listen(to: made.notify.raw) { notifier = made }
    }

    /// Listens for the ends of a namespace's claimers, if there are new ones; `claimants` is their count.
    package func attend(_ core: any ListeningNamespace, claimants: UInt32) {
        let isNew = state.withLock { state in
            let attended = entry(core, &state)
            defer { attended.claimants = claimants }
            return attended.claimants != claimants
        }
        if isNew { followClaimants(of: core) }
    }

    /// Listens for the ends of a namespace's claimers, and of the processes with which something in it ends.
    package func followClaimants(of core: any ListeningNamespace) {
        guard handlers.start(self) else { return }
        handlers.submit { [weak core] in
            guard let core else { return }
            for process in core.processesThatClaim() where self.follow(process, for: core) == .ended {
                core.returnClaimsOfTheDead(patience: Self.patience)
            }
        }
    }

    private func follow(
        _ process: ProcessIdentity,
        for core: any ListeningNamespace
    ) -> ProcessExits.Finding {
        exits.follow(process, for: ObjectIdentifier(core)) { handlers.listen(to: $0, token: $1) }
    }

    /// The number of namespaces in which claimers are listened to.
    static var listenedTo: Int {
        existing?.state.withLock { $0.attended.values.count { $0.claimants != 0 } } ?? 0
    }

    // MARK: Wake-ups that namespaces ask for

    /// Resumes all waiters of a namespace that was left.
    package static func wake(_ core: any ListeningNamespace) { existing?.sleepers.wake(at: ObjectIdentifier(core)) }

    /// Looks soon who ticks for a namespace that another process has ticked for.
    package static func hasten(_ core: any ListeningNamespace) {
        guard let loop = existing else { return }
        loop.state.withLock { state in
            guard let attended = state.attended[ObjectIdentifier(core)], attended.isFollowing else { return }
            attended.due = .now
            loop.hasten(.now, &state)
        }
    }

    // MARK: Calls from the handler threads

    /// The end of a listening thread's sleep.
    ///
    /// `isSpare`: Whether another thread keeps the clock; this thread does only what the other one fails to do.
    func sleepEnd(isSpare: Bool) -> MonotonicInstant? {
        var end = MonotonicInstant(nanoseconds: nextTick.load(ordering: .relaxed))
        if let deadline = sleepers.firstDeadline { end = min(end, deadline) }
        if isSpare { end = min(end, .now).advanced(by: Limits.tick) }
        return end == .distantFuture ? nil : end
    }

    /// Does what is due by the clock.
    func attendClock() {
        let now = MonotonicInstant.now
        let due = nextTick.load(ordering: .relaxed)
        // One thread ticks. If it is held up for a tick, another one does.
        if now.nanoseconds >= due {
            let next = now.advanced(by: Limits.tick).nanoseconds
            if nextTick.compareExchange(expected: due, desired: next, ordering: .relaxed).exchanged { tick(now) }
        }
        sleepers.wakeLate(now)
    }

    /// Reads which change signals have arrived, resumes their waiters and notifies their namespaces.
    func hearSignals() {
        while true {
            let (events, mayBeMore) = notifier.withLock { (try? $0?.notify.readEvents()) ?? ([], false) }
            guard !events.isEmpty else { return }
            let (rung, others) = state.withLock { state in
                let (rung, others) = state.hear(events)
                return (rung.compactMap { attended in attended.namespace.map { ($0, attended.isFollowing) } }, others)
            }
            for (core, _) in rung {
                sleepers.wake(at: ObjectIdentifier(core)) { if case .signal = $0 { true } else { false } }
            }
            for (core, isFollowing) in rung {
                if isFollowing, core.hasNewTicker { Self.hasten(core) }
                core.hear()
            }
            for event in others { roots.hear(event, sleepers) }
            // The descriptor is edge-triggered: read until all events are read; a later event is a new edge.
            if !mayBeMore { return }
        }
    }

    /// Returns the claims of a process that has ended, and looks who ticks in its place.
    func hearExit(_ token: UInt64) {
        let ended = exits.end(token)
        let cores = state.withLock { state in ended.compactMap { state.attended[$0]?.namespace } }
        if cores.count < ended.count { roots.hearExit(ended, sleepers) }
        for core in cores {
            handlers.post {
                core.returnClaimsOfTheDead(patience: Self.patience)
                core.forgetTicker()
                Self.hasten(core)
            }
        }
    }

    // MARK: Ticks

    /// Looks after all namespaces that are due, and finds the news of lost signals.
    func tick(_ now: MonotonicInstant) {
        // What is due soon is done now, so that all namespaces share their wake-ups.
        let end = now.advanced(by: Limits.tick / 2)
        let (due, areRootsDue) = state.withLock { state in
            (state.attended.filter { $0.value.due <= end }, state.rootsDue <= end)
        }
        for (id, attended) in due { look(at: id, attended) }
        if areRootsDue { roots.tick(sleepers) }
        state.withLock { state in
            if areRootsDue {
                let rest = roots.needTicks ? Ticking.interval : Self.watchInterval
                state.rootsDue = roots.isEmpty ? .distantFuture : now.advanced(by: rest)
            }
            let next = state.attended.values.lazy.map(\.due).min() ?? .distantFuture
            nextTick.store(min(next, state.rootsDue).nanoseconds, ordering: .relaxed)
        }
    }

    private func look(at id: ObjectIdentifier, _ attended: Attended) {
        let (core, isWatched, isHeard) = state.withLock { _ in
            (attended.namespace, attended.users > 0, attended.watch != nil)
        }
        guard let core else { return drop(id, attended, nil) }
        core.attendance.isResting = true
        let role = core.tick(isUsed: isWatched || core.attendance.isWaitedIn) { follow($0, for: core) }
        let hasAffairs = core.needsTicks
        var needsTicks = hasAffairs
        var isFollowing = false
        var mayRest = false
        switch role {
        case .ticking: needsTicks = true
        case .following(let isHeard, let isRelieved):
            isFollowing = true
            // A watcher whose signal file is replaced, and a task whose task word is, find that out at their looks.
            mayRest = isRelieved && !isWatched && !core.hasTaskWakeups
            // If the ticker's end can't be heard, this process checks at each tick whether the ticker still ticks.
            if !isHeard { needsTicks = true }
        case .idle:
            if !needsTicks, !isWatched { return drop(id, attended, core) }
        }
        if isWatched {
            if !isHeard {
                needsTicks = true
                listen(core)
            }
            wakeIfChanged(core)
        }
        if isWatched || hasAffairs { core.tickParts() }
        // Their words were raised, or should have been, but the task word was not rung.
        let (last, isUsable) = (core.engine.lastChange, core.engine.isUsable)
        sleepers.wake(at: id) {
            guard case .wakeWord(let wakeWord, let heard, let transaction) = $0 else { return false }
            return wakeWord.isRaised(since: heard) || transaction != last || !isUsable
        }
        let rest = core.restInterval
        state.withLock { state in
            // A watcher, or a caller that needs ticks, may have come in the meantime.
            if needsTicks || !mayRest || attended.users > 0 { core.attendance.isResting = false }
            let seldom = core.attendance.isResting ? rest : Self.watchInterval
            let interval = needsTicks ? Ticking.interval : max(seldom, Ticking.interval)
            attended.isFollowing = isFollowing
            attended.due = .now.advanced(by: interval)
        }
        // A nudge that came during the look has not hastened the next one.
        if isFollowing, core.hasNewTicker { Self.hasten(core) }
    }

    /// Wakes the watchers of a namespace if there was a commit since their looks, in case its signal was not heard.
    private func wakeIfChanged(_ core: any ListeningNamespace) {
        let (last, isUsable) = (core.engine.lastChange, core.engine.isUsable)
        sleepers.wake(at: ObjectIdentifier(core)) {
            if case .signal(let transaction) = $0 { !isUsable || transaction != last } else { false }
        }
    }

    /// Looks after a namespace no longer.
    private func drop(_ id: ObjectIdentifier, _ attended: Attended, _ core: (any ListeningNamespace)?) {
        core?.attendance.isGiven = false
        let isDropped = state.withLock { state in
            guard state.attended[id] === attended, attended.users <= 0, !(core?.attendance.isWaitedIn ?? false) else {
                attended.due = .now.advanced(by: Ticking.interval)
                return false
            }
            state.attended[id] = nil
            return true
        }
        guard isDropped else {
            core?.attendance.isGiven = true
            return
        }
        exits.forget(id)
        sleepers.forget(id)
        core?.forgetTicker()
    }
}
