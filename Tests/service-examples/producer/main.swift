import SharedSpace

let jobs = try Space().namespace("jobs")
let files = CommandLine.arguments.dropFirst()

for (number, file) in files.enumerated() {
    try jobs.write("resize", number, file)
}
for _ in files {
    let (_, number, size) = try await jobs.take("resized", any(Int.self), any(Int.self))
    print("job \(number): \(size) bytes")
}
