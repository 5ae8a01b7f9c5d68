import Logging
import ServiceLifecycle
import SharedSpace
import SharedSpaceServices

struct Plan: Codable, Sendable {
    var width: Int
}

/// One of several planners leads, and follows the configuration; the others wait until it ends.
@main struct Planner {
    static func main() async throws {
        let shop = try Space.default.namespace("shop")
        let planner = shop.election("planner").candidate { term in
            // The value that is there comes first, then each change.
            for try await change in try shop.changes(.cell("plan"), from: .initial) {
                guard let plan: Plan = try change.new?.decode() else { continue }
                try shop.write("planned", Int(term), plan.width)
            }
        }
        let group = ServiceGroup(
            services: [planner],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "planner")
        )
        try await group.run()
    }
}
