import Logging
import ServiceLifecycle
import SharedSpace
import SharedSpaceServices

struct Thumbnail: Codable, Sendable {
    var file: String
    var width: Int
}

/// Works on the queue, two items at a time.
@main struct Workers {
    static func main() async throws {
        let shop = try Space.default.namespace("shop")
        let worker = shop.queue("thumbnails").worker(concurrency: 2, deadline: .seconds(60)) { item in
            let job: Thumbnail = try item.content()
            let size = try await scale(job)
            // The result and the end of the item are one step: neither is there without the other.
            try item.complete { t in try t.write("scaled", job.file, size) }
        } onFailure: { error, item in
            item.deliveries < 3 ? .retry() : .bury(reason: "\(error)")
        }
        let group = ServiceGroup(
            services: [worker, NamespaceMetrics(of: shop)],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "workers")
        )
        try await group.run()
    }

    static func scale(_ job: Thumbnail) async throws -> Int {
        job.width * job.width * 3 / 4
    }
}
