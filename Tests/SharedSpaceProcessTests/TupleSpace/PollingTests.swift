import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// A process that polls, and never waits, gets back the tuples that a killed process had claimed, and a look shows no
/// dead holder.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct PollingTests {
    let root: TemporaryRoot
    /// The handle is opened before the death, so that no opening returns anything.
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    /// An agent that has claimed `["job", 1]` and was killed.
    private func claimAndDie() throws {
        let claimer = try Agent(root, "jobs")
        try jobs.write("job", 1)
        #expect(try claimer.run("claim-typed [\"job\", 1]") == #"["job",1]"#)
        #expect(try jobs.takeIfExists("job", any(Int.self)) == nil)
        try claimer.kill()
    }

    enum Look: CaseIterable {
        case take, takeAll, claim, claimByID, read, readAll, count, countAll, transaction
    }

    /// Whether the look finds the job.
    private func finds(_ look: Look) throws -> Bool {
        switch look {
        case .take: return try jobs.takeIfExists("job", any(Int.self)) != nil
        case .takeAll: return try jobs.takeAll(matching: ["job", .any]).count == 1
        case .claim: return try jobs.claimIfExists(matching: ["job", .any])?.detach() != nil
        case .claimByID: return try jobs.claimIfExists(id: TupleID(rawValue: 1))?.detach() != nil
        case .read: return try jobs.readIfExists("job", any(Int.self)) != nil
        case .readAll: return try jobs.readAll(matching: ["job", .any]).count == 1
        case .count: return try jobs.count(matching: ["job", .any]) == 1
        case .countAll: return try jobs.count() == 1
        case .transaction: return try jobs.transaction { t in try t.takeIfExists("job", any(Int.self)) != nil }
        }
    }

    @Test(arguments: Look.allCases)
    func aPollGetsBackWhatTheDeadHadClaimed(_ look: Look) throws {
        try claimAndDie()
        #expect(try eventually { try finds(look) })
    }

    /// The poller is another process, and the only one that looks.
    @Test func aPollingProcessGetsItBack() throws {
        let poller = try Agent(root, "jobs")
        #expect(try poller.ask("take [\"job\", \"?int\"]") == "none")
        let claimer = try Agent(root, "jobs")
        try jobs.write("job", 1)
        try claimer.run("claim-typed [\"job\", 1]")
        #expect(try poller.ask("take [\"job\", \"?int\"]") == "none")
        try claimer.kill()
        #expect(
            try eventually {
                poll(nil, 0, 50)
                return try poller.ask("take [\"job\", \"?int\"]") == #"ok ["job",1]"#
            }
        )
    }

    /// A claim of a living process stays as it is, however often others look.
    @Test func theLivingKeepTheirClaims() throws {
        let claimer = try Agent(root, "jobs")
        try jobs.write("job", 1)
        try claimer.run("claim-typed [\"job\", 1]")
        for _ in 0..<2000 { #expect(try jobs.takeIfExists("job", any(Int.self)) == nil) }
        #expect(try jobs.status().claims.map(\.pid) == [claimer.pid])
        try claimer.run("complete")
    }

    // MARK: Looking

    @Test func aStatusShowsNoClaimOfTheDead() throws {
        try claimAndDie()
        #expect(try jobs.status().claims == [])
        #expect(try jobs.status().tuples == 1)
    }

    @Test func aStatusShowsNoDeadHolder() throws {
        let holder = try Agent(root, "jobs")
        for command in ["lock l 0", "lock s 0 shared", "semaphore p 0 3 2", "elect e 60000"] {
            try holder.send(command)
            #expect(try holder.line() == "waiting")
            #expect(try holder.line()?.hasPrefix("ok ") == true, "\(command)")
        }
        try holder.send("barrier b 60000 2")
        #expect(try holder.line() == "waiting")
        #expect(try eventually { try jobs.status().holds.filter { $0.pid == holder.pid }.count == 5 })
        try holder.kill()
        #expect(try jobs.status().holds == [])
    }

    @Test func aDeadLeaderIsNotNamed() throws {
        let election = jobs.election("e")
        let (first, second) = (try Agent(root, "jobs"), try Agent(root, "jobs"))
        try first.send("elect e 60000")
        #expect(try first.line() == "waiting")
        #expect(try first.line()?.hasPrefix("ok ") == true)
        #expect(try election.leader()?.pid == first.pid)
        // The next candidate stands, and is stopped, so that only the look below can notice the death.
        try second.send("elect e 60000")
        #expect(try second.line() == "waiting")
        #expect(try eventually { try jobs.status().holds.contains { $0.pid == second.pid } })
        try second.stop()
        try first.kill()
        #expect(try election.leader()?.pid == second.pid)
        second.resume()
        #expect(try second.line()?.hasPrefix("ok ") == true)
        try second.kill()
        #expect(try election.leader() == nil)
    }

    @Test func aQueueCountsNoItemAsTakenByTheDead() throws {
        let queue = jobs.queue("q", deliveries: 3)
        try queue.put("a")
        let worker = try Agent(root, "jobs")
        try worker.send("queue-take q 60000")
        #expect(try worker.line() == "waiting")
        #expect(try worker.line() == #"ok "a""#)
        #expect(try queue.counts()[.taken] == 1)
        try worker.kill()
        #expect(
            try eventually {
                let counts = try queue.counts()
                return counts[.taken] == 0 && counts[.ready] == 1
            }
        )
    }

    /// A worker that dies at the last delivery leaves a buried item, which the next look finds.
    @Test func aDeadWorkersLastDeliveryIsBuried() throws {
        let queue = jobs.queue("q", deliveries: 1)
        try queue.put("a")
        let worker = try Agent(root, "jobs")
        try worker.send("queue-take q 60000 1")
        #expect(try worker.line() == "waiting")
        #expect(try worker.line() == #"ok "a""#)
        try worker.kill()
        #expect(try eventually { try queue.items(in: .buried).map(\.value) == ["a"] })
    }
}
