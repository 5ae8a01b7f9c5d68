import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The examples of "Getting started".
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct GettingStartedExamples {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    /// Stands for the space's default root.
    private func Space() throws -> SharedSpace.Space { root.space }

    @Test func opening() throws {
        func open() throws -> [String] {
            let space = try Space()
            let jobs = try space.namespace("jobs")
            return [jobs.name, space.root]
        }
        #expect(try open() == ["jobs", root.path])
    }

    private enum InAClass {
        static func Space() throws -> SharedSpace.Space { try SpaceTest.root().space }

        final class Worker: Sendable {
            private let jobs: Namespace

            init() throws { jobs = try Space().namespace("jobs") }
        }
    }

    @Test func aHandleInAClass() throws { _ = try InAClass.Worker() }

    @Test func writing() throws {
        try jobs.write("resize", 42, "cat.png")  // one tuple of three fields
        try jobs.write(tuple: ["resize", 43, "dog.png"])  // one that is made already
        try jobs.write(contentsOf: [["resize", 44, "cow.png"], ["resize", 45, "owl.png"]])  // all or none
        try jobs.write("ping", expires: .seconds(30))  // invisible after that time
        #expect(try jobs.count() == 5)
    }

    @Test func takingAndReading() async throws {
        for number in 41..<44 { try jobs.write("resize", number, "cat.png") }
        if let (_, number, file) = try jobs.takeIfExists("resize", any(Int.self), any(String.self)) {
            print(number, file)
        }

        let (_, number, file) = try await jobs.take("resize", any(Int.self), any(String.self))  // waits, without limit

        if let (_, number, file) = try await jobs.read("resize", 40..<50, any(String.self), timeout: .seconds(5)) {
            print(number, file)  // and is still there
        }
        #expect(number == 42 && file == "cat.png")
        #expect(try jobs.count() == 1)
    }

    @Test func looking() throws {
        try jobs.write("resize", 42, "cat.png")
        let all = try jobs.readAll(matching: ["resize", .any, .any])  // one snapshot
        let left = try jobs.count(matching: ["resize", .any, .any])
        #expect(all.count == 1 && left == 1)
    }

    @Test func records() async throws {
        struct Job: Codable {
            var kind: String
            var id: Int
            var file: String
        }

        try jobs.write(record: Job(kind: "resize", id: 42, file: "cat.png"))
        let job = try await jobs.take(matching: .record(Job.self, ["kind": "resize", "id": .any]))
        #expect(job.file == "cat.png")
    }

    @Test func selections() async throws {
        for id in 0..<3 { try jobs.write("resize", id, "\(id).png") }
        try jobs.write("stop")
        let next = Selection("resize", any(Int.self), any(String.self))
        while let (_, id, file) = try jobs.takeIfExists(matching: next) { print(id, file) }
        let either = try await jobs.take(matching: .anyOf(["resize", .rest], ["stop"]))
        #expect(try either == ["stop"] && jobs.count() == 0)
    }

    @Test func cells() async throws {
        try jobs.set("ready", true)
        try jobs.set("progress", 0.5)
        let progress: Double? = try jobs.get("progress")

        try jobs.increment("done")  // 1, 2, …: no update is lost
        let isFirst = try jobs.setIfAbsent("leader", 1)
        let hasWon = try jobs.set("leader", 2, ifEquals: 1)

        let ready: Bool? = try await jobs.get("ready", timeout: .seconds(5))  // waits until it is set
        try jobs.unset("progress")
        #expect(progress == 0.5 && isFirst && hasWon && ready == true)
        #expect(try jobs.cells().map(\.key).sorted() == ["done", "leader", "ready"])
    }

    @Test func errors() throws {
        do {
            try jobs.write("resize", 42, "cat.png")
        } catch  where error.code == .holderStopped {
            print("process \(error.holder ?? 0) is stopped in the middle of a write")
        } catch  where error.code == .namespaceDeleted {
            print("open it again")
        } catch {
            print(error)
        }
        #expect(try jobs.count() == 1)
    }

    /// Beside other errors and in closures, the error's type is named.
    @Test func errorsBesideOthers() throws {
        func refreshScreen() throws {}
        let jobs = jobs
        let work = {
            do {
                try jobs.write("resize", 42)
                try refreshScreen()
            } catch let error as SpaceError where error.code == .storageFull {
                print("no room:", error.advice ?? "")
            }
        }
        try work()
        #expect(try jobs.count() == 1)
    }
}

/// The one-liners of the default space, in a suite with a stand-in for it.
@Suite(.timeLimit(.minutes(5)))
struct OneLinerExamples {
    private struct Space {
        static let root = Result { try TemporaryRoot() }
        static var `default`: SharedSpace.Space { get throws { try root.get().space } }
    }

    @Test func oneLiners() throws {
        try Space.default["App"].write("resize", 42)
        let job = try Space.default["App"].takeIfExists("resize", any(Int.self))
        #expect(job?.1 == 42)
        try Space.default["App"].letGo()
    }
}
