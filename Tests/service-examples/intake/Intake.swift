import Logging
import ServiceLifecycle
import SharedSpaceObjects
import SharedSpaceServices

struct Thumbnail: Codable, Sendable {
    var file: String
    var width: Int
}

struct BadWidth: Error {}

/// Answers the requests of other processes for thumbnails, and puts them into a queue.
@main struct Intake {
    static func main() async throws {
        let shop = try Space.default.namespace("shop")
        let thumbnails = shop.queue("thumbnails")
        let intake = SpaceService {
            let token = try shop.respond(to: "thumbnail") { (job: Thumbnail) in
                guard job.width > 0 else { throw BadWidth() }
                return try thumbnails.put(job).id
            }
            try await gracefulShutdown()
            token.cancel()
        }
        let group = ServiceGroup(
            services: [intake],
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "intake")
        )
        try await group.run()
    }
}
