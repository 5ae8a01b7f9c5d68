import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// When a process that has a claim dies or leaves, the tuple is back, once.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct ClaimTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test func aKilledClaimersTupleReturnsToWhoWaits() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let claimer = try Agent(root, "jobs")
        let waiter = try Agent(root, "jobs")
        try namespace.write("job", 1)
        #expect(try claimer.run("claim [\"job\", \"?int\"]") == #"["job",1]"#)
        #expect(try namespace.count() == 0)
        #expect(try namespace.status().claims.map(\.pid) == [claimer.pid])
        try waiter.block("take-wait 60000 [\"job\", \"?int\"]", in: namespace)
        try claimer.kill()
        #expect(try waiter.line() == #"ok ["job",1]"#)
        #expect(try namespace.status().claims == [])
    }

    @Test func aKilledClaimersTupleReturnsWhenSomebodyOpens() throws {
        let namespace = try root.space.namespace("jobs")
        let claimer = try Agent(root, "jobs")
        try namespace.write("job", 1)
        try namespace.write("job", 2)
        try claimer.run("claim [\"job\", 1]")
        try claimer.kill()
        // No process waits, so none ticks. A process that opens the namespace looks.
        let opener = try Agent(root, "jobs")
        // The tuple is in its old place, before the younger one, and counts one delivery.
        let matches = try namespace.matches(["job", .any])
        #expect(try matches.map { try $0.tuple() } == [["job", 1], ["job", 2]])
        #expect(matches.map(\.deliveries) == [1, 0])
        #expect(try opener.run("verify") == "")
    }

    @Test(arguments: ["leave", "drop", "exit", "release"])
    func whoGoesOrReleasesReturnsTheTuple(_ command: String) throws {
        let namespace = try SpaceTest.namespace("jobs")
        let claimer = try Agent(root, "jobs")
        try namespace.write("job", 1)
        try claimer.run("claim [\"job\", 1]")
        #expect(try namespace.count() == 0)
        if command == "exit" { try claimer.exit() } else { try claimer.run(command) }
        #expect(try namespace.takeIfExists("job", 1) != nil)
    }

    @Test func aCompletedClaimIsGoneForGood() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let claimer = try Agent(root, "jobs")
        try namespace.write("job", 1)
        try claimer.run("claim [\"job\", 1]")
        try claimer.run("complete")
        try claimer.kill()
        #expect(try namespace.count() == 0)
        _ = try Agent(root, "jobs")
        #expect(try namespace.count() == 0)
    }

    /// A claimer that lost its claim learns so, and does no harm to the next claimer of the tuple.
    @Test func aLostClaimCannotBeCompleted() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let other = try Agent(root, "jobs")
        try namespace.write("job", 1)
        let lost = try namespace.claimBriefly(matching: ["job", 1])
        try namespace.release(lost)
        #expect(try other.run("claim [\"job\", 1]") == #"["job",1]"#)
        let error = #expect(throws: SpaceError.self) { try namespace.complete(lost) }
        #expect(error?.code == .claimLost)
        // Releasing a claim of a tuple that is another's by now changes nothing.
        try namespace.release(lost)
        #expect(try namespace.status().claims.map(\.pid) == [other.pid])
        try other.run("complete")
        #expect(try namespace.count() == 0)
    }

    /// If a process is killed between any two steps of a claim, a return or a completion, the tuple is in exactly one
    /// place.
    @Test(arguments: [CrashPoint.begun, .beforeCommit, .afterCommit], ["claim", "complete", "release"])
    func killedHalfway(_ point: CrashPoint, _ step: String) throws {
        let namespace = try SpaceTest.namespace("jobs")
        let victim = try Agent(root, "jobs")
        try namespace.write("job", 1)
        if step != "claim" { try victim.run("claim [\"job\", 1]") }
        try victim.run("arm kill \(point)")
        try victim.send(step == "claim" ? "claim [\"job\", 1]" : step)
        #expect(try victim.line() == nil)
        #expect(try victim.ended() == .killed(by: SIGKILL))
        _ = try Agent(root, "jobs")
        let isCompleted = step == "complete" && point == .afterCommit
        #expect(try namespace.count() == (isCompleted ? 0 : 1))
        #expect(try namespace.status().claims == [])
    }
}
