import Glibc
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// What lists all of something prints as it reads: its memory is bounded, and neither a slow reader of its output nor a
/// signal has to wait for the rest.
@Suite("Listings are printed as they are read", .blocking, .timeLimit(.minutes(5)))
struct ListingStreamTests {
    /// How many things of 1,500 bytes there are; all together are half as large again as the memory that a listing may use.
    private static let count = 30_000

    enum Listing: String, CaseIterable {
        case dump = "space-dump --format json n"
        case dumpForPeople = "space-dump n"
        case buried = "space claims n --buried"
        case items = "space queue n q peek"
        case elements = "space items n s"
    }

    /// Makes a namespace with what a listing lists.
    private func make(_ listing: Listing, _ runner: CommandRunner) throws -> Namespace {
        let namespace = try Space(root: runner.root).namespace("n")
        let body = String(repeating: "x", count: 1500)
        for start in stride(from: 0, to: Self.count, by: 10_000) {
            let numbers = start..<start + 10_000
            switch listing {
            case .dump, .dumpForPeople: try namespace.write(contentsOf: numbers.map { Tuple($0, body) })
            case .buried:
                try namespace.write(contentsOf: numbers.map { Tuple($0, body) })
                _ = try namespace.bury(matching: [.any, .any], max: .max)
            case .items: try namespace.queue("q").put(contentsOf: numbers.map { "\($0) \(body)" })
            case .elements:
                _ = try namespace.orderedSet("s", of: String.self).append(contentsOf: numbers.map { "\($0) \(body)" })
            }
        }
        return namespace
    }

    @Test("Memory is bounded, the first line comes at once, and a signal ends the rest", arguments: Listing.allCases)
    func memoryAndSignal(_ listing: Listing) throws {
        try withRoot { (runner) throws in
            let namespace = try make(listing, runner)
            // setrlimit(2): RLIMIT_DATA bounds private memory, and not the data file's map.
            let bounded = try runner.shell(
                "ulimit -d 30000; set -e; \(listing.rawValue) > \(runner.root)/.out; wc -l < \(runner.root)/.out"
            )
            #expect(bounded.ending == .exited(0), "\(bounded.errors)")
            #expect(try #require(Int(bounded.lines.first ?? "")) >= Self.count)
            unlink("\(runner.root)/.out")

            let words = listing.rawValue.split(separator: " ").map(String.init)
            let command = try runner.start(words[0], Array(words.dropFirst()))
            #expect(try command.readLine() != nil)
            command.signal(SIGTERM)
            let ended = try command.finish()
            #expect(ended.ending == .signalled(SIGTERM))
            #expect(ended.lines.count < Self.count)
            try namespace.leave()
        }
    }

    /// A reader that takes nothing more must not keep writers from using freed pages.
    @Test("A reader that pages lets the snapshot go", arguments: [Listing.dump, .elements])
    func paging(_ listing: Listing) throws {
        try withRoot { (runner) throws in
            let namespace = try make(listing, runner)
            let words = listing.rawValue.split(separator: " ").map(String.init)
            let command = try runner.start(words[0], Array(words.dropFirst()))
            #expect(try command.readLine() != nil)
            let pid = command.pid
            #expect(try namespace.readingProcesses().contains(pid))
            #expect(try eventually { try !namespace.readingProcesses().contains(pid) })
            // It prints all of the one moment even so.
            try namespace.write("new")
            let result = try command.finish()
            #expect(result.ending == .exited(0))
            #expect(result.lines.count >= Self.count)
            #expect(!result.output.contains(#"["new"]"#))
            try namespace.leave()
        }
    }
}
