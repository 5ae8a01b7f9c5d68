import Glibc
import SharedSpace
import SpaceEngine
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
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

    private func deputySeat(_ namespace: Namespace) -> TickerSeat.Sighting { namespace.core.control.deputy.sighting }

    /// Waits until the deputy's seat has a session other than `old`, and returns the agent whose session it is.
    private func deputy(of namespace: Namespace, among agents: [Agent], not old: UInt64 = 0) throws -> Agent {
        #expect(try eventually { ![0, old].contains(deputySeat(namespace).session) })
        let process = try #require(namespace.core.process(ofSession: deputySeat(namespace).session))
        return try #require(agents.first { $0.pid == process.pid })
    }

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

    /// Of 24 processes that wait, one ticks, one looks once a second, and the others look every three seconds.
    @Test func theOthersRest() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(24, in: namespace)
        let ticker = try ticker(of: namespace, among: agents)
        let deputy = try deputy(of: namespace, among: agents)
        #expect(deputy !== ticker)
        // The first processes have seen few waiters.
        try pass(16, of: namespace)
        let before = try agents.map { try Sleeps(of: $0.pid) }
        let looks = deputySeat(namespace).ticks
        try pass(40, of: namespace)
        for (agent, old) in zip(agents, before) where agent !== ticker && agent !== deputy {
            #expect(try Sleeps(of: agent.pid).begun(since: old) <= 6)
        }
        #expect(deputySeat(namespace).ticks >= looks + 6)
        #expect(try self.deputy(of: namespace, among: agents) === deputy)
    }

    /// A deputy that is killed, stopped or leaves is replaced by another process that follows.
    @Test(arguments: ["kill", "stop", "serve all"])
    func aLostDeputyIsReplaced(_ loss: String) throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(16, in: namespace)
        let ticker = try ticker(of: namespace, among: agents)
        let deputy = try deputy(of: namespace, among: agents)
        let old = deputySeat(namespace).session
        // Each has begun to follow.
        try pass(12, of: namespace)
        switch loss {
        case "kill": try deputy.kill()
        case "stop": try deputy.stop()
        default:
            for number in 0..<agents.count { try namespace.write("job", number) }
            #expect(try eventually { seat(namespace).session == 0 && deputySeat(namespace).session == 0 })
            return
        }
        let next = try self.deputy(of: namespace, among: agents, not: old)
        #expect(next !== deputy && next !== ticker)
        // The next one does its work.
        let oldTicker = seat(namespace).session
        try ticker.stop()
        #expect(try self.ticker(of: namespace, among: agents, not: oldTicker) !== ticker)
        try pass(2, of: namespace)
        ticker.resume()
        if loss == "stop" { deputy.resume() }
    }

    /// If the ticker and the deputy are stopped at once, another process ticks.
    @Test func aStoppedPairIsReplaced() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(4, in: namespace)
        let (ticker, deputy) = try (ticker(of: namespace, among: agents), deputy(of: namespace, among: agents))
        let old = seat(namespace).session
        try pass(8, of: namespace)
        try deputy.stop()
        try ticker.stop()
        let next = try self.ticker(of: namespace, among: agents, not: old)
        #expect(next !== ticker && next !== deputy)
        try pass(12, of: namespace)
        #expect(try eventually { deputySeat(namespace).session != seat(namespace).session })
        ticker.resume()
        deputy.resume()
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

    /// A process that waits again hears the ticker's end again, and so does one that could not hear it at first.
    @Test func whoFollowsListens() throws {
        let namespace = try SpaceTest.namespace("n")
        let others = try waiters(2, in: namespace)
        _ = try ticker(of: namespace, among: others)
        _ = try deputy(of: namespace, among: others)
        // Without its file the ticker's process is not known, until the ticker writes the file again.
        let session = seat(namespace).session
        let folder = "\(root.path)/n/sessions"
        let follower = try Agent(root, "n")
        #expect(unlink("\(folder)/\(session)") == 0)
        for wait in 0..<2 {
            try follower.send("take-wait 600000 [\"again\", \"?int\"]")
            #expect(try follower.line() == "waiting")
            // To the ticker and to the deputy.
            #expect(try eventually { try listens(follower) == 2 })
            try namespace.write("again", wait)
            #expect(try follower.line() == "ok [\"again\",\(wait)]")
            #expect(try eventually { try listens(follower) == 0 })
        }
    }

    /// How many pidfds a process has.
    private func listens(_ agent: Agent) throws -> Int {
        let folder = try OwnedDescriptor.open("/proc/\(agent.pid)/fd", flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(folder.raw).count { name in
            (try? Directory.linkText(at: folder.raw, name, limit: 64))?.contains("pidfd") ?? false
        }
    }

    /// After the event loop has run a job on another thread, one thread is left after a while.
    @Test func aSpareThreadEnds() throws {
        let namespace = try SpaceTest.namespace("n")
        let waiter = try waiters(1, in: namespace)[0]
        _ = try ticker(of: namespace, among: [waiter])
        let before = try threadCount(of: waiter.pid)
        let claimer = try Agent(root, "n")
        try namespace.write("work", 1)
        #expect(try claimer.run("claim-typed [\"work\", 1]") == "[\"work\",1]")
        try claimer.kill()
        #expect(try eventually { try namespace.count() == 1 })
        #expect(try eventually { try threadCount(of: waiter.pid) == before })
    }

    /// A process that is killed while it takes a slot leaves the count of slots too high; the ticker gives up the
    /// seat all the same when no process waits.
    @Test func aKillInASlotKeepsNoTicker() throws {
        let namespace = try SpaceTest.namespace("n")
        let waiter = try waiters(1, in: namespace)[0]
        _ = try ticker(of: namespace, among: [waiter])
        let killed = try Agent(root, "n")
        try killed.run("arm kill slotFilling")
        try killed.send("take-wait 10000 [\"y\"]")
        #expect(try killed.ended() == .killed(by: SIGKILL))
        try namespace.write("job", 1)
        #expect(try waiter.line() == "ok [\"job\",1]")
        #expect(try eventually { seat(namespace).session == 0 })
    }

    /// Tasks whose doorbell can't be rung are served all the same.
    @Test(arguments: [false, true])
    func tasksWithoutTheirDoorbellAreServed(_ isReplaced: Bool) throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try (0..<2).map { _ in try Agent(root, "n") }
        for agent in agents {
            try agent.send("take-async [\"job\", \"?int\"]")
            #expect(try agent.line() == "waiting")
        }
        #expect(try eventually { try namespace.status().waiters.count == 2 })
        _ = try ticker(of: namespace, among: agents)
        #expect(unlink("\(root.path)/.doorbells") == 0)
        if isReplaced {
            let other = try Agent(root, "n")
            try other.send("take-async [\"other\"]")
            #expect(try other.line() == "waiting")
            #expect(try eventually { try namespace.status().waiters.count == 3 })
        }
        for number in 1...2 { try namespace.write("job", number) }
        for agent in agents { #expect(try agent.line()?.hasPrefix("ok [\"job\",") == true) }
    }

    /// If the root is removed, tasks that wait learn of it.
    @Test func tasksLearnThatTheRootIsGone() throws {
        let agent = try Agent()
        let folder = try TemporaryRoot()
        try agent.open(folder, "n")
        try agent.send("take-async [\"job\"]")
        #expect(try agent.line() == "waiting")
        #expect(try eventually { try folder.space.existingNamespace("n", owning: false).status().waiters.count == 1 })
        let path = FilePath(folder.path)
        let parent = try OwnedDescriptor.open(path.removingLastComponent().string, flags: O_RDONLY | O_DIRECTORY)
        try Directory.removeTree(at: parent.raw, try #require(path.lastComponent).string)
        #expect(try agent.line()?.hasPrefix("error namespaceDeleted") == true)
    }
}
