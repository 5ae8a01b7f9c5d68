import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Namespaces that come and go, as other processes see it.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct SpaceChangesTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func watcher(_ options: String = "") throws -> Agent {
        let agent = try Agent()
        try agent.run("watch-space \(root.path) \(options)")
        return agent
    }

    private func expect(_ agent: Agent, _ line: String) throws {
        try agent.send("next-namespace")
        #expect(try agent.line() == "waiting")
        #expect(try agent.line() == "ok \(line)")
    }

    @Test func whatIsThereComesFirst() throws {
        let (b, a) = (try root.space.namespace("b"), try root.space.namespace("a"))
        let watcher = try watcher("initial")
        let now = try self.watcher()
        try expect(watcher, "appeared a")
        try expect(watcher, "appeared b")
        let odd = try root.space.namespace(".odd name/x".replacing("/", with: ""))
        for agent in [watcher, now] { try expect(agent, "appeared .odd namex") }
        try a.leave()
        for agent in [watcher, now] { try expect(agent, "disappeared a") }
        #expect(try b.verify() == [] && odd.verify() == [])
    }

    /// Watching deletes nothing: a namespace without an owner is there until a process reaps it.
    @Test func aKilledOwnersNamespaceGoesWithTheReaper() throws {
        let watcher = try watcher()
        let owner = try Agent(root, "n")
        try expect(watcher, "appeared n")
        try watcher.send("next-namespace")
        #expect(try watcher.line() == "waiting")
        try owner.kill()
        #expect(root.entries().contains("n"))
        #expect(try root.space.reap() == ["n"])
        #expect(try watcher.line() == "ok disappeared n")
        #expect(root.leftovers == [])
    }

    /// A creator that is killed before it has published a namespace leaves no change to tell.
    @Test func whatWasNeverPublishedIsNotTold() throws {
        let watcher = try watcher()
        let creator = try Agent()
        try creator.run("arm kill beforePublishing")
        try creator.send("open \(root.path) half")
        #expect(try creator.line() == nil)
        _ = try SpaceTest.namespace("whole")
        try expect(watcher, "appeared whole")
    }

    /// A consumer that asks seldom is told the difference, including a new namespace in an old one's place.
    @Test func whoAsksSeldomIsToldTheDifference() throws {
        let stays = try root.space.namespace("stays")
        let again = try root.space.namespace("again")
        let watcher = try watcher()
        for _ in 0..<50 { try root.space.namespace("passes").leave() }
        try again.leave()
        let anew = try root.space.namespace("again")
        let last = try root.space.namespace("last")
        try expect(watcher, "disappeared again")
        try expect(watcher, "appeared again")
        try expect(watcher, "appeared last")
        try watcher.send("next-namespace")
        #expect(try watcher.line() == "waiting")
        try last.leave()
        #expect(try watcher.line() == "ok disappeared last")
        #expect(try stays.verify() == [] && anew.verify() == [])
    }

    /// If the root goes with all that is in it, and another takes its place, ticks find out, and then inotify works
    /// again.
    @Test func aNewRootIsWatchedToo() throws {
        let owner = try Agent(root, "n")
        let watcher = try watcher("initial")
        try expect(watcher, "appeared n")
        let base = "\(root.path).old"
        #expect(rename(root.path, base) == 0)
        defer { _ = try? CommandRunner(root: "").shell("rm -rf \(base)") }
        try expect(watcher, "disappeared n")
        let fresh = try Space(root: root.path).namespace("fresh")
        try expect(watcher, "appeared fresh")
        try owner.kill()
        #expect(try fresh.verify() == [])
    }
}
