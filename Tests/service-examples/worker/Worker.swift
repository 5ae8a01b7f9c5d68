import SharedSpace

@main
struct Worker {
    static func main() async throws {
        let jobs = try Space().namespace("jobs")
        while let (_, number, file) = try await jobs.take(
            "resize",
            any(Int.self),
            any(String.self),
            timeout: .seconds(60)
        ) {
            let size = file.utf8.count  // here the work would be done
            try jobs.write("resized", number, size)
        }
    }
}
