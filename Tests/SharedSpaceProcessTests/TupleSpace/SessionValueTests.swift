import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Cells and tuples that live as long as a process: they go with it, however it ends, and watchers are told.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct SessionValueTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func member(_ namespace: Namespace) throws -> Agent {
        let member = try Agent(root, "n")
        try member.run("set-session member/a {\"host\":\"ada\"}")
        try member.run("write-session [\"member\", 1]")
        #expect(try namespace.get("member/a") == ["host": "ada"])
        #expect(try namespace.count(matching: ["member", .any]) == 1)
        return member
    }

    private enum Ending: CaseIterable { case kill, exit, leave }

    /// A watcher is told, without a write of any other process.
    @Test(arguments: [StorageMode.fast, .durable], Ending.allCases)
    private func whatBelongsToAProcessGoesWithIt(_ mode: StorageMode, _ ending: Ending) async throws {
        let namespace = try SpaceTest.namespace(mode)
        let root = try SpaceTest.root(for: mode)
        let member = try Agent(root, "n")
        try member.run("set-session member/a 1")
        try member.run("write-session [\"member\", 1]")
        let changes = try namespace.changes()
        switch ending {
        case .kill: try member.kill()
        case .exit: try member.send("exit")
        case .leave: try member.run("leave")
        }
        var told: Set<String> = []
        var iterator = changes.makeAsyncIterator()
        while told.count < 2, let change = try await iterator.next() {
            told.insert("\(change.kind) \(change.key ?? change.tuple?.json ?? "")")
        }
        #expect(told == ["unset member/a", #"expire ["member",1]"#])
        #expect(try namespace.get("member/a") == nil)
        #expect(try namespace.count() == 0)
        #expect(try namespace.verify() == [])
    }

    /// A process that polls never waits, and so never ticks.
    @Test(arguments: 0..<4)
    func whoPollsDoesNotSeeTheDead(_ form: Int) throws {
        let namespace = try SpaceTest.namespace("n")
        let member = try member(namespace)
        try member.kill()
        #expect(
            try eventually {
                switch form {
                case 0: try namespace.get("member/a") == nil
                case 1: try namespace.cells().isEmpty
                case 2: try namespace.readIfExists(matching: ["member", 1]) == nil
                default: try namespace.count(matching: ["member", .any]) == 0
                }
            }
        )
        #expect(try eventually { try namespace.cells().isEmpty && namespace.count() == 0 })
        #expect(try namespace.verify() == [])
    }

    @Test func aStoppedProcessKeepsWhatItHas() throws {
        let namespace = try SpaceTest.namespace("n")
        let member = try member(namespace)
        try member.stop()
        let waiter = try Agent(root, "n")
        // The waiter ticks; several of its ticks pass.
        try waiter.send("take-wait 1000 [\"nothing\"]")
        #expect(try waiter.line() == "waiting")
        #expect(try waiter.line() == "none")
        #expect(try namespace.get("member/a") == ["host": "ada"])
        member.resume()
        try member.kill()
        #expect(try eventually { try namespace.get("member/a") == nil })
    }

    @Test func anotherProcessMayBeNamed() throws {
        let namespace = try SpaceTest.namespace("n")
        let other = try Agent(root, "m")
        try namespace.set("of", 1, lifetime: .process(other.pid))
        try namespace.set("lifted", 1, lifetime: .process(other.pid))
        try namespace.set("anew", 1, lifetime: .process(other.pid))
        let id = try namespace.write(tuple: ["of"], lifetime: .process(other.pid))
        #expect(try namespace.details(of: "of")?.endsWithProcess == true)
        #expect(try namespace.persist("lifted"))
        try namespace.set("anew", 2)
        try other.kill()
        #expect(try eventually { try namespace.cells().map(\.key) == ["anew", "lifted"] })
        #expect(try eventually { try namespace.count() == 0 })
        #expect(try !namespace.persist(id))
        #expect(throws: SpaceError.self) { try namespace.set("of", 1, lifetime: .process(other.pid)) }
        #expect(throws: SpaceError.self) { try namespace.write("of", lifetime: .process(1)) }
        #expect(try namespace.verify() == [])
    }

    /// A tuple that another process has claimed meanwhile goes when it comes back.
    @Test func aClaimedTupleOfTheDeadDoesNotComeBack() throws {
        let namespace = try SpaceTest.namespace("n")
        let member = try member(namespace)
        let claim = try #require(try namespace.claimBriefly(matching: ["member", .any]).first)
        try member.kill()
        #expect(try eventually { try namespace.get("member/a") == nil })
        try namespace.release(claim)
        #expect(try eventually { try namespace.count() == 0 })
        #expect(try namespace.verify() == [])
    }
}
