import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Waiting among many waiters, in a full table, and beside waiters that die or stop.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct WaitingProcessTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// If there are more waiters than slots, each gets its tuple all the same.
    @Test func aFullTableStillDelivers() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try (0..<3).map { _ in try Agent(root, "n") }
        for agent in agents {
            try agent.run("keep-slots-few")
            try agent.send("takers-async 400 [\"job\", \"?int\"]")
            #expect(try agent.line() == "waiting")
        }
        #expect(try eventually { try namespace.status().waiters.count == 1024 })
        // One more waiter is a thread; it has no slot either.
        let late = try Agent(root, "n")
        try late.run("keep-slots-few")
        try late.send("take-wait 60000 [\"late\"]")
        #expect(try late.line() == "waiting")
        try namespace.write("late")
        #expect(try late.line() == #"ok ["late"]"#)
        try namespace.write(contentsOf: (0..<1200).map { Tuple("job", $0) })
        for agent in agents { #expect(try agent.line() == "ok 400") }
        #expect(try namespace.count() == 0)
        #expect(try namespace.status().waiters == [])
    }

    /// If signals end each sleep before a tick is due, the tick comes all the same, before the wait's time has passed.
    @Test(arguments: ["take-wait 600000", "read-wait 600000", "take-async"])
    func aProcessThatIsInterruptedAllTheTimeTicks(_ wait: String) throws {
        let maker = try Agent(root, "n", "persistent=1")
        try maker.run("near 0")
        let waiter = try Agent(root, "n")
        try waiter.run("interrupt-every 20")
        try waiter.send("\(wait) [\"job\"]")
        #expect(try waiter.line() == "waiting")
        // The writer is killed between its commit and the wake-up, so only a tick finds the tuple.
        let writer = try Agent(root, "n")
        try writer.run("arm kill afterCommit")
        try writer.send("write [\"job\"]")
        #expect(try writer.ended() == .killed(by: SIGKILL))
        #expect(try waiter.line() == #"ok ["job"]"#)
        // Removing the folder wakes no waiter either.
        try waiter.send("\(wait) [\"more\"]")
        #expect(try waiter.line() == "waiting")
        try maker.kill()
        try root.removeTree("n")
        #expect(try waiter.line()?.hasPrefix("error namespaceDeleted ") == true)
    }

    /// The slots of killed waiters, a whole table of them, are free again for the next waiter.
    @Test func killedWaitersGiveTheirSlotsBack() throws {
        let namespace = try SpaceTest.namespace("n")
        let crowd = try Agent(root, "n")
        try crowd.run("keep-slots-few")
        try crowd.send("takers-async 1100 [\"job\", \"?int\"]")
        #expect(try crowd.line() == "waiting")
        #expect(try eventually { try namespace.status().waiters.count == 1024 })
        try crowd.kill()
        let taker = try Agent(root, "n")
        try taker.block("take-wait 60000 [\"job\", \"?int\"]", in: namespace)
        try namespace.write("job", 1)
        #expect(try taker.line() == #"ok ["job",1]"#)
    }

    /// A taker that is stopped after its wake-up has been granted the tuple; the next in line gets it nevertheless.
    @Test func aStoppedTakerKeepsNothingFromTheOthers() throws {
        let namespace = try SpaceTest.namespace("n")
        let stopped = try Agent(root, "n")
        try stopped.run("arm stop grantSeen")
        let other = try Agent(root, "n")
        for agent in [stopped, other] {
            try agent.block("take-wait 60000 [\"job\", \"?int\"]", in: namespace)
        }
        try namespace.write("job", 1)
        try stopped.waitUntilStopped()
        #expect(try other.line() == #"ok ["job",1]"#)
        // The other taker was not served by a tick, so no hint was lost.
        #expect(try other.run("late") == "0")
        stopped.resume()
        try namespace.write("job", 2)
        #expect(try stopped.line() == #"ok ["job",2]"#)
    }

    @Test func aWaitEndsWithItsTime() throws {
        let namespace = try SpaceTest.namespace("n")
        let taker = try Agent(root, "n")
        for timeout in [0, 20, 300] {
            try taker.send("take-wait \(timeout) [\"never\"]")
            #expect(try taker.line() == "waiting")
            #expect(try taker.line() == "none")
        }
        #expect(try namespace.status().waiters == [])
        // The ended wait takes no tuple that comes after.
        try namespace.write("never")
        #expect(try namespace.count() == 1)
    }

    @Test func whoWaitsInADeletedNamespaceLearnsOfIt() throws {
        let namespace = try root.space.namespace("n")
        let thread = try Agent(root, "n")
        let task = try Agent(root, "n")
        try thread.send("take-wait 60000 [\"never\"]")
        try task.send("take-async [\"never\"]")
        for agent in [thread, task] { #expect(try agent.line() == "waiting") }
        #expect(try eventually { try namespace.status().waiters.count == 2 })
        try root.space.delete("n")
        for agent in [thread, task] { #expect(try agent.line()?.hasPrefix("error namespaceDeleted") == true) }
        let error = #expect(throws: SpaceError.self) { try namespace.count() }
        #expect(error?.code == .namespaceDeleted)
        // The process may open the namespace anew.
        try thread.open(root, "n")
        #expect(try thread.run("count") == "0")
    }

    /// If the namespace's folder is removed with everything in it, waiters learn of it at their tick.
    @Test func whoWaitsInARemovedFolderLearnsOfIt() throws {
        let owner = try Agent(root, "n")
        try owner.send("take-wait 60000 [\"never\"]")
        #expect(try owner.line() == "waiting")
        let visitor = try root.space.namespace("n", owning: false)
        #expect(try eventually { try visitor.status().waiters.count == 1 })
        try root.removeTree("n")
        #expect(try owner.line()?.hasPrefix("error namespaceDeleted") == true)
        try owner.open(root, "n")
        try owner.run("write [\"new\"]")
        #expect(try owner.run("count") == "1")
        #expect(try owner.run("verify") == "")
    }
}
