import Glibc
import SharedSpace
import SpaceEngine
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleSpace

/// One process ticks for all that wait or watch in a namespace; the others sleep.
///
/// How often a process has slept is compared with how often the ticker has ticked meanwhile, so a busy machine changes
/// nothing.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct TickerTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func seat(_ namespace: Namespace) -> TickerSeat.Sighting { namespace.core.control.ticker.sighting }

    /// Waits until the seat has a session other than `old`, and returns the agent whose session it is.
    private func ticker(of namespace: Namespace, among agents: [Agent], not old: UInt64 = 0) throws -> Agent {
        #expect(try eventually { ![0, old].contains(seat(namespace).session) })
        let process = try #require(namespace.core.process(ofSession: seat(namespace).session))
        return try #require(agents.first { $0.pid == process.pid })
    }

    private func pass(_ ticks: UInt64, of namespace: Namespace) throws {
        let start = seat(namespace).ticks
        #expect(try eventually { seat(namespace).ticks >= start + ticks })
    }

    /// Agents of which each waits in the namespace.
    private func waiters(_ count: Int, in namespace: Namespace, besides others: Int = 0) throws -> [Agent] {
        let agents = try (0..<count).map { _ in
            let agent = try Agent(root, namespace.name)
            try agent.send("take-wait 600000 [\"job\", \"?int\"]")
            #expect(try agent.line() == "waiting")
            return agent
        }
        #expect(try eventually { try namespace.status().waiters.count == count + others })
        return agents
    }

    /// Of ten processes that wait, nine wake once a second, and not at each tick.
    @Test func oneOfManyTicks() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(10, in: namespace)
        let ticker = try ticker(of: namespace, among: agents)
        // Each has begun to follow.
        try pass(8, of: namespace)
        let before = try agents.map { try Sleeps(of: $0.pid) }
        try pass(16, of: namespace)
        for (agent, old) in zip(agents, before) {
            let sleeps = try Sleeps(of: agent.pid).begun(since: old)
            if agent === ticker { #expect(sleeps >= 12) } else { #expect(sleeps <= 8) }
        }
        #expect(try self.ticker(of: namespace, among: agents) === ticker)
    }

    /// A process that waits and watches in a hundred namespaces wakes as often as for one.
    @Test func aHundredNamespacesShareTheirTicks() throws {
        let agent = try Agent()
        try agent.run("wait-everywhere \(root.path) 100")
        let spaces = try (0..<100).map { try root.space.namespace("n\($0)", owning: false) }
        #expect(try eventually { try spaces.allSatisfy { try $0.status().waiters.count == 2 } })
        #expect(try eventually { spaces.allSatisfy { seat($0).session != 0 } })
        try pass(8, of: spaces[0])
        let before = try Sleeps(of: agent.pid)
        let start = seat(spaces[0]).ticks
        try pass(20, of: spaces[0])
        let (sleeps, ticks) = (try Sleeps(of: agent.pid).begun(since: before), seat(spaces[0]).ticks - start)
        // Every thread and task on its own would be four hundred times a second.
        #expect(sleeps <= 3 * Int(ticks))
        #expect(sleeps >= Int(ticks) / 2)
    }

    /// If the ticker is killed, another process ticks at once.
    @Test func aKilledTickerIsReplaced() throws {
        let namespace = try SpaceTest.namespace("n")
        var agents = try waiters(4, in: namespace)
        for _ in 0..<3 {
            let ticker = try ticker(of: namespace, among: agents)
            let old = seat(namespace).session
            try pass(6, of: namespace)
            try ticker.kill()
            agents.removeAll { $0 === ticker }
            _ = try self.ticker(of: namespace, among: agents, not: old)
            try pass(2, of: namespace)
        }
        try namespace.write("job", 1)
        #expect(try agents[0].line() == "ok [\"job\",1]")
    }

    /// If the ticker is stopped, another process ticks: a claim whose time passes returns, and a waiter gets the tuple.
    @Test func aStoppedTickerIsReplaced() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(3, in: namespace)
        let ticker = try ticker(of: namespace, among: agents)
        let old = seat(namespace).session
        try pass(6, of: namespace)
        try ticker.stop()
        try namespace.transaction { t in
            try t.write("job", 1)
            _ = try t.claimIfExists(matching: ["job", .any], deadline: .milliseconds(300))
        }
        let next = try self.ticker(of: namespace, among: agents, not: old)
        #expect(next !== ticker)
        try pass(2, of: namespace)
        ticker.resume()
        // The oldest waiter gets the tuple, or hands it on.
        #expect(try eventually { try namespace.status().waiters.count == 2 })
        #expect(try namespace.count() == 0)
    }

    /// When the last waiter was served, the seat is empty; the next waiter takes it.
    @Test func theSeatIsEmptyWhenNoProcessWaits() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(2, in: namespace)
        _ = try ticker(of: namespace, among: agents)
        for number in 1...2 { try namespace.write("job", number) }
        for agent in agents { #expect(try agent.line()?.hasPrefix("ok [\"job\",") == true) }
        #expect(try eventually { seat(namespace).session == 0 })
        try agents[1].send("take-wait 600000 [\"job\", \"?int\"]")
        #expect(try agents[1].line() == "waiting")
        #expect(try ticker(of: namespace, among: agents) === agents[1])
    }

    /// A ticker that leaves gives up the seat, and another process takes it.
    @Test func aTickerThatLeavesIsReplaced() throws {
        let leaving = try Agent()
        try leaving.run("wait-everywhere \(root.path) 1")
        let namespace = try root.space.namespace("n0", owning: false)
        _ = try ticker(of: namespace, among: [leaving])
        let old = seat(namespace).session
        let staying = try waiters(1, in: namespace, besides: 2)
        try pass(6, of: namespace)
        try leaving.exit()
        #expect(try ticker(of: namespace, among: staying, not: old) === staying[0])
        try pass(2, of: namespace)
    }
}
