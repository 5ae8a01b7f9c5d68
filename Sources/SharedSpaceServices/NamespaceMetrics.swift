public import Metrics
public import ServiceLifecycle
public import SharedSpace

/// A service that records a namespace's numbers as gauges, again and again.
///
/// The gauges are `shared_space_tuples`, `_cells`, `_bytes`, `_waiters`, `_watchers`, `_owners`, `_claims` and `_buried`,
/// each with the dimension `namespace`; and for each work queue `shared_space_queue_items` with the dimensions
/// `namespace`, `queue` and `state` (`ready`, `delayed`, `taken`, `blocked`, `dead`). A look at the status is one snapshot,
/// which holds up no other process. A namespace that is deleted ends the service.
public struct NamespaceMetrics: Service {
    private let namespace: Namespace
    private let interval: Duration
    private let factory: any MetricsFactory

    /// Makes the service.
    ///
    /// - Parameters:
    ///   - namespace: The namespace.
    ///   - interval: The time between two looks.
    ///   - factory: Where the gauges are recorded; by default the one that the program has set up.
    public init(
        of namespace: Namespace,
        every interval: Duration = .seconds(10),
        factory: any MetricsFactory = MetricsSystem.factory
    ) {
        self.namespace = namespace
        self.interval = interval
        self.factory = factory
    }

    /// Records until the group shuts down.
    public func run() async throws {
        try await SpaceService {
            while true {
                do {
                    try record()
                } catch let error as SpaceError where error.code == .namespaceDeleted {
                    return
                }
                try await Task.sleep(for: interval)
            }
        }
        .run()
    }

    /// Looks once, and records what it finds.
    ///
    /// - Throws: `namespaceDeleted`, `readersExhausted`, `damaged`.
    public func record() throws(SpaceError) {
        let status = try namespace.status()
        record(status.tuples, "tuples")
        record(status.cells, "cells")
        record(status.bytes, "bytes")
        record(status.waiters.count, "waiters")
        record(status.watchers.count, "watchers")
        record(status.owners.count(where: \.isAlive), "owners")
        record(status.claims.count, "claims")
        record(status.buried.count, "buried")
        for object in status.objects {
            guard let items = object.items else { continue }
            let counts = [
                ("ready", items.ready), ("delayed", items.delayed), ("taken", items.taken), ("blocked", items.blocked),
                ("dead", items.dead),
            ]
            for (state, count) in counts { record(count, "queue_items", ("queue", object.name), ("state", state)) }
        }
    }

    private func record(_ number: Int, _ name: String, _ dimensions: (String, String)...) {
        Gauge(
            label: "shared_space_\(name)",
            dimensions: [("namespace", namespace.name)] + dimensions,
            factory: factory
        )
        .record(number)
    }
}
