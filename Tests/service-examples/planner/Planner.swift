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
        let log = Logger(label: "planner")
        let shop = try Space.default.namespace("shop")
        let planner = shop.election("planner").candidate { term in
            // The value that is there comes first, then each change.
            for try await change in try shop.changes(.cell("plan"), from: .initial) {
                // A gap says that changes were missed: what the cell has now counts.
                guard let value = change.kind == .gap ? try shop.get("plan") : change.new else { continue }
                // Any process may set the cell to anything. An error here would end this planner, and each successor.
                guard let plan = try? value.decode(Plan.self) else {
                    log.error("this is no plan, so the last one stays: \(value)")
                    continue
                }
                try shop.write("planned", Int(term), plan.width)
            }
        }
        let group = ServiceGroup(
            services: [planner],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: log
        )
        try await group.run()
    }
}
