import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The measuring of how long waits last, by several processes.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct LatencyProcessTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// The number of waits that were counted.
    ///
    /// The hand-offs are at most as many: a waiter may look, at a tick, between the commit and the grant.
    private func waits(_ namespace: Namespace) throws -> Int? {
        let latency = try namespace.status().latency
        if let latency { #expect(latency.handOff.count <= latency.waiting.count) }
        return latency?.waiting.count
    }

    private func serve(_ agent: Agent, _ take: String, in namespace: Namespace) throws {
        try agent.block("\(take) [\"job\", \"?int\"]", in: namespace)
        try namespace.write("job", 1)
        #expect(try agent.line() == #"ok ["job",1]"#)
    }

    @Test(arguments: ["take-wait 60000", "take-async"])
    func processesThatOpenedBeforeTheSwitchCountFromTheirNextWaitOn(_ take: String) throws {
        let namespace = try SpaceTest.namespace("jobs")
        let agents = [try Agent(root, "jobs"), try Agent(root, "jobs")]
        try agents[0].block("\(take) [\"job\", \"?int\"]", in: namespace)
        try agents[1].run("measure on")
        // This wait began before the switch.
        try namespace.write("job", 1)
        #expect(try agents[0].line() == #"ok ["job",1]"#)
        #expect(try waits(namespace) == 0)
        for agent in agents { try serve(agent, take, in: namespace) }
        #expect(try waits(namespace) == 2)
        try agents[0].run("measure off")
        for agent in agents { try serve(agent, take, in: namespace) }
        #expect(try waits(namespace) == nil)
        // Every process leaves the removed file, and uses the new one.
        try agents[1].run("measure on")
        for agent in agents { try serve(agent, take, in: namespace) }
        #expect(try waits(namespace) == 2)
    }

    @Test func aKilledWaiterIsNotCountedAndItsTupleGoesToTheNext() throws {
        let namespace = try SpaceTest.namespace("jobs")
        try namespace.setMeasuringLatency(true)
        let (victim, other) = (try Agent(root, "jobs"), try Agent(root, "jobs"))
        try victim.run("arm kill grantSeen")
        try victim.block("take-wait 60000 [\"job\", \"?int\"]", in: namespace)
        try other.block("take-wait 60000 [\"job\", \"?int\"]", in: namespace)
        try namespace.write("job", 1)
        #expect(try other.line() == #"ok ["job",1]"#)
        #expect(try victim.ended() == .killed(by: SIGKILL))
        #expect(try waits(namespace) == 1)
    }

    @Test func processesThatSwitchAtOnceEndWithOneFileOrNone() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let agents = try (0..<4).map { _ in try Agent(root, "jobs") }
        for round in 0..<20 {
            for (index, agent) in agents.enumerated() {
                try agent.send("measure \((round + index) % 2 == 0 ? "on" : "off")")
            }
            for agent in agents { #expect(try agent.line() == "ok") }
            let files = root.entries(of: "jobs").filter { $0.contains("latency") }
            #expect(files == (namespace.isMeasuringLatency ? ["latency"] : []))
            #expect(try (waits(namespace) != nil) == namespace.isMeasuringLatency)
        }
        for agent in agents { try agent.send("measure on") }
        for agent in agents { #expect(try agent.line() == "ok") }
        for agent in agents { try serve(agent, "take-wait 60000", in: namespace) }
        #expect(try waits(namespace) == 4)
    }

    @Test func aProcessStoppedInTheSwitchKeepsNoWaitFromEnding() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let (switcher, taker) = (try Agent(root, "jobs"), try Agent(root, "jobs"))
        try switcher.run("arm stop latencyMade")
        try switcher.send("measure on")
        try switcher.waitUntilStopped()
        #expect(!namespace.isMeasuringLatency)
        try serve(taker, "take-wait 60000", in: namespace)
        switcher.resume()
        #expect(try switcher.line() == "ok")
        try serve(taker, "take-wait 60000", in: namespace)
        #expect(try waits(namespace) == 1)
    }
}
