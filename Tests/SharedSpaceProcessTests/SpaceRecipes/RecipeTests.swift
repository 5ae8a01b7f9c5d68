import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Elections, barriers, latches, counters, rate limits, queues and evaluations whose processes are killed.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct RecipeTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("recipes")
    }

    /// Has an agent wait for something, and returns when the agent stands in the queue.
    private func queue(_ agent: Agent, _ command: String) throws {
        let before = try namespace.status().holds.count
        try agent.send(command)
        #expect(try agent.line() == "waiting")
        #expect(try eventually { try namespace.status().holds.count == before + 1 })
    }

    @Test func aDeadLeaderIsFollowedByTheNext() throws {
        let agents = try (0..<3).map { _ in try Agent(root, "recipes") }
        for agent in agents { try queue(agent, "elect chief 60000") }
        var last: UInt64 = 0
        for agent in agents {
            let term = try #require(UInt64(agent.line()?.dropFirst(3) ?? ""))
            #expect(term > last)
            last = term
            #expect(try namespace.election("chief").leader()?.pid == agent.pid)
            try agent.kill()
        }
    }

    /// A deposed leader that was stopped learns of it when it goes on.
    @Test func aStoppedLeaderIsDeposed() throws {
        let (old, new) = (try Agent(root, "recipes"), try Agent(root, "recipes"))
        try queue(old, "lock none 60000")
        #expect(try old.line()?.hasPrefix("ok ") == true)
        try old.run("unlock none")
        for agent in [old, new] { try queue(agent, "elect chief 60000") }
        let term = try #require(UInt64(old.line()?.dropFirst(3) ?? ""))
        try old.stop()
        #expect(try namespace.election("chief").depose(term: term))
        #expect(try #require(UInt64(new.line()?.dropFirst(3) ?? "")) > term)
        old.resume()
        #expect(try namespace.election("chief").leader()?.pid == new.pid)
        try old.exit()
        #expect(try namespace.election("chief").leader()?.pid == new.pid)
    }

    /// A process that was killed while it waited at a barrier is not counted.
    @Test func theDeadAreNotCountedAtABarrier() throws {
        let agents = try (0..<4).map { _ in try Agent(root, "recipes") }
        for agent in agents[..<2] { try queue(agent, "barrier step 60000 3") }
        try agents[0].kill()
        #expect(try eventually { try namespace.status().holds.count == 1 })
        try queue(agents[2], "barrier step 60000 3")
        #expect(try namespace.status().holds.allSatisfy { !$0.isHeld })
        try agents[3].send("barrier step 60000 3")
        #expect(try agents[3].line() == "waiting")
        for agent in agents[1...] { #expect(try agent.line() == "ok") }
        #expect(try namespace.status().holds == [])
    }

    /// A process is not counted either if it was killed while no other process waited, so that none listened for its
    /// end.
    @Test func theDeadDoNotCompleteABarrier() async throws {
        let doomed = try Agent(root, "recipes")
        try queue(doomed, "barrier step 60000 2")
        try doomed.kill()
        #expect(try await !namespace.barrier("step", parties: 2).wait(timeout: .milliseconds(1)))
        #expect(try namespace.status().holds == [])
    }

    @Test func whatTheDeadCountedDownCounts() throws {
        let (waiter, first) = (try Agent(root, "recipes"), try Agent(root, "recipes"))
        try waiter.send("latch ready 60000 2")
        #expect(try waiter.line() == "waiting")
        #expect(try first.run("count-down ready 2") == "1")
        try first.kill()
        let second = try Agent(root, "recipes")
        #expect(try second.run("count-down ready 2") == "0")
        #expect(try waiter.line() == "ok")
    }

    /// A counter that killed processes add to has each number that they said, and at most one more for each of them.
    @Test func noCountIsLostOrDoubled() throws {
        var said: [Int] = []
        for _ in 0..<4 {
            let agent = try Agent(root, "recipes")
            try agent.send("add-loop n")
            for _ in 0..<50 { said.append(try #require(Int(agent.line() ?? ""))) }
            try agent.kill()
            while let line = try agent.line() { if let number = Int(line) { said.append(number) } }
        }
        #expect(Set(said).count == said.count)
        #expect(try (said.count...said.count + 4).contains(namespace.counter("n").value()))
    }

    @Test func whatTheDeadUsedUpIsUsedUp() throws {
        for _ in 0..<3 {
            let agent = try Agent(root, "recipes")
            #expect(try agent.ask("rate api 3") == "ok")
            try agent.kill()
        }
        #expect(try Agent(root, "recipes").ask("rate api 3") == "none")
    }

    /// An item whose worker is killed goes to the next worker, and after the third time to none.
    @Test func aDeadWorkersItemReturns() throws {
        let work = namespace.queue("work", deliveries: 3)
        let workers = try (0..<3).map { _ in try Agent(root, "recipes") }
        for worker in workers { try queue(worker, "queue-take work 60000") }
        try work.put("x", group: "g")
        try work.put("y", group: "g")
        for worker in workers {
            #expect(try worker.line() == #"ok "x""#)
            #expect(try work.counts()[.blocked] == 1)
            #expect(try namespace.verify() == [])
            try worker.kill()
            if worker !== workers[2] { continue }
            #expect(try eventually { try work.takeIfReady()?.value == "y" })
        }
        #expect(try work.items(in: .buried).map(\.value) == ["x"])
    }

    // MARK: One death, one delivery

    /// Completes the next item as soon as there is one, and returns how often it came back.
    private func deliveries(of queue: WorkQueue) throws -> Int? {
        var deliveries: Int?
        _ = try eventually {
            guard let item = try queue.takeIfReady() else { return false }
            deliveries = item.deliveries
            try item.complete()
            return true
        }
        return deliveries
    }

    /// If a process ends with an item in hand and other takers waiting, none of these takers is served the item too.
    @Test(arguments: ["kill", "leave"])
    func oneDeathIsOneDelivery(_ end: String) throws {
        let work = namespace.queue("work", deliveries: 3)
        let worker = try Agent(root, "recipes")
        // These are more takers than are dropped at a time.
        try worker.run("queue-takers work 20")
        #expect(try eventually { try namespace.status().holds.count == 20 })
        try work.put("x")
        #expect(try worker.line() == #"has "x""#)
        if end == "kill" { try worker.kill() } else { try worker.run("leave") }
        let deliveries = try deliveries(of: work)
        #expect(deliveries == 1)
        #expect(try work.items(in: .buried) == [])
    }

    /// The same, with several processes that end at once.
    @Test func manyDeathsAtOnceAreOneDelivery() throws {
        let work = namespace.queue("work", deliveries: 3)
        let workers = try (0..<5).map { _ in try Agent(root, "recipes") }
        for worker in workers { try queue(worker, "queue-take work 60000") }
        try work.put("x")
        #expect(try workers[0].line() == #"ok "x""#)
        // The workers are stopped, so none of them looks after those that are killed before it.
        for worker in workers { try worker.stop() }
        for worker in workers { try worker.kill() }
        #expect(try deliveries(of: work) == 1)
        #expect(try work.items(in: .buried) == [])
    }

    /// An item that was served to a dead taker, and returns, counts no delivery.
    @Test func whatTheDeadAreServedIsNotDelivered() throws {
        let work = namespace.queue("work", deliveries: 1)
        let worker = try Agent(root, "recipes")
        try queue(worker, "queue-take work 60000 1")
        try worker.kill()
        // No process listens for the worker's end, and the worker still stands in the queue.
        try work.put("x")
        // The item is served to the dead taker, and is back once the counts were asked for.
        #expect(try eventually { try work.counts()[.ready] == 1 })
        #expect(try deliveries(of: work) == 0)
        #expect(try work.items(in: .buried) == [])
    }

    /// Another process serves the taker, which is killed as it is about to record that it knows: the delivery counts
    /// only once that record is committed.
    @Test(arguments: [CrashPoint.beforeCommit, .afterCommit])
    func deliveredIsWhatItsTakerHasSeen(_ point: CrashPoint) throws {
        let work = namespace.queue("work", deliveries: 2)
        let worker = try Agent(root, "recipes")
        // The first commit makes the worker's place in the queue.
        try worker.run("arm kill \(point) 2")
        try queue(worker, "queue-take work 60000 2")
        try work.put("x")
        #expect(try worker.ended() == .killed(by: SIGKILL))
        let expected = point == .beforeCommit ? 0 : 1
        #expect(try deliveries(of: work) == expected)
    }

    /// If a taker's time is over while the gate is not free, the taker throws, and leaves no place behind that is
    /// served.
    @Test func aTakerThatThrowsLeavesNoPlace() throws {
        let namespace = try root.space.namespace("stopped")
        let work = namespace.queue("work")
        try namespace.write("kept")
        let holder = try Agent(root, "stopped")
        try holder.run("arm stop gateTaken")
        // The taker is a process, because a task might not get a thread before its time is over.
        let taker = try Agent(root, "stopped", "timeout=100")
        // The holder stops within this time, which the test waits for.
        try taker.send("queue-take work 15000")
        #expect(try taker.line() == "waiting")
        #expect(try eventually { try namespace.status().holds.count == 1 })
        try holder.send("write [\"half\"]")
        try holder.waitUntilStopped()
        #expect(try taker.line()?.hasPrefix("error holderStopped \(holder.pid) ") == true)
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok") == true)
        try work.put("x")
        #expect(try eventually { try work.takeIfReady()?.value == "x" })
        #expect(try namespace.status().holds == [])
    }

    /// If a worker is killed at any step of taking or completing, no item is lost, and no completed item comes back.
    @Test(arguments: ["queue-take work 60000", "queue-complete"], [CrashPoint.beforeCommit, .afterCommit, .granted])
    func aWorkerKilledHalfwayLosesNothing(_ command: String, _ point: CrashPoint) throws {
        let work = namespace.queue("work", deliveries: 3)
        try work.put("x")
        let victim = try Agent(root, "recipes")
        if command == "queue-complete" {
            try victim.send("queue-take work 60000")
            #expect(try victim.line() == "waiting")
            #expect(try victim.line() == #"ok "x""#)
        }
        try victim.run("arm kill \(point)")
        try victim.send(command)
        #expect(try victim.ended() == .killed(by: SIGKILL))
        let isDone = command == "queue-complete" && point != .beforeCommit
        if isDone {
            #expect(try work.takeIfReady() == nil)
            #expect(try work.counts() == QueueCounts())
        } else {
            #expect(try eventually { try work.takeIfReady()?.value == "x" })
        }
    }

    /// The item of a stopped worker goes to the one that waits when its time to run is over, and not before without one.
    @Test(arguments: [false, true]) func aStoppedWorkersItemReturns(_ hasTimeToRun: Bool) throws {
        let work = namespace.queue("work", deliveries: 3)
        try work.put("x")
        let (stopped, other) = (try Agent(root, "recipes"), try Agent(root, "recipes"))
        #expect(try takes(stopped, "queue-take work 60000 3" + (hasTimeToRun ? " 500" : "")) == #"ok "x""#)
        try stopped.stop()
        // Without a time to run the item stays with its worker.
        let patience = hasTimeToRun ? 60000 : 1000
        #expect(try takes(other, "queue-take work \(patience)") == (hasTimeToRun ? #"ok "x""# : "none"))
        stopped.resume()
        let ended = try stopped.ask("queue-complete")
        #expect(ended.hasPrefix(hasTimeToRun ? "error holdLost" : "ok"), "\(ended)")
        if hasTimeToRun { try other.run("queue-complete") }
        #expect(try work.counts() == QueueCounts())
        #expect(try namespace.verify() == [])
    }

    /// If the worker and all that could notice are killed, the next process that looks finds the item.
    @Test func aTimeToRunOutlivesProcesses() throws {
        let work = namespace.queue("work", deliveries: 3)
        try work.put("x")
        let worker = try Agent(root, "recipes")
        #expect(try takes(worker, "queue-take work 60000 3 1") == #"ok "x""#)
        try worker.stop()
        #expect(try eventually { try work.items(in: .ready).map(\.deliveries) == [1] })
        try worker.kill()
        #expect(try namespace.verify() == [])
        #expect(try deliveries(of: work) == 1)
    }

    /// A process that is killed while it waits for room leaves nothing behind; the next one puts.
    @Test func aKilledPutterLeavesNothing() throws {
        let work = namespace.queue("work", deliveries: 3, bound: 1)
        try work.put("a")
        let putters = try (0..<2).map { _ in try Agent(root, "recipes") }
        for (index, putter) in putters.enumerated() {
            try putter.send("queue-put work 1 60000 p\(index)")
            #expect(try putter.line() == "waiting")
        }
        #expect(try eventually { try namespace.status().waiters.count == 2 })
        try putters[0].kill()
        #expect(try deliveries(of: work) == 0)
        #expect(try putters[1].line() == "ok")
        #expect(try work.items().map(\.value) == ["p1"])
    }

    private func takes(_ agent: Agent, _ command: String) throws -> String? {
        try agent.send(command)
        #expect(try agent.line() == "waiting")
        return try agent.line()
    }

    /// The program dies with the process that waits for its tuple.
    @Test func aDeadEvaluationWritesNothing() throws {
        let agent = try Agent(root, "recipes")
        let file = "\(root.path)/pid"
        try agent.send("evaluate echo $$ > \(file).new; mv \(file).new \(file); exec sleep 1000")
        #expect(try agent.line() == "waiting")
        #expect(try eventually { access(file, R_OK) == 0 })
        let runner = CommandRunner(root: root.path)
        let child = try runner.shell("cat \(file)").output.filter(\.isNumber)
        try agent.kill()
        #expect(
            try eventually {
                let state = try runner.shell("cat /proc/\(child)/stat 2>&-").output
                return state.isEmpty || state.contains(") Z ")
            }
        )
        #expect(unlink(file) == 0)
        #expect(try namespace.count() == 0)
    }
}
