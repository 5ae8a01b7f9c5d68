import ClusterStore
import SpaceEngine

extension ClusterSession {
    /// How long a report waits for the store; it asks three things at once, and a member of etcd that hangs costs 1.5 s.
    private static let patience = Duration.seconds(2)

    /// What the store says of itself, and what is wrong with its members; `nil` if it does not answer.
    func storeState() async -> ClusterReport.StoreState? {
        let store = store
        async let members = members()
        guard let status = await result(within: Self.patience, { try await store.status() }) else { return nil }
        let troubles =
            status.troubles + Self.twins(await members ?? [])
            + Registrar.troubles(ofLast: membership.number)
        return ClusterReport.StoreState(version: status.version, troubles: troubles)
    }

    /// The names that more than one daemon has.
    private static func twins(_ members: [ClusterReport.Member]) -> [String] {
        Dictionary(grouping: members.filter { $0.number == $0.first }, by: \.machine)
            .filter { $0.value.count > 1 }
            .map { name, twins in
                "members \(twins.map { "\($0.number)" }.joined(separator: " and ")) are all named \(name): start each "
                    + "machine with a name of its own (space join --name), unless one was just started again"
            }
            .sorted()
    }

    /// The replicas of this root that were set aside, in words, with the reason if this session has done it.
    func copiesAside() async -> [String] {
        let (root, reasons) = (root, endedLives.reasons)
        let places = (try? await onThread { try root.copiesAside() }) ?? []
        return places.map { place in
            reasons[place].map { "\($0); it was set aside: \(place)" } ?? "a replica was set aside: \(place)"
        }
    }

    /// Asks the store now and then what is wrong with it, and the namespaces what has happened.
    func askForTroubles(_ tell: (DaemonNews) -> Void) async throws {
        while true {
            for namespace in all {
                let name = namespace.keys.name.text
                for event in await namespace.takeUntoldEvents() { tell(.event("\(name): \(event)")) }
            }
            if let state = await storeState() {
                var troubles = state.troubles
                for namespace in all {
                    troubles += await namespace.lastingTroubles.map { "\(namespace.keys.name.text): \($0)" }
                }
                tell(.troubles(troubles + (await copiesAside())))
            }
            try await Task.sleep(for: settings.statusInterval)
        }
    }

    /// The present members, by number; `nil` if the store does not answer.
    func members() async -> [ClusterReport.Member]? {
        let (store, keys) = (store, keys)
        let reading = await result(within: Self.patience) {
            try await store.read(keys.members, limit: nil, keysOnly: false)
        }
        return reading.map { reading in
            let found = reading.rows.compactMap { row -> (number: UInt32, machine: String, lease: StoreLease)? in
                guard let number = keys.member(ofKey: row.key), let value = try? MemberValue(decoding: row.value)
                else { return nil }
                return (number, value.machine, row.lease)
            }
            // A daemon has one lease, and so have all of its numbers.
            let first = Dictionary(found.map { ($0.lease, $0.number) }, uniquingKeysWith: min)
            return found.map {
                ClusterReport.Member(number: $0.number, machine: $0.machine, first: first[$0.lease] ?? $0.number)
            }
            .sorted { $0.number < $1.number }
        }
    }

    /// What this machine knows of a namespace, or of all; the store is asked only for the head of the one.
    func reports(of name: NamespaceName?) async -> [ClusterReport.Namespace] {
        guard let name else {
            var reports: [ClusterReport.Namespace] = []
            for namespace in all { reports.append(await namespace.report()) }
            return reports.sorted { $0.name < $1.name }
        }
        guard let namespace = namespace(name) else { return [] }
        let head = await result(within: Self.patience) { try await namespace.appender.readHead() }
        var report = await namespace.report()
        report.head = head
        return [report]
    }
}

extension LiveNamespace {
    fileprivate func report() async -> ClusterReport.Namespace {
        // Processes apply their own entries; what the daemon knows of that may be a moment old.
        let replica = replica
        let position = try? await onThread { try replica?.position().entry }
        return ClusterReport.Namespace(
            name: keys.name.text,
            durable: await appender.head,
            applied: max(applied, position ?? 0),
            pen: await appender.penHolder,
            joined: joined.keys.sorted(),
            owners: owners.keys.sorted(),
            base: manifest?.position.entry ?? 0,
            troubles: allTroubles,
            events: events.all
        )
    }
}
