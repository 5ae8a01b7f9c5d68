public import Metrics
public import ServiceLifecycle
public import SharedSpace
import SpaceInspection

/// A service that records a namespace's numbers as gauges, again and again.
///
/// The gauges are `shared_space_tuples`, `_cells`, `_bytes`, `_waiters`, `_watchers`, `_owners`, `_claims` and
/// `_buried`, each with the dimension `namespace`; and for each work queue `shared_space_queue_items` with the
/// dimensions `namespace`, `queue` and `state` (`ready`, `delayed`, `taken`, `blocked`, `buried`). A look at the status
/// is one snapshot, which delays no other process. The service ends when the namespace is deleted.
///
/// If latencies are measured (``Namespace/setMeasuringLatency(_:)``), there are also the histograms
/// `shared_space_wait_seconds` and `shared_space_hand_off_seconds`, which count the waits of all processes. Each is
/// recorded in the form that Prometheus knows, as gauges: `_bucket` with the dimension `le`, a bucket's upper bound in
/// seconds, whose value is the number of durations up to that bound; `_sum`, in seconds; and `_count`.
/// `histogram_quantile` and `rate` read them as they read the series of `space metrics`.
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
    package func record() throws(SpaceError) {
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
            guard let items = object.queue?.items else { continue }
            for (state, number) in items.numbers {
                record(number, "queue_items", ("queue", object.name), ("state", state))
            }
        }
        if let latency = status.latency {
            record(latency.waiting, "wait_seconds")
            record(latency.handOff, "hand_off_seconds")
        }
    }

    private func record(_ histogram: LatencyHistogram, _ name: String) {
        for (bound, count) in histogram.cumulative {
            record(count, "\(name)_bucket", ("le", bound.map { "\($0 / .seconds(1))" } ?? "+Inf"))
        }
        gauge("\(name)_sum").record(histogram.total / .seconds(1))
        record(histogram.count, "\(name)_count")
    }

    private func record(_ number: Int, _ name: String, _ dimensions: (String, String)...) {
        gauge(name, dimensions).record(number)
    }

    private func gauge(_ name: String, _ dimensions: [(String, String)] = []) -> Gauge {
        Gauge(
            label: "shared_space_\(name)",
            dimensions: [("namespace", namespace.name)] + dimensions,
            factory: factory
        )
    }
}
