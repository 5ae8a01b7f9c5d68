import SharedSpace

/// Does jobs until it is killed: each is completed, noted and counted in one step.
@main
struct Worker {
    static func main() async throws {
        let jobs = try Space().namespace("jobs")
        while true {
            let claim = try await jobs.claim("job", any(Int.self))
            let number = claim.content.1
            try claim.complete { t in
                try t.write("done", number, "swift")
                try t.increment("count")
            }
        }
    }
}
