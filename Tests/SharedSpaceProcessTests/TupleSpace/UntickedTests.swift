import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes whose ticks are turned off: a lost wake-up stays lost, however busy the machine is, and a waiter that was
/// not woken does not wake.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct UntickedTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// A cancelled waiter that was granted the tuple already hands it on to the waiter behind it.
    @Test func aCancelledWaiterHandsOn() throws {
        let namespace = try SpaceTest.namespace("n")
        let agent = try Agent(root, "n")
        try agent.run("ticks-off")
        #expect(try agent.run("hand-on 100") == "100")
        #expect(try namespace.count() == 0)
    }

    /// Many tasks of one process take and write at once.
    @Test func aCrowdOfTasksIsServed() throws {
        let namespace = try SpaceTest.namespace("n")
        let agent = try Agent(root, "n")
        try agent.run("ticks-off")
        #expect(try agent.run("crowd 500") == "500")
        #expect(try namespace.count() == 0)
        #expect(try namespace.status().waiters == [])
    }

    /// A write wakes the oldest of a hundred processes that wait in matching takes, and no other.
    @Test func aWriteWakesOneOfAHundred() throws {
        let namespace = try SpaceTest.namespace("n")
        let takers = try (1...100).map { number in
            let agent = try Agent(root, "n")
            try agent.run("ticks-off")
            try agent.send("take-wait 600000 [\"job\", \"?int\"]")
            #expect(try agent.line() == "waiting")
            // Each waiter is older than the next.
            #expect(try eventually { try namespace.status().waiters.count == number })
            return agent
        }
        #expect(try eventually { try takers.allSatisfy { try isAsleep($0.pid) } })
        var sleeps = try takers.map { try Sleeps(of: $0.pid) }
        for number in 0..<10 {
            try namespace.write("job", number)
            #expect(try takers[number].line() == "ok [\"job\",\(number)]")
            // A taker woken in vain would look for the tuple first, and then go to sleep again.
            #expect(try eventually { try takers.allSatisfy { try isAsleep($0.pid) } })
            let now = try takers.map { try Sleeps(of: $0.pid) }
            let woken = zip(takers, zip(sleeps, now)).filter { $0.1.0 != $0.1.1 }.map(\.0.pid)
            #expect(woken == [takers[number].pid])
            sleeps = now
        }
        #expect(try namespace.status().waiters.count == takers.count - 10)
    }
}
