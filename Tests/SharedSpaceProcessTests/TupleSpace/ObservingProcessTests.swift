import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Observers in other processes than those that write, die, fork or delete.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct ObservingProcessTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func observer(_ options: String = "owning=0") throws -> Agent {
        let agent = try Agent(root, "n", options)
        try agent.run("observe")
        return agent
    }

    @Test func whatOthersWriteIsTold() throws {
        let namespace = try SpaceTest.namespace("n")
        let observers = try (0..<2).map { _ in try observer() }
        let writer = try Agent(root, "n")
        try writer.run("write-loop 0 500")
        try namespace.post("end", 7)
        let expected = (0..<500).map { "write:[\"job\",\($0)]" } + ["post:7"]
        for observer in observers { #expect(try observer.run("told 501") == expected.joined(separator: " ")) }
        // Each observer has its row; a killed observer's row goes at the tick of another.
        #expect(try Set(namespace.status().watchers.map(\.pid)) == Set(observers.map(\.pid)))
        try observers[0].kill()
        #expect(try eventually { try namespace.status().watchers.map(\.pid) == [observers[1].pid] })
    }

    /// No process touches the namespace after the writer's death: a tick finds what the writer had committed.
    @Test(arguments: [CrashPoint.afterCommit, .granted, .gateReleased, .woken])
    func whatAKilledWriterCommittedIsTold(_ point: CrashPoint) throws {
        _ = try SpaceTest.namespace("n")
        let observer = try observer()
        let writer = try Agent(root, "n")
        try writer.run("arm kill \(point)")
        try writer.send("write [\"job\", 1]")
        #expect(try writer.ended() == .killed(by: SIGKILL))
        #expect(try observer.run("told 1") == "write:[\"job\",1]")
    }

    /// The process hears change signals although many handlers block.
    @Test func manyBlockedHandlers() throws {
        let agent = try Agent(root, "n")
        #expect(try agent.run("blocked-handlers 70") == "210")
        #expect(try root.space.namespace("n").verify() == [])
    }

    @Test func theEndIsTold() throws {
        let namespace = try root.space.namespace("n")
        let observers = try (0..<2).map { _ in try observer() }
        try namespace.set("k", 1)
        try root.space.delete("n")
        for observer in observers { #expect(try observer.run("told 2") == "set:1 gone:") }
    }

    /// A forked child is told of nothing, can register nothing, and ends none of its parent's observations.
    @Test func aForkedChildIsToldOfNothing() throws {
        let namespace = try SpaceTest.namespace("n")
        let observer = try observer()
        #expect(try observer.run("fork-observing") == "0")
        #expect(try namespace.status().watchers.map(\.pid) == [observer.pid])
        try namespace.set("k", 1)
        #expect(try observer.run("told 1") == "set:1")
    }

    /// After many rounds of observing a process has no more descriptors, threads and memory than before.
    @Test func observingLeavesNothingBehind() throws {
        let namespace = try SpaceTest.namespace("n")
        let agent = try Agent(root, "n")
        // The resources of the first use stay.
        try agent.run("observe-rounds 200")
        #expect(try eventually { try agent.run("hold-more") == "1 1 1" })
        let (before, heap) = (try holdings(agent), try self.heap(agent))
        // The counts show one more watch.
        try agent.run("observe")
        #expect(try holdings(agent)[2] == before[2] + 1)
        try agent.run("leak")
        #expect(try self.heap(agent) >= heap + 1 << 20)
        // The observer of the agent is replaced, and so ends.
        try agent.run("observe-rounds 1000")
        #expect(
            try eventually {
                let now = try holdings(agent)
                // The pool that runs tasks may start its threads at any time, as many as there are processors.
                return now[0] <= before[0] && now[1] <= before[1] + sysconf(CInt(_SC_NPROCESSORS_ONLN))
            }
        )
        #expect(try namespace.status().watchers.count == 1)
        #expect(try self.heap(agent) < heap + 2 << 20)
    }

    private func holdings(_ agent: Agent) throws -> [Int] {
        try agent.run("holdings").split(separator: " ").compactMap { Int($0) }
    }

    private func heap(_ agent: Agent) throws -> Int { Int(try agent.run("heap")) ?? 0 }
}
