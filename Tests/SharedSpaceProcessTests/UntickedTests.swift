import SharedSpace
import SpaceTestSupport
import Testing

/// Tasks of a process whose ticks are turned off: a wake-up that is lost stays lost, however busy the machine is.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct UntickedTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// A cancelled waiter to whom the tuple was granted already hands it on to who waits behind it.
    @Test func aCancelledWaiterHandsOn() throws {
        let namespace = try root.space.namespace("n")
        let agent = try Agent(root, "n")
        try agent.run("ticks-off")
        #expect(try agent.run("hand-on 100") == "100")
        #expect(try namespace.count() == 0)
        #expect(try namespace.verify() == [])
    }

    /// Many tasks of one process, takers and writers at once.
    @Test func aCrowdOfTasksIsServed() throws {
        let namespace = try root.space.namespace("n")
        let agent = try Agent(root, "n")
        try agent.run("ticks-off")
        #expect(try agent.run("crowd 500") == "500")
        #expect(try namespace.count() == 0)
        #expect(try namespace.status().waiters == [])
        #expect(try namespace.verify() == [])
    }
}
