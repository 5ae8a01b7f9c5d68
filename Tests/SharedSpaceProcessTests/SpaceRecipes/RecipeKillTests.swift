import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Users of counters, latches, barriers, rate limits, elections and evaluations are killed in the middle of a step: the
/// step was made or it was not, and a process that waits for it goes on.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RecipeKillTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("recipes")
        // The points are those of a transaction.
        namespace.useNearEnd(of: 0)
    }

    private static let points: [CrashPoint] = [.begun, .beforeCommit, .afterCommit, .granted, .gateReleased, .woken]

    private func isCommitted(_ point: CrashPoint) -> Bool { point != .begun && point != .beforeCommit }

    private func agent() throws -> Agent { try Agent(root, "recipes") }

    /// Kills an agent in the middle of a step.
    private func kill(at point: CrashPoint, in command: String) throws {
        let victim = try agent()
        try victim.run("arm kill \(point)")
        try victim.send(command)
        #expect(try victim.ended() == .killed(by: SIGKILL))
    }

    /// Has an agent wait, and returns when the agent sleeps or stands in the queue.
    private func wait(_ agent: Agent, _ command: String) throws {
        let before = try namespace.status()
        try agent.send(command)
        #expect(try agent.line() == "waiting")
        let isWaiting = try eventually {
            let status = try namespace.status()
            return status.holds.count > before.holds.count || status.waiters.count > before.waiters.count
        }
        #expect(isWaiting)
    }

    /// A killed process's count is made or not; the waiter goes on as soon as it is made, even if no process is left
    /// that wakes it.
    @Test(arguments: points, [("add n", "reach n 60000 1"), ("count-down l 1", "latch l 60000 1")])
    func aCountIsMadeOrNot(_ point: CrashPoint, _ commands: (count: String, wait: String)) throws {
        let (waiter, doomed) = (try agent(), try agent())
        for agent in [doomed, waiter] { try wait(agent, commands.wait) }
        try doomed.kill()
        try kill(at: point, in: commands.count)
        let count =
            try commands.count == "add n"
            ? namespace.counter("n").value() : 1 - namespace.latch("l", count: 1).remaining()
        #expect(count == (isCommitted(point) ? 1 : 0))
        if !isCommitted(point) { try agent().run(commands.count) }
        #expect(try waiter.line() == "ok")
    }

    /// A killed process that came last has completed the barrier, or has not come.
    @Test(arguments: points)
    func whoCompletesABarrierDies(_ point: CrashPoint) throws {
        let agents = [try agent(), try agent()]
        for agent in agents { try wait(agent, "barrier step 60000 3") }
        try kill(at: point, in: "barrier step 60000 3")
        if !isCommitted(point) {
            #expect(try namespace.status().holds.map(\.isHeld) == [false, false])
            let third = try agent()
            try third.send("barrier step 60000 3")
            #expect(try third.line() == "waiting")
            #expect(try third.line() == "ok")
        }
        for agent in agents { #expect(try agent.line() == "ok") }
        #expect(try !namespace.barrier("step", parties: 3).wait(timeout: .zero))
        #expect(try namespace.status().holds == [])
    }

    @Test(arguments: points)
    func aMomentIsUsedUpOrNot(_ point: CrashPoint) throws {
        try kill(at: point, in: "rate api 1")
        #expect(try agent().ask("rate api 1") == (isCommitted(point) ? "none" : "ok"))
    }

    /// A moment that a killed process waited for is used up: the moment after it does not come sooner.
    @Test func aMomentThatIsWaitedForIsUsedUp() throws {
        let (first, doomed, next) = (try agent(), try agent(), try agent())
        #expect(try first.ask("rate api 2") == "ok")
        #expect(try first.ask("rate api 2") == "ok")
        try wait(doomed, "rate-wait api 2 7200000")
        try doomed.kill()
        // In less than an hour one more permit is free, but not two.
        #expect(try next.ask("rate-wait api 2 2700000") == "waiting")
        #expect(try next.line() == "none")
    }

    /// A candidate that dies while it waits for leadership is passed over.
    @Test func aKilledCandidateIsPassedOver() throws {
        let (leader, doomed, next) = (try agent(), try agent(), try agent())
        for agent in [leader, doomed, next] { try wait(agent, "elect chief 60000") }
        #expect(try leader.line()?.hasPrefix("ok ") == true)
        try doomed.kill()
        try leader.run("resign")
        #expect(try next.line()?.hasPrefix("ok ") == true)
        #expect(try namespace.election("chief").leader()?.pid == next.pid)
    }

    /// If a process is killed as it deposes a leader and the step was made, the leader is told of it, and the next one
    /// leads.
    @Test(arguments: points)
    func aDeposedLeaderIsTold(_ point: CrashPoint) throws {
        let (leader, next) = (try agent(), try agent())
        for agent in [leader, next] { try wait(agent, "elect chief 60000 tells") }
        let term = try #require(UInt64(leader.line()?.dropFirst(3) ?? ""))
        try kill(at: point, in: "depose chief")
        if !isCommitted(point) {
            #expect(try namespace.election("chief").leader()?.pid == leader.pid)
            #expect(try agent().run("depose chief") == "true")
        }
        #expect(try leader.line() == "lost holdLost")
        #expect(try #require(UInt64(next.line()?.dropFirst(3) ?? "")) > term)
        #expect(try leader.ask("resign").hasPrefix("error holdLost "))
        #expect(try namespace.election("chief").leader()?.pid == next.pid)
    }

    /// The process is killed as it writes the tuple that its program has printed.
    @Test(arguments: points)
    func anEvaluatedTupleIsThereOnceOrNot(_ point: CrashPoint) throws {
        try kill(at: point, in: "evaluate echo '[\"done\",1]'")
        let there: [Tuple] = isCommitted(point) ? [["done", 1]] : []
        #expect(try namespace.readAll() == there)
        let next = try agent()
        #expect(try next.ask("evaluate echo '[\"done\",2]'") == "waiting")
        #expect(try next.line()?.hasPrefix("ok ") == true)
        #expect(try namespace.readAll() == there + [["done", 2]])
    }
}
