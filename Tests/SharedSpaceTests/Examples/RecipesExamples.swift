import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The examples of "Recipes", each of them run.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RecipesExamples {
    private let examples = Examples()
    let jobs: Namespace

    init() throws { jobs = try SpaceTest.namespace("jobs") }

    @Test func holding() async throws {
        try await examples.holding(jobs, try SpaceTest.namespace("cluster"), "cat.png")
        #expect(try jobs.status().holds == [])
    }

    @Test func holdingMore() async throws {
        let cluster = try SpaceTest.namespace("cluster")
        let changes = try cluster.changes(.object("scheduler"))
        try await examples.holdingMore(jobs, try SpaceTest.namespace("bank"), cluster)
        var kinds: [ChangeKind] = []
        while kinds.count < 3, let change = try await changes.next(timeout: .seconds(60)) { kinds.append(change.kind) }
        #expect(kinds == [.hold, .proclaim, .release])
        #expect(try jobs.semaphore("downloads", permits: 4).tryAcquire(8) != nil)
        examples.token?.cancel()
    }

    @Test func pooling() async throws { try await examples.pooling(jobs) }

    @Test func counting() async throws {
        let (examples, jobs) = (examples, jobs)
        async let waited: Void = examples.counting(jobs)
        for _ in 0..<2 { try jobs.latch("ready", count: 3).countDown() }
        try await waited
        #expect(try jobs.latch("ready", count: 3).remaining() == 0)
    }

    @Test func queueing() async throws {
        let (examples, jobs) = (examples, jobs)
        let working = Task { try await examples.queueing(jobs) }
        let mail = jobs.queue("mail")
        #expect(
            try await eventually { try mail.items().map(\.value) == ["newsletter"] && jobs.status().waiters.count == 1 }
        )
        working.cancel()
        try await working.value
        try mail.drain()
        try mail.put("again")
        try await examples.finishing(jobs)
        #expect(try jobs.queue("report").items().map(\.value) == [["sent": "again"]])
        #expect(try mail.items().isEmpty)
    }

    @Test func resting() async throws {
        try jobs.write("resize", 1, "cat.png")
        try await examples.resting(jobs)
        #expect(try jobs.count() == 0)
    }
}

private func deploy(fencing: UInt64) async throws {}
private func download(_ file: String) async throws {}
private func schedule(until isOver: @Sendable () -> Bool, fencing: UInt64) async throws {}
private func send(_ value: Value) async throws {}
private func transfer() async throws {}
private func listen() async throws -> String { "localhost:80" }
private func serve(fencing: UInt64) async throws {}

private final class Examples: @unchecked Sendable {
    var token: ObservationToken?

    func holding(_ jobs: Namespace, _ cluster: Namespace, _ file: String) async throws {
        try await jobs.lock("deploy").withLock { fencing in try await deploy(fencing: fencing) }
        try await jobs.semaphore("downloads", permits: 4).withPermits { _ in try await download(file) }
        try await cluster.election("scheduler").lead { term in
            try await schedule(until: { Task.isCancelled }, fencing: term)
        }
    }

    func holdingMore(_ jobs: Namespace, _ bank: Namespace, _ cluster: Namespace) async throws {
        let isDone = try await bank.withLocks(["account/7", "account/9"], timeout: .seconds(5)) { _ in
            try await transfer()
        }
        if !isDone { print("another process holds one of them: nothing was transferred") }
        try jobs.semaphore("downloads", permits: 4).setPermits(8)
        token = try cluster.observe(.object("scheduler")) { change in
            if change.kind == .hold { print("leads:", change.new ?? .null) }
        }
        try await cluster.election("scheduler").lead(as: "starting") { term in
            let address = try await listen()
            try cluster.election("scheduler").proclaim(address, term: term)
            try await serve(fencing: term)
        }
    }

    func counting(_ jobs: Namespace) async throws {
        let ready = jobs.latch("ready", count: 3)
        try ready.countDown()
        try await ready.wait()
    }

    func queueing(_ jobs: Namespace) async throws {
        let mail = jobs.queue("mail", deliveries: 5)
        try mail.put(["to": "ada@example.org"], priority: 1, group: "ada")
        try mail.put("newsletter", delay: .seconds(3600))
        try mail.put(contentsOf: [["to": "bob@example.org"], ["to": "eve@example.org"]])
        try mail.put(["report": "today"], unique: "report")
        try await mail.work(deadline: .seconds(60)) { item in
            try await send(item.value)
        } onFailure: { error, item in
            error is BadAddress ? .bury(reason: "no such address") : .retry()
        }
    }

    private struct BadAddress: Error {}

    func finishing(_ jobs: Namespace) async throws {
        let item = try await jobs.queue("mail").take()
        let report = jobs.queue("report")
        try item.complete { t in
            try t.set("sent/\(item.id)", true)
            try t.queue(report).put(["sent": item.value])
        }
    }

    func pooling(_ lab: Namespace) async throws {
        func train(on number: Int) async throws -> Double { Double(number) }
        try lab.write("gpu", 0)
        try lab.write("gpu", 1)
        let loss = try await lab.claim("gpu", any(Int.self), keeping: true) { _, number in try await train(on: number) }
        #expect(try loss == 0 && lab.count() == 2)
    }

    func resting(_ jobs: Namespace) async throws {
        let claim = try await jobs.claim("resize", any(Int.self), any(String.self))
        try claim.release(delay: .seconds(30))
    }
}
