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
/// How often the ticker has slept is compared with how often it has ticked meanwhile, and how often another process has
/// slept with the time that has passed, so a busy machine changes nothing.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct TickerTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func seat(_ namespace: Namespace) -> TickerSeat.Sighting { namespace.core.control.ticker.sighting }

    private func deputySeat(_ namespace: Namespace) -> TickerSeat.Sighting { namespace.core.control.deputy.sighting }

    /// An agent whose process has a seat.
    private struct Occupant {
        let session: UInt64
        let agent: Agent
    }

    /// Waits until a seat has a session other than `old`, and returns it with its agent.
    private func occupant(
        of seat: (Namespace) -> TickerSeat.Sighting,
        in namespace: Namespace,
        among agents: [Agent],
        not old: UInt64 = 0
    ) throws -> Occupant {
        var session: UInt64 = 0
        let isTaken = try eventually {
            session = seat(namespace).session
            return session != 0 && session != old
        }
        #expect(isTaken)
        let process = try #require(namespace.core.liveness.process(ofSession: session))
        let agent = try #require(agents.first { $0.pid == process.pid })
        return Occupant(session: session, agent: agent)
    }

    /// Waits until the deputy's seat has a session other than `old`, and returns the agent whose session it is.
    private func deputy(of namespace: Namespace, among agents: [Agent], not old: UInt64 = 0) throws -> Agent {
        try occupant(of: deputySeat, in: namespace, among: agents, not: old).agent
    }

    /// Waits until the seat has a session other than `old`, and returns the agent whose session it is.
    private func ticker(of namespace: Namespace, among agents: [Agent], not old: UInt64 = 0) throws -> Agent {
        try occupant(of: seat, in: namespace, among: agents, not: old).agent
    }

    /// Waits for some ticks, and returns whether both seats kept their sessions meanwhile.
    @discardableResult
    private func pass(_ ticks: UInt64, of namespace: Namespace) throws -> Bool {
        let (first, second) = (seat(namespace), deputySeat(namespace))
        var haveStayed = true
        let havePassed = try eventually {
            let (ticker, deputy) = (seat(namespace), deputySeat(namespace))
            if ticker.session != first.session || deputy.session != second.session { haveStayed = false }
            return ticker.ticks >= first.ticks + ticks
        }
        #expect(havePassed)
        return haveStayed
    }

    /// Plays a scene, and plays it again if it returns `nil`, because a seat has changed hands.
    ///
    /// A slow machine may keep a ticker silent for so long that another process takes its seat.
    private func undisturbed<R>(_ scene: () throws -> R?) throws -> R {
        for _ in 0..<3 {
            if let result = try scene() { return result }
        }
        throw TestFailure("a seat has changed hands in each of three scenes")
    }

    /// What the agents did during some ticks.
    private struct Measurement {
        let ticker: Agent
        let deputy: Agent
        /// How often each agent has slept.
        let sleeps: [(agent: Agent, count: Int)]
        /// How often the deputy has looked.
        let looks: UInt64
        let seconds: Double
    }

    /// Measures during some ticks of one ticker, with one deputy; a number of ticks pass before.
    private func measure(
        _ ticks: UInt64,
        after others: UInt64,
        of namespace: Namespace,
        among agents: [Agent]
    ) throws -> Measurement {
        try undisturbed { () throws -> Measurement? in
            try pass(others, of: namespace)
            let ticker = try ticker(of: namespace, among: agents)
            let deputy = try deputy(of: namespace, among: agents)
            let (start, looks) = (ContinuousClock.now, deputySeat(namespace).ticks)
            let before = try agents.map { try Sleeps(of: $0.pid) }
            let haveStayed = try pass(ticks, of: namespace)
            let sleeps = try zip(agents, before).map { agent, old in
                (agent: agent, count: try Sleeps(of: agent.pid).begun(since: old))
            }
            let measurement = Measurement(
                ticker: ticker,
                deputy: deputy,
                sleeps: sleeps,
                looks: deputySeat(namespace).ticks - looks,
                seconds: (ContinuousClock.now - start) / .seconds(1)
            )
            guard haveStayed, try self.ticker(of: namespace, among: agents) === ticker,
                try self.deputy(of: namespace, among: agents) === deputy
            else { return nil }
            return measurement
        }
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
        // After eight ticks each has begun to follow.
        let measured = try measure(16, after: 8, of: namespace, among: agents)
        // The ticks take four seconds, or longer if the machine is slow.
        let most = max(8, 2 * measured.seconds)
        for (agent, sleeps) in measured.sleeps {
            if agent === measured.ticker { #expect(sleeps >= 12) } else { #expect(Double(sleeps) <= most) }
        }
    }

    /// Of 24 processes that wait, one ticks, one looks once a second, and the others look every three seconds on average.
    @Test func theOthersRest() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(24, in: namespace)
        // The first processes have seen few waiters before.
        let measured = try measure(40, after: 16, of: namespace, among: agents)
        #expect(measured.deputy !== measured.ticker)
        // The ticks take ten seconds, or longer if the machine is slow.
        let most = max(6, 0.6 * measured.seconds)
        let others = measured.sleeps.filter { $0.0 !== measured.ticker && $0.0 !== measured.deputy }
        #expect(others.count == 22)
        // Each rests for random times, so one of them may look more often than that.
        #expect(Double(others.map(\.1).reduce(0, +)) <= 22 * most)
        #expect(measured.looks >= 6)
    }

    /// A deputy that is killed, stopped or leaves is replaced by another process that follows.
    @Test(arguments: ["kill", "stop", "serve all"])
    func aLostDeputyIsReplaced(_ loss: String) throws {
        let namespace = try SpaceTest.namespace("n")
        var agents = try waiters(16, in: namespace)
        _ = try deputy(of: namespace, among: agents)
        // Each has begun to follow.
        try pass(12, of: namespace)
        if loss == "serve all" {
            for number in 0..<agents.count { try namespace.write("job", number) }
            #expect(try eventually { seat(namespace).session == 0 && deputySeat(namespace).session == 0 })
            return
        }
        let lost = try undisturbed { () throws -> Agent? in
            let ticker = try occupant(of: seat, in: namespace, among: agents)
            let deputy = try occupant(of: deputySeat, in: namespace, among: agents)
            if loss == "kill" {
                try deputy.agent.kill()
                agents.removeAll { $0 === deputy.agent }
            } else {
                try deputy.agent.stop()
            }
            let next = try self.deputy(of: namespace, among: agents, not: deputy.session)
            guard seat(namespace).session == ticker.session else {
                if loss == "stop" { deputy.agent.resume() }
                return nil
            }
            #expect(next !== deputy.agent && next !== ticker.agent)
            return deputy.agent
        }
        // The next one does its work.
        let ticker = try occupant(of: seat, in: namespace, among: agents)
        try ticker.agent.stop()
        #expect(try self.ticker(of: namespace, among: agents, not: ticker.session) !== ticker.agent)
        try pass(2, of: namespace)
        ticker.agent.resume()
        if loss == "stop" { lost.resume() }
    }

    /// If the ticker and the deputy are stopped at once, another process ticks.
    @Test func aStoppedPairIsReplaced() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(4, in: namespace)
        _ = try deputy(of: namespace, among: agents)
        let pair = try undisturbed { () throws -> (ticker: Occupant, deputy: Occupant)? in
            try pass(8, of: namespace)
            let ticker = try occupant(of: seat, in: namespace, among: agents)
            let deputy = try occupant(of: deputySeat, in: namespace, among: agents)
            guard ticker.agent !== deputy.agent else { return nil }
            try deputy.agent.stop()
            try ticker.agent.stop()
            let sessions = (seat(namespace).session, deputySeat(namespace).session)
            if sessions == (ticker.session, deputy.session) { return (ticker, deputy) }
            deputy.agent.resume()
            ticker.agent.resume()
            return nil
        }
        let next = try ticker(of: namespace, among: agents, not: pair.ticker.session)
        #expect(next !== pair.ticker.agent && next !== pair.deputy.agent)
        try pass(12, of: namespace)
        #expect(try eventually { deputySeat(namespace).session != seat(namespace).session })
        pair.ticker.agent.resume()
        pair.deputy.agent.resume()
    }

    /// Processes that began to wait together look at different moments whether there is a ticker: one of hundreds soon
    /// finds that the ticker and the deputy have both become other programs.
    @Test func hundredsOfFollowersLookAtDifferentMoments() throws {
        let namespace = try SpaceTest.namespace("n")
        namespace.core.slots.inUse.add(300)
        defer { namespace.core.slots.inUse.subtract(300) }
        let rests = (0..<300).map { _ in namespace.core.restInterval }
        #expect(rests.allSatisfy { $0 >= .seconds(1) && $0 <= .seconds(30) })
        #expect(try #require(rests.min()) < .seconds(3))
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

    /// Stops a process where it does not hold the gate, as a tick may: who is stopped there holds up all others.
    private func stop(_ agent: Agent, outsideGateOf namespace: Namespace) throws {
        let gate = namespace.core.control.gate
        while true {
            try agent.stop()
            if try gate.tryAcquire() != nil { return gate.release() }
            agent.resume()
        }
    }

    /// If the ticker is stopped, another process ticks: a claim whose time passes returns, and a waiter gets the tuple.
    @Test func aStoppedTickerIsReplaced() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try waiters(3, in: namespace)
        let ticker = try ticker(of: namespace, among: agents)
        let old = seat(namespace).session
        try pass(6, of: namespace)
        try stop(ticker, outsideGateOf: namespace)
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

    /// If much is due, a tick removes more of it than one commit does.
    ///
    /// It goes on for half of its time. On a busy machine one commit may take as long: then the scene is played again.
    @Test(arguments: StorageMode.allCases)
    func aTickGoesOnWhileMuchIsDue(_ mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, "n")
        let core = namespace.core
        func left() throws -> UInt64 {
            try core.read { (snapshot) throws(SpaceError) in try snapshot.counters().expiring }
        }
        func tick(isUsed: Bool) -> TickerRole { core.tick(isUsed: isUsed) { _ in .unheard } }
        var (inACommit, inATick) = (UInt64.zero, UInt64.zero)
        for _ in 0..<20 where inATick <= inACommit {
            try namespace.write(contentsOf: (0..<2000).map { Tuple("brief", $0) }, expires: .seconds(3600))
            core.control.clockAhead.add(3_601_000)
            let before = try left()
            try namespace.transaction { _ in }
            let between = try left()
            guard case .ticking = tick(isUsed: true) else { throw TestFailure("another process ticks") }
            (inACommit, inATick) = (before - between, between - (try left()))
        }
        #expect(inACommit > 0 && inATick > inACommit)
        guard case .idle = tick(isUsed: false) else { throw TestFailure("the seat is kept") }
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

    /// Tasks whose task word can't be rung are served all the same.
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
