import ClusterStore
import SpaceEngine
import SpaceMachines
import SpaceSystem
import Synchronization

/// The time for which this machine is one member: its leases, and the namespaces that it takes part in.
final class ClusterSession: Sendable {
    let store: any Store
    let keys: ClusterKeys
    let root: any ReplicaRoot
    let settings: ClusterSettings
    let registrar: Registrar
    let membership: Membership
    let endedLives: EndedLives
    private let watch: SpaceWatch
    /// Nudged when another namespace is known, or all are.
    private let news: Nudge
    /// The namespaces, by name.
    private let namespaces = Mutex<[NamespaceName: LiveNamespace]>([:])
    /// The names that are being made replicated; meanwhile the founder alone uses the namespace of this root.
    private let founding = Mutex<Set<NamespaceName>>([])
    private let lives = Mutex(KnownLives())

    init(
        store: any Store,
        keys: ClusterKeys,
        root: any ReplicaRoot,
        settings: ClusterSettings,
        registrar: Registrar,
        membership: Membership,
        news: Nudge
    ) {
        self.store = store
        self.keys = keys
        self.root = root
        self.settings = settings
        self.registrar = registrar
        self.membership = membership
        endedLives = EndedLives(store: store, keys: keys)
        watch = SpaceWatch(store, keys, settings)
        self.news = news
    }

    /// The namespace of a name, if this machine takes part in it.
    func namespace(_ name: NamespaceName) -> LiveNamespace? { namespaces.withLock { $0[name] } }

    var all: [LiveNamespace] { namespaces.withLock { Array($0.values) } }

    /// Whether the store is known to have no life of a name, or another life than this one.
    ///
    /// The answer is `false` while the namespace is being made replicated, because the store may get this life.
    func isGone(_ name: NamespaceName, _ life: UInt64) -> Bool {
        guard !founding.withLock({ $0.contains(name) }) else { return false }
        return lives.withLock { $0.isGone(name, life) }
    }

    /// Whether the store has a life of a name; `nil` while that is not known.
    func knows(_ name: NamespaceName) -> Bool? { lives.withLock { $0.has(name) } }

    /// Lives until a lease is lost or the task is cancelled.
    ///
    /// - Parameter report: Told when all namespaces are known, and the store's troubles.
    /// - Throws: Why it has ended.
    func run(_ report: @escaping @Sendable (DaemonNews) -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { [self] in
                try await registrar.keep(membership.lease, seconds: settings.leaseSeconds)
            }
            group.addTask { [self] in
                try await registrar.keep(
                    membership.ownerLease,
                    seconds: max(settings.ownerSeconds, settings.leaseSeconds)
                )
            }
            group.addTask { [self] in try await discover { report(.joined) } }
            group.addTask { [self] in await watch.run() }
            group.addTask { [self] in try await lookNowAndThen() }
            group.addTask { [self] in try await askForTroubles(report) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    // MARK: Founding

    private var founder: Founder { Founder(store: store, keys: keys, root: root, member: membership.number) }

    /// Makes a namespace of this root one of all machines.
    func replicate(_ name: NamespaceName) async -> DaemonAnswer {
        let founder = founder
        // A process that comes second waits here, and then finds the namespace that the first one has made.
        while true {
            let seen = news.count
            if founding.withLock({ $0.insert(name).inserted }) { break }
            guard !Task.isCancelled else { return .unavailable("the process does not wait any more") }
            await news.wait(after: seen)
        }
        let found = try? await onThread { founder.found(name) }
        // The watch delivers the life later; until then ``isGone(_:_:)`` would say that the namespace is gone.
        if case .success(let stored)? = found { lives.withLock { $0.learn(name, stored.life, at: stored.revision) } }
        _ = founding.withLock { $0.remove(name) }
        news.nudge()
        switch found {
        case .success(let stored)?:
            await waitUntilEntered(name, stored.life)
            return .done
        case .failure(let failure)?: return failure.answer
        case nil: return .unavailable("the daemon can't start a thread")
        }
    }

    /// Waits until this machine takes part in a namespace that it has founded.
    ///
    /// So a process that writes next need not wait. The namespace is replicated in any case.
    private func waitUntilEntered(_ name: NamespaceName, _ life: NamespaceLife) async {
        let deadline = MonotonicInstant.now.advanced(by: settings.answerTime)
        while !deadline.hasPassed, !Task.isCancelled {
            let seen = news.count
            if isGone(name, life.number) { return }
            if let namespace = namespace(name), namespace.keys.life == life {
                await namespace.waitUntilEntered(until: deadline)
                return
            }
            await news.wait(after: seen, until: deadline)
        }
    }

    // MARK: Looking whether the watch is silent

    /// How many namespaces are looked at in one transaction: two reads each, of the 128 operations that etcd takes
    /// (`--max-txn-ops`).
    private static let mostLooks = 60

    /// Reads the lives and the heads of all namespaces now and then, in as few transactions as possible.
    private func lookNowAndThen() async throws {
        while true {
            try await Task.sleep(for: settings.lookInterval)
            var rest = all[...]
            while !rest.isEmpty {
                let part = rest.prefix(Self.mostLooks)
                rest = rest.dropFirst(part.count)
                if await lookAt(part) { watch.renew() }
            }
        }
    }

    /// - Returns: Whether the watch has to begin again.
    private func lookAt(_ namespaces: some Sequence<LiveNamespace>) async -> Bool {
        var looks: [(LiveNamespace, HeadLooks.Look)] = []
        for namespace in namespaces {
            if let look = await namespace.beginLook() { looks.append((namespace, look)) }
        }
        let reads = looks.flatMap { (namespace, _) -> [StoreOperation] in
            [.read(.key(namespace.keys.id)), .read(.key(namespace.keys.key(.head)))]
        }
        guard !looks.isEmpty, let outcome = try? await store.transact(then: reads),
            outcome.readings.count == reads.count
        else { return false }
        var mustRenew = false
        for (index, (namespace, look)) in looks.enumerated() {
            let (id, head) = (outcome.readings[2 * index].first, outcome.readings[2 * index + 1].first)
            let isSilent = await namespace.endLook(look, id: id, head: head, revision: outcome.revision)
            mustRenew = mustRenew || isSilent
        }
        return mustRenew
    }

    // MARK: Discovery

    /// Takes part in each namespace that the store has, and removes the replicas of others, or sets them aside.
    private func discover(_ onReady: @escaping @Sendable () -> Void) async throws {
        let root = root
        let local = Set(try await onThread { try root.replicaNames() }.compactMap { try? NamespaceName($0) })
        await withTaskGroup(of: Void.self) { group in
            var slots: [NamespaceName: NamespaceSlot] = [:]
            func set(_ life: NamespaceLife?, of name: NamespaceName) async {
                if let slot = slots[name] { return await slot.set(life) }
                let slot = makeSlot(name)
                slots[name] = slot
                // First the life: without one, a slot removes the replica that is here.
                await slot.set(life)
                group.addTask { await slot.run() }
            }
            var pause = Pause(settings)
            while !Task.isCancelled {
                do {
                    lives.withLock { $0.beginReading() }
                    let reading = try await store.read(keys.ids, limit: nil, keysOnly: false)
                    var found: [NamespaceName: NamespaceLife] = [:]
                    for row in reading.rows { if let (name, life) = read(row) { found[name] = life } }
                    for name in local.union(slots.keys).union(found.keys) { await set(found[name], of: name) }
                    lives.withLock { $0.learn(all: found, at: reading.revision) }
                    news.nudge()
                    onReady()
                    pause.reset()
                    for try await news in store.watch(keys.ids, from: reading.revision + 1) {
                        guard case .changes(let changes, _) = news else { continue }
                        for change in changes {
                            guard let name = keys.name(ofKey: change.key) else { continue }
                            let life = change.row.flatMap { read($0)?.1 }
                            lives.withLock { $0.learn(name, life, at: change.revision) }
                            await set(life, of: name)
                            self.news.nudge()
                        }
                    }
                } catch {
                    // The store is read again.
                }
                await pause.wait()
            }
            group.cancelAll()
        }
    }

    private func read(_ row: StoreRow) -> (NamespaceName, NamespaceLife)? {
        guard let name = keys.name(ofKey: row.key), let number = row.number, number != 0 else { return nil }
        return (name, NamespaceLife(number: number))
    }

    private func makeSlot(_ name: NamespaceName) -> NamespaceSlot {
        let isFounding = { @Sendable [weak self] in self?.founding.withLock { $0.contains(name) } ?? true }
        return NamespaceSlot(
            name,
            make: { [self] life in
                LiveNamespace(
                    keys: keys.namespace(name, life),
                    store: store,
                    root: root,
                    settings: settings,
                    registrar: registrar,
                    membership: membership,
                    endedLives: endedLives,
                    watch: watch,
                    isFounding: isFounding
                )
            },
            removeEarlier: { [root, founder, endedLives] in
                guard !isFounding() else { return }
                let replica = try await onThread { () throws -> (any Replica)? in
                    // What this machine was publishing is no earlier life.
                    if try founder.mend(name) { return nil }
                    return try root.replica(named: name.text)
                }
                if let replica { try await endedLives.end(replica) }
            },
            change: { [weak self] namespace in
                self?.namespaces.withLock { $0[name] = namespace }
                self?.news.nudge()
            }
        )
    }
}
