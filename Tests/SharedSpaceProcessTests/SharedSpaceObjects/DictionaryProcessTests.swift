import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Dictionaries that several processes change and observe, some of which are killed.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct DictionaryProcessTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let dictionary: SharedDictionary<Int>

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
        dictionary = try namespace.dictionary("d", of: Int.self)
    }

    private func agent(_ command: String = "") throws -> Agent {
        let agent = try Agent(root, "n")
        try agent.run("dict-open d")
        if !command.isEmpty { try agent.run(command) }
        return agent
    }

    /// No process changes a value between another's reading and setting it, and a follower's copy ends equal.
    @Test func noModificationIsLost() throws {
        let follower = try agent()
        try follower.send("dict-follow")
        #expect(try follower.line() == "waiting")
        let agents = [try agent(), try agent()]
        for agent in agents { try agent.send("dict-add n 1000") }
        for agent in agents { #expect(try agent.line() == "ok") }
        #expect(try dictionary["n"] == 2000)
        try dictionary.updateValue(1, forKey: "end")
        #expect(try follower.line() == "ok 2")
    }

    /// If one of two processes that change the same keys is killed, its change is there as a whole or not at all, and
    /// the other process goes on.
    @Test func aKilledModifierLeavesItAllOrNothing() throws {
        let other = try agent()
        try other.send("dict-add-pair-on a b")
        #expect(try other.line() == "ok")
        for _ in 0..<5 {
            let killed = try agent("dict-add-pair-on a b")
            let before = try dictionary["a"] ?? 0
            #expect(try eventually { try dictionary["a"] ?? 0 > before + 50 })
            try killed.kill()
            let after = try dictionary.snapshot()
            #expect(after["a"] == after["b"])
            #expect(try eventually { try dictionary["a"] ?? 0 > (after["a"] ?? 0) + 50 })
        }
        try namespace.write("stop")
        #expect(try other.line() == "ok")
        let after = try dictionary.snapshot()
        #expect(after["a"] == after["b"])
    }

    /// A process is killed at each crash point of a write that touches many entries.
    @Test(
        arguments: [CrashPoint.gateTaken, .begun, .beforeCommit, .afterCommit, .rung, .gateReleased],
        ["dict-double", "dict-clear", "dict-remove d"]
    )
    func aChangeOfManyIsWholeOrNothing(point: CrashPoint, command: String) throws {
        let before = Dictionary(uniqueKeysWithValues: (1...300).map { ("key \($0)", $0) })
        try dictionary.merge(before) { _, new in new }
        let killed = try agent("arm kill \(point)")
        try killed.send(command)
        #expect(try killed.ended() == .killed(by: 9))
        let isCommitted = [.afterCommit, .rung, .gateReleased].contains(point)
        let there = try namespace.dictionary("d", of: Int.self)
        let after = command == "dict-double" ? before.mapValues { 2 * $0 } : [:]
        #expect(try there.snapshot() == (isCommitted ? after : before))
        if isCommitted, command == "dict-remove d" {
            #expect(throws: SpaceError.self) { try dictionary.count }
        }
        try there.updateValue(1, forKey: "next")
    }

    @Test func anotherTypeIsRefusedInAnotherProcess() throws {
        let names = try namespace.dictionary("names", of: String.self)
        try names.updateValue("Ada", forKey: "first")
        let other = try Agent(root, "n")
        #expect(try other.ask("dict-open names").hasPrefix("error typeMismatch "))
        try other.run("dict-open d")
        try namespace.set("d/x", "no number")
        #expect(try other.ask("dict-get x").hasPrefix("error badData "))
        #expect(try names["first"] == "Ada")
    }
}
