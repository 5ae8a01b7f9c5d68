import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Things that a process releases while another process, stopped within its write, stands in the way.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct LettingGoProcessTests {
    let root: TemporaryRoot
    /// A handle with a short time-out.
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n", timeout: .milliseconds(100))
    }

    /// A process that is stopped and holds the gate.
    private func stopped() throws -> Agent {
        let agent = try Agent(root, "n")
        try agent.run("arm stop gateTaken")
        try agent.send("write [\"half\"]")
        try agent.waitUntilStopped()
        return agent
    }

    private func remove(_ obstacle: Agent) throws {
        obstacle.resume()
        guard try obstacle.line()?.hasPrefix("ok ") == true else { throw TestFailure("the obstacle has not written") }
    }

    /// The release is made later, although no thread of the process waits or writes any more.
    @Test(arguments: Possession.allCases) func itIsLetGoOfLater(_ what: Possession) throws {
        var thing: (any AnyObject & Sendable)? = try what.make(in: namespace)
        let obstacle = try stopped()
        withExtendedLifetime(thing) {}
        thing = nil
        #expect(try namespace.possessions() == 1)
        try remove(obstacle)
        #expect(try eventually { try namespace.possessions() == 0 })
    }

    /// After a time-out at a stopped holder of the gate, clean-up waits briefly during the same hold, and in full during
    /// the next one.
    @Test func theSameStoppedProcessIsWaitedForOnce() throws {
        let engine = try namespace.attempt("test") { $0.engine }
        let hour = Duration.seconds(3600)
        let obstacle = try stopped()
        #expect(engine.cleanUpPatience(hour) == hour)
        let error = #expect(throws: SpaceError.self) { try namespace.write("late") }
        #expect(error?.code == .holderStopped)
        #expect(engine.cleanUpPatience(hour) < .seconds(1))
        #expect(engine.cleanUpPatience(.milliseconds(1)) == .milliseconds(1))
        try remove(obstacle)
        #expect(engine.cleanUpPatience(hour) == hour)
        try obstacle.run("arm stop gateTaken")
        try obstacle.send("write [\"half\"]")
        try obstacle.waitUntilStopped()
        #expect(engine.cleanUpPatience(hour) == hour)
        try remove(obstacle)
    }

    /// The request is taken back later, although the process makes no other request.
    @Test func aRequestIsTakenBackLater() async throws {
        let responder = try await onThread {
            let agent = try Agent(root, "n")
            try agent.run("respond f base say,hold")
            return agent
        }
        let asking = Task { try await namespace.request("f", 1, as: String.self) }
        #expect(try await onThread { try responder.line() } == "at base")
        let obstacle = try await onThread { try stopped() }
        asking.cancel()
        let error = await #expect(throws: SpaceError.self) { try await asking.value }
        #expect(error?.code == .cancelled)
        #expect(try namespace.status().requests.count == 1)
        try await onThread { try remove(obstacle) }
        #expect(try await onThread { try responder.line() } == "cancelled base")
        #expect(try await eventually { try namespace.status().requests == [] })
    }

    /// A process that sees another's write finds that the other's earlier releases are done, though no tick was
    /// between.
    @Test func itIsLetGoOfBeforeTheNextWrite() throws {
        let agent = try Agent(root, "n", "timeout=100")
        try agent.run("ticks-off")
        try agent.send("lock build 0")
        #expect(try agent.line() == "waiting")
        #expect(try agent.line()?.hasPrefix("ok ") == true)
        let obstacle = try stopped()
        try agent.run("drop-hold build")
        #expect(try namespace.status().holds.count == 1)
        try remove(obstacle)
        try agent.run("write [\"after\"]")
        #expect(try namespace.status().holds == [])
    }
}
