import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Ordered sets that several processes edit and observe, some of which are killed.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct OrderedSetProcessTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let set: SharedOrderedSet<Int>

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
        set = try namespace.orderedSet("s", of: Int.self)
    }

    private func agent(_ command: String = "") throws -> Agent {
        let agent = try Agent(root, "n")
        try agent.run("set-open s")
        if !command.isEmpty { try agent.run(command) }
        return agent
    }

    /// Copies that begin before the edits or in the midst of them, and those with moves as pairs, all end equal.
    @Test func everyObserversCopyEndsEqual() throws {
        try set.append(contentsOf: 0..<600)
        let observers = [try agent("set-observe"), try agent("set-observe pairs")]
        let follower = try agent()
        try follower.send("set-follow")
        let editors = try (0..<3).map { _ in try agent() }
        for (seed, editor) in editors.enumerated() { try editor.send("set-churn \(seed) 1500") }
        let late = try agent("set-observe")
        for editor in editors { #expect(try editor.line() == "ok") }
        try set.append(-1)
        let count = try set.count
        for observer in observers + [late] {
            let answer = try observer.ask("set-same")
            #expect(answer.hasPrefix("ok \(count) "), "\(answer)")
        }
        let followed = try follower.line()
        #expect(followed?.hasPrefix("ok \(count) ") == true, "\(followed ?? "nothing")")
    }

    /// If an editor is killed while it edits, the edit that it had begun is there as a whole or not at all, and others
    /// go on.
    @Test func aKilledEditorLeavesAWholeSet() throws {
        try set.append(contentsOf: 0..<600)
        let observer = try agent("set-observe")
        for seed in 0..<5 {
            let editor = try agent("set-churn-on \(seed)")
            let before = try namespace.status().sequence
            #expect(try eventually { try namespace.status().sequence > before + 100 })
            try editor.kill()
            #expect(try namespace.verify() == [])
            try set.append(10_000 + seed)
        }
        try set.append(-1)
        let answer = try observer.ask("set-same")
        #expect(answer.hasPrefix("ok \(try set.count) "), "\(answer)")
    }

    /// An editor is killed at each crash point of an edit that splits chunks, of one that moves, of one that
    /// sorts, and of one that replaces two elements by two edits.
    @Test(
        arguments: [CrashPoint.gateTaken, .begun, .beforeCommit, .afterCommit, .rung, .gateReleased],
        ["fill 1000 1400", "move 299 0", "sort", "remove 5", "replace-ends 1000 1001"]
    )
    func anEditIsWholeOrNothing(point: CrashPoint, edit: String) throws {
        try set.append(contentsOf: (0..<300).reversed())
        let before = try set.elements()
        let observer = try agent("set-observe")
        let editor = try agent("arm kill \(point)")
        try editor.send("set-edit \(edit)")
        #expect(try editor.ended() == .killed(by: 9))
        var after = before
        switch edit.prefix(4) {
        case "fill": after += 1000..<1400
        case "move": after.insert(after.remove(at: 299), at: 0)
        case "sort": after.sort()
        case "repl": (after[0], after[299]) = (1000, 1001)
        default: after.remove(at: 5)
        }
        let isCommitted = [.afterCommit, .rung, .gateReleased].contains(point)
        try set.append(-1)
        #expect(try set.elements() == (isCommitted ? after : before) + [-1])
        let answer = try observer.ask("set-same")
        #expect(answer.hasPrefix("ok "), "\(answer)")
    }

    /// A stopped editor that holds the gate is named, and its edit is finished or undone when it goes on.
    @Test func aStoppedEditorIsNamed() throws {
        try set.append(contentsOf: 0..<10)
        let other = try Agent(root, "n", "timeout=200")
        try other.run("set-open s")
        let editor = try agent("arm stop beforeCommit")
        try editor.send("set-edit move 9 0")
        try editor.waitUntilStopped()
        #expect(try other.ask("set-edit append 77").hasPrefix("error holderStopped \(editor.pid) "))
        editor.resume()
        #expect(try editor.line() == "ok")
        try other.run("set-edit append 77")
        #expect(try set.elements() == [9] + Array(0..<9) + [77])
    }

    /// A process that means another type by the same name is refused.
    @Test func anotherTypeIsRefusedInAnotherProcess() throws {
        let names = try namespace.orderedSet("names", of: String.self)
        try names.append("Ada")
        let other = try Agent(root, "n")
        #expect(try other.ask("set-open names").hasPrefix("error typeMismatch "))
        try other.run("set-open s")
        try other.run("set-edit append 1")
        #expect(try names.elements() == ["Ada"] && set.elements() == [1])
    }
}
