import Glibc
import LMDB
import SpaceSystem
import Synchronization
import SystemPackage

/// Where this process hears the bells of the namespaces it watches: one inotify instance and one thread for all of them.
///
/// Guarantees: whoever waits for news of a namespace is resumed by its bell, and at the latest at the next tick after a commit:
/// a bell lost to a kill, to inotify's queue overflowing, to a replaced bell file or to a used-up number of instances costs one
/// tick, never a hang. Everything that is delivered is read from the journal; a bell says only that there may be news.
final class BellRoom: Sendable {
    static let shared = BellRoom()

    /// Who waits for namespaces to come and go.
    let roots = RootBells()
    private let state = Mutex(State())
    private let wakeUp: EventFDBox?

    private struct State {
        var listeners: [UInt64: Listener] = [:]
        var watches: [ObjectIdentifier: Watched] = [:]
        var byWatch: [Int32: ObjectIdentifier] = [:]
        var next: UInt64 = 1
        var hasThread = false
        var generation = ForkGuard.generation
    }

    private struct Watched {
        let core: NamespaceCore
        var users: Int
        var watch: Int32?
    }

    /// Somebody who waits for news.
    private struct Listener {
        let core: NamespaceCore
        let transaction: Int
        let deadline: MonotonicInstant?
        let resume: @Sendable () -> Void
    }

    private final class EventFDBox: Sendable {
        let event: EventFD
        init?() {
            guard let event = try? EventFD() else { return nil }
            self.event = event
        }
    }

    private final class Notifier: Sendable {
        let notify: INotify
        init?() {
            guard let notify = try? INotify() else { return nil }
            self.notify = notify
        }
    }

    private let notifier = Mutex<Notifier?>(nil)

    private init() { wakeUp = EventFDBox() }

    // MARK: Watching

    /// Begins to listen to a namespace's bell, before the registration: what is written from then on rings.
    func begin(_ core: NamespaceCore) {
        let id = ObjectIdentifier(core)
        let isNew = state.withLock { state in
            if state.watches[id] != nil {
                state.watches[id]?.users += 1
                return false
            }
            state.watches[id] = Watched(core: core, users: 1, watch: nil)
            return true
        }
        if isNew { listen(core) }
        startThread()
    }

    func end(_ core: NamespaceCore) {
        let id = ObjectIdentifier(core)
        let watch = state.withLock { state -> Int32? in
            guard var watched = state.watches[id] else { return nil }
            watched.users -= 1
            if watched.users > 0 {
                state.watches[id] = watched
                return nil
            }
            state.watches[id] = nil
            if let watch = watched.watch { state.byWatch[watch] = nil }
            return watched.watch
        }
        if let watch { notifier.withLock { try? $0?.notify.remove(watch) } }
    }

    /// Has inotify watch the bell.
    ///
    /// Where that fails the tick serves.
    private func listen(_ core: NamespaceCore) {
        guard let folder = (try? core.openFolder("watch")) ?? nil else { return }
        let path = "\(folder.descriptor.procPath)/\(NamespaceFolder.bell)"
        let watch = notifier.withLock { notifier -> Int32? in
            if notifier == nil { notifier = Notifier() }
            return try? notifier?.notify.add(path, [.modified, .deletedItself, .movedItself])
        }
        guard let watch else { return }
        state.withLock { state in
            state.watches[ObjectIdentifier(core)]?.watch = watch
            state.byWatch[watch] = ObjectIdentifier(core)
        }
    }

    // MARK: Root folders

    /// Has inotify watch a root folder for somebody; where that fails the tick serves.
    ///
    /// Returns: The watch, one for all who watch that folder.
    func begin(_ bell: RootBell, path: String) -> Int32? {
        defer { startThread() }
        return notifier.withLock { notifier in
            if notifier == nil { notifier = Notifier() }
            let watch = try? notifier?.notify.add(path, RootBells.mask)
            // Under this lock, or the watch could go with another who ends meanwhile.
            roots.begin(bell, watch: watch)
            return watch
        }
    }

    func end(_ bell: RootBell, watch: Int32?) {
        notifier.withLock { notifier in
            if let unused = roots.end(bell, watch: watch) { try? notifier?.notify.remove(unused) }
        }
    }

    // MARK: Waiting

    /// Suspends the task until there may be news since a transaction, the deadline has passed, or the task is cancelled.
    func wait(for core: NamespaceCore, since transaction: Int, until deadline: MonotonicInstant?) async {
        let id = newID()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                enter(id, core, transaction, deadline) { continuation.resume() }
                if Task.isCancelled { resume(id) }
            }
        } onCancel: {
            resume(id)
        }
    }

    /// Blocks the thread until there may be news since a transaction, the deadline has passed, or the interruption comes.
    func block(
        for core: NamespaceCore,
        since transaction: Int,
        until deadline: MonotonicInstant?,
        interruption: Interruption?
    ) {
        let signal = Signal()
        let id = newID()
        enter(id, core, transaction, deadline) { signal.send() }
        while !signal.isSent, !(interruption?.isTriggered ?? false) { signal.wait(atMost: Limits.tick) }
        _ = state.withLock { $0.listeners.removeValue(forKey: id) }
    }

    /// What a blocked thread sleeps on.
    ///
    /// Unchecked: the word's address stays, and it is reached by atomic operations alone.
    private final class Signal: @unchecked Sendable {
        private let word = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
        init() { word.initialize(to: 0) }
        deinit { word.deallocate() }

        var isSent: Bool { SharedWord32(at: word).load() != 0 }

        func send() {
            SharedWord32(at: word).storeSequential(1)
            _ = Futex(at: word).wake()
        }

        func wait(atMost limit: Duration) { _ = try? Futex(at: word).wait(while: 0, for: limit) }
    }

    private func newID() -> UInt64 {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next
        }
    }

    private func enter(
        _ id: UInt64,
        _ core: NamespaceCore,
        _ transaction: Int,
        _ deadline: MonotonicInstant?,
        _ resume: @escaping @Sendable () -> Void
    ) {
        state.withLock { state in
            state.listeners[id] = Listener(core: core, transaction: transaction, deadline: deadline, resume: resume)
        }
        // The thread may sleep past the deadline.
        if deadline != nil { try? wakeUp?.event.signal() }
        // What happened between the look and the entry rang nobody.
        if core.environment.lastTransaction != transaction || !core.isUsable { self.resume(id) }
    }

    private func resume(_ id: UInt64) {
        state.withLock { $0.listeners.removeValue(forKey: id) }?.resume()
    }

    /// Resumes everybody who waits for a namespace: it was left.
    func wake(_ core: NamespaceCore) {
        let due = state.withLock { state in
            let ids = state.listeners.filter { $0.value.core === core }.map(\.key)
            return ids.compactMap { state.listeners.removeValue(forKey: $0) }
        }
        for listener in due { listener.resume() }
    }

    // MARK: The thread

    private func startThread() {
        let mustStart = state.withLock { state in
            // After fork the thread is not here.
            if state.generation != ForkGuard.generation {
                state.generation = ForkGuard.generation
                state.hasThread = false
            }
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard mustStart else { return }
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, { _ in BellRoom.shared.run() }, nil)
        if result == 0 { pthread_detach(thread) } else { state.withLock { $0.hasThread = false } }
    }

    private static let wakeToken: UInt64 = 0
    private static let notifyToken: UInt64 = 1

    private func run() -> Never {
        let epoll = try? Epoll()
        if let wakeUp { try? epoll?.add(wakeUp.event.raw, .readable, token: Self.wakeToken) }
        var isListening = false
        var nextTick = MonotonicInstant.now.advanced(by: Limits.tick)
        while true {
            if !isListening, let raw = notifier.withLock({ $0?.notify.raw }) {
                isListening = (try? epoll?.add(raw, .readable, token: Self.notifyToken)) != nil
            }
            let ready = (try? epoll?.wait(timeout: limit(nextTick))) ?? []
            if epoll == nil { usleep(250_000) }
            var rung: Set<ObjectIdentifier> = []
            var isEverybody = false
            for event in ready {
                if event.token == Self.wakeToken {
                    _ = try? wakeUp?.event.drain()
                } else {
                    readEvents(&rung, &isEverybody)
                }
            }
            let now = MonotonicInstant.now
            let isTick = now >= nextTick
            if isTick {
                nextTick = now.advanced(by: Limits.tick)
                for core in state.withLock({ $0.watches.values.map(\.core) }) { core.tick() }
                roots.tick()
            }
            resumeDue(rung, isEverybody: isEverybody, isTick: isTick, now: now)
        }
    }

    private func limit(_ nextTick: MonotonicInstant) -> Duration {
        let next = state.withLock { state in state.listeners.values.compactMap(\.deadline).min() }
        return min(nextTick, next ?? nextTick).remaining
    }

    private func readEvents(_ rung: inout Set<ObjectIdentifier>, _ isEverybody: inout Bool) {
        let events = notifier.withLock { (try? $0?.notify.readEvents()) ?? [] }
        for event in events { roots.hear(event) }
        state.withLock { state in
            for event in events {
                if event.isOverflow { isEverybody = true }
                if let id = state.byWatch[event.watch] { rung.insert(id) }
            }
        }
    }

    private func resumeDue(
        _ rung: Set<ObjectIdentifier>,
        isEverybody: Bool,
        isTick: Bool,
        now: MonotonicInstant
    ) {
        let due = state.withLock { state in
            var due: [Listener] = []
            for (id, listener) in state.listeners {
                let isDue =
                    isEverybody || rung.contains(ObjectIdentifier(listener.core))
                    || listener.deadline.map { $0 <= now } ?? false
                    || (isTick
                        && (listener.core.environment.lastTransaction != listener.transaction
                            || !listener.core.isUsable))
                guard isDue else { continue }
                due.append(listener)
                state.listeners[id] = nil
            }
            return due
        }
        for listener in due { listener.resume() }
    }
}

extension NamespaceCore {
    var isUsable: Bool { (try? checkUsable("watch")) != nil }
}
