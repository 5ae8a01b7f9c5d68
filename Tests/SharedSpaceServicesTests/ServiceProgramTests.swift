import Glibc
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// The programs that the article "Daemons" shows, as real processes that are ended and killed.
@Suite(.spaceTest, .blocking, .timeLimit(.minutes(5)))
struct ServiceProgramTests {
    let root: TemporaryRoot
    let shop: Namespace
    let runner: CommandRunner

    init() throws {
        root = try SpaceTest.root()
        shop = try SpaceTest.namespace("shop")
        runner = CommandRunner(root: root.path)
    }

    struct Thumbnail: Codable, Sendable {
        var file: String
        var width: Int
    }

    /// Starts a program, and returns once `isThere` says that it is at work.
    private func start(_ name: String, _ isThere: () throws -> Bool) throws -> RunningCommand {
        let program = try runner.start("example-\(name)", [])
        #expect(try eventually(isThere), "\(name)")
        return program
    }

    private func startIntake() throws -> RunningCommand {
        try start("intake") { try shop.hasResponder(to: "thumbnail") }
    }

    private func startWorkers() throws -> RunningCommand {
        let before = try shop.status().holds.count
        return try start("workers") { try shop.status().holds.count >= before + 2 }
    }

    /// Ends a program as a service manager does, and checks that it ends well.
    private func end(_ program: RunningCommand) throws {
        program.signal(SIGTERM)
        let result = try program.finish()
        #expect(result.ending == .exited(0), "\(result.errors)")
    }

    /// The files that were scaled, each result taken once.
    private func scaled(_ count: Int) throws -> [String] {
        var files: [String] = []
        while files.count < count {
            let result = try shop.take("scaled", any(String.self), any(Int.self), timeout: .seconds(60))
            files.append(try #require(result).1)
        }
        return files
    }

    @Test func idleServicesEndWell() throws {
        let intake = try startIntake()
        let workers = try startWorkers()
        let planner = try start("planner") { try shop.election("planner").leader() != nil }
        for program in [intake, workers, planner] { try end(program) }
        #expect(try eventually { try shop.status().holds.isEmpty && !shop.hasResponder(to: "thumbnail") })
        #expect(try shop.verify() == [])
    }

    @Test func whatIsAskedForIsDone() throws {
        let intake = try startIntake()
        for number in 0..<20 {
            let done: UInt64? = try shop.request(
                "thumbnail",
                Thumbnail(file: "\(number).png", width: 4),
                timeout: .seconds(60)
            )
            #expect(done != nil)
        }
        let bad = #expect(throws: SpaceError.self) {
            let _: UInt64? = try shop.request("thumbnail", Thumbnail(file: "x", width: 0), timeout: .seconds(60))
        }
        #expect(bad?.code == .responderFailed)
        try end(intake)
        let workers = try startWorkers()
        #expect(try scaled(20).sorted() == (0..<20).map { "\($0).png" }.sorted())
        try end(workers)
        #expect(try shop.count() == 0)
        #expect(try shop.queue("thumbnails").items().isEmpty)
        #expect(try shop.verify() == [])
    }

    /// Workers are killed while they work: each job is done once, because its result and its end are one step.
    @Test func killedWorkersLoseNothing() throws {
        let queue = shop.queue("thumbnails")
        let count = 400
        for number in 0..<count { try queue.put(Thumbnail(file: "\(number).png", width: 4)) }
        var done: [String] = []
        for round in 0..<4 {
            // A worker is killed once its work is seen, wherever it then is; the last one ends well. Those before it may
            // have left it nothing to do: then it is seen by its holds.
            #expect(try eventually { try shop.status().holds.isEmpty })
            let workers = try startWorkers()
            done += try scaled(min(round < 3 ? 20 : count, count - done.count))
            if round < 3 {
                workers.signal(SIGKILL)
                #expect(try workers.wait() == .signalled(SIGKILL))
                while let more = try shop.takeIfExists("scaled", any(String.self), any(Int.self)) {
                    done.append(more.1)
                }
            } else {
                try end(workers)
            }
        }
        #expect(done.sorted() == (0..<count).map { "\($0).png" }.sorted())
        #expect(try queue.items().isEmpty && shop.count() == 0)
        #expect(try shop.verify() == [])
    }

    /// The two programs of "Getting started", and the worker of the README.
    @Test(arguments: ["worker", "claimer"]) func aProducerAndAWorker(_ name: String) throws {
        let jobs = try SpaceTest.namespace("jobs")
        let worker = try start(name) { try jobs.status().waiters.count == 1 }
        let producer = try runner.start("example-producer", ["cat.png", "elk.jpeg"]).finish()
        #expect(producer.ending == .exited(0), "\(producer.errors)")
        #expect(producer.lines == ["job 0: 7 bytes", "job 1: 8 bytes"])
        worker.signal(SIGTERM)
        #expect(try worker.wait() == .signalled(SIGTERM))
        #expect(try jobs.count() == 0)
    }

    @Test func theNextPlannerGoesOn() throws {
        try shop.set("plan", ["width": 5])
        let first = try start("planner") { try shop.election("planner").leader() != nil }
        let second = try start("planner") { try shop.status().holds.count == 2 }
        func planned() throws -> (term: Int, width: Int) {
            let plan = try shop.take("planned", any(Int.self), any(Int.self), timeout: .seconds(60))
            let (_, term, width) = try #require(plan)
            return (term, width)
        }
        let before = try planned()
        #expect(before.width == 5)
        first.signal(SIGKILL)
        #expect(try first.wait() == .signalled(SIGKILL))
        let after = try planned()
        #expect(after.width == 5 && after.term > before.term)
        try shop.set("plan", ["width": 6])
        let changed = try planned()
        #expect(changed.width == 6 && changed.term == after.term)
        try end(second)
        #expect(try shop.election("planner").leader() == nil)
    }

    @Test func aBadPlanAndAGapEndNoPlanner() throws {
        try shop.set("plan", "wide")
        let planner = try start("planner") { try shop.election("planner").leader() != nil }
        let term = try #require(try shop.election("planner").leader()).term
        func planned() throws -> Int {
            let plan = try shop.take("planned", any(Int.self), any(Int.self), timeout: .seconds(60))
            let (_, planningTerm, width) = try #require(plan)
            #expect(planningTerm == Int(term))
            return width
        }
        try shop.set("plan", ["width": 5])
        #expect(try planned() == 5)
        try shop.set("plan", ["size": 6])
        try shop.set("plan", ["width": 7])
        #expect(try planned() == 7)

        try planner.stop()
        try shop.set("plan", ["width": 8])
        // More than the journal keeps for a watcher.
        let noise = String(repeating: "x", count: 1 << 20)
        for _ in 0..<20 { try shop.post("noise", noise) }
        planner.signal(SIGCONT)
        #expect(try planned() == 8)
        try end(planner)
        #expect(try shop.election("planner").leader() == nil)
    }
}
