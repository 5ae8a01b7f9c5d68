import SharedSpace

@main
struct Worker {
    static func main() async throws {
        let jobs = try Space().namespace("jobs")
        while true {
            try await jobs.claim("resize", any(Int.self), any(String.self)) { _, number, file in
                try jobs.write("resized", number, try await resize(file))
            }
        }
    }
}

private func resize(_ file: String) async throws -> Int { file.utf8.count }
