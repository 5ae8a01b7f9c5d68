import ClusterStore
import SpaceSystem
import Synchronization

/// The one watch of a space's namespaces: it tells each of those that take part what has changed of it.
///
/// Guarantees: a namespace that begins to listen, and then reads the store, misses no change after that reading, because
/// the watch goes on from an earlier revision. The namespace leaves out the changes that it has read already. When the
/// watch ends, each listening namespace gets the watch's error, and reads the store again. A namespace that is too slow
/// gets an error alone.
final class SpaceWatch: Sendable {
    private struct State {
        /// Whether the watch goes on from a known revision, so that a namespace may begin to listen.
        var isOpen = false
        /// Why it is not open.
        var trouble = StoreError.unavailable("the watch has not begun")
        /// The queues of the listening namespaces, by what the namespaces' keys begin with.
        var listeners: [String: (number: UInt64, queue: StoreNewsQueue)] = [:]
        var lastNumber: UInt64 = 0
        var watching: Task<Void, Never>?
    }

    private let store: any Store
    private let keys: ClusterKeys
    private let settings: ClusterSettings
    private let state = Mutex(State())
    /// Nudged when the watch opens.
    private let opened = Nudge()

    init(_ store: any Store, _ keys: ClusterKeys, _ settings: ClusterSettings) {
        self.store = store
        self.keys = keys
        self.settings = settings
    }

    /// Begins to listen to what changes of one life of a namespace; an earlier listener of it hears nothing more.
    ///
    /// - Throws: `again` if the watch does not begin in time.
    func news(of namespace: NamespaceKeys) async throws(Leaving) -> AsyncThrowingStream<StoreNews, any Error> {
        let end = MonotonicInstant.now.advanced(by: settings.longestPause)
        while true {
            let seen = opened.count
            let (queue, trouble) = listen(to: namespace.live)
            if let queue { return queue.sequence }
            guard !Task.isCancelled, !end.hasPassed else { throw .again(trouble.told) }
            await opened.wait(after: seen, until: end)
        }
    }

    private func listen(to live: String) -> (StoreNewsQueue?, StoreError) {
        state.withLock { state in
            guard state.isOpen else { return (nil, state.trouble) }
            state.lastNumber += 1
            let number = state.lastNumber
            let queue = StoreNewsQueue { [weak self] in self?.forget(live, number) }
            state.listeners[live] = (number, queue)
            return (queue, state.trouble)
        }
    }

    private func forget(_ live: String, _ number: UInt64) {
        state.withLock { state in
            // Another one may listen in its place.
            if state.listeners[live]?.number == number { state.listeners[live] = nil }
        }
    }

    /// Whether there are changes that a namespace has received and not looked at.
    func hasUnread(of namespace: NamespaceKeys) -> Bool {
        state.withLock { $0.listeners[namespace.live]?.queue.hasNews ?? false }
    }

    /// Begins a new watch: this one is silent, or is one of a store that was set back.
    func renew() { state.withLock { $0.watching }?.cancel() }

    /// Watches until the task is cancelled.
    func run() async {
        var pause = Pause(settings)
        while !Task.isCancelled {
            let began = MonotonicInstant.now
            do throws(StoreError) {
                let revision = try await store.read(.key(keys.nextMember), limit: 1, keysOnly: true).revision
                // Before the watch begins, which may end at once: its end closes it again.
                state.withLock { $0.isOpen = true }
                let watching = TaskHome.daemon.start { [self] in await follow(from: revision + 1) }
                state.withLock { $0.watching = watching }
                opened.nudge()
                await withTaskCancellationHandler {
                    await watching.value
                } onCancel: {
                    watching.cancel()
                }
            } catch {
                close(error)
            }
            if began.advanced(by: settings.longestPause).hasPassed { pause.reset() }
            await pause.wait()
        }
    }

    private func follow(from revision: Int64) async {
        do {
            for try await news in store.watch(keys.live, from: revision) { tell(news) }
            close(.unavailable("the watch has ended"))
        } catch {
            close(error as? StoreError ?? .unavailable("\(error)"))
        }
    }

    private func close(_ trouble: StoreError) {
        let listeners = state.withLock { state in
            (state.isOpen, state.trouble, state.watching) = (false, trouble, nil)
            defer { state.listeners = [:] }
            return state.listeners.values.map(\.queue)
        }
        for listener in listeners { listener.finish(throwing: trouble) }
    }

    /// Gives each listening namespace its own changes, and all of them the news that nothing has changed.
    private func tell(_ news: StoreNews) {
        switch news {
        case .progress:
            for listener in state.withLock({ $0.listeners.values.map(\.queue) }) { _ = listener.append(news) }
        case .changes(let changes, let revision):
            var parts: [Substring: [StoreChange]] = [:]
            for change in changes {
                if let live = keys.live(ofKey: change.key) { parts[live, default: []].append(change) }
            }
            for (live, changes) in parts {
                let listener = state.withLock { $0.listeners[String(live)]?.queue }
                _ = listener?.append(.changes(changes, revision: revision))
            }
        }
    }
}
