import SharedSpace
import SpaceEngine
import SpaceInspection
import SpaceTestSupport
import SpaceTesting
import Testing

/// A root with a namespace whose commits are logged, and another root with a standby of it.
struct LoggedPair {
    let root: TemporaryRoot
    let elsewhere: TemporaryRoot
    var log: String { elsewhere.path + "/.log" }

    init() throws {
        root = try SpaceTest.root()
        elsewhere = try TemporaryRoot()
    }

    /// A standby that has what the log has until now.
    func standby() throws -> Namespace {
        let (namespace, _) = try elsewhere.space.replay(
            log,
            as: "copy",
            owner: .session,
            persistent: true,
            asStandby: true
        )
        return namespace
    }

    func catchUp(_ standby: Namespace) throws {
        var hasCaughtUp = false
        try Standby(standby, log: log).follow(until: { hasCaughtUp }) { _ in hasCaughtUp = true }
    }

    /// Compares a standby with its namespace, where what is due may be removed at any time.
    func expectSame(_ namespace: Namespace, _ standby: Namespace, _ when: String) throws {
        var (one, other) = (NamespaceContents(), NamespaceContents())
        let isComparable = try eventually {
            one = try NamespaceContents(of: namespace)
            try catchUp(standby)
            other = try NamespaceContents(of: standby)
            return one.entry == other.entry
        }
        #expect(isComparable)
        for difference in one.differences(from: other) { Issue.record("\(when): \(difference)") }
    }

    /// Makes random operations in rounds, compares the standby after each, and promotes it at the end.
    ///
    /// - Returns: How many commits the log has.
    @discardableResult
    func compare(rounds: Int, of operations: Int, _ mode: StorageMode, seed: UInt64) throws -> UInt64 {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: mode, isPersistent: true))
        var work = RandomWork(namespace, seed: seed)
        for _ in 0..<100 { try work.step() }
        _ = try namespace.beginLog(to: log)
        let copy = try standby()
        try expectSame(namespace, copy, "at the beginning, seed \(seed)")
        for round in 1...rounds {
            for _ in 0..<operations { try work.step() }
            // More is written than taken.
            if try namespace.count(matching: ["job", .any, .any]) > 3000 {
                _ = try namespace.takeAll(matching: ["job", .any, .any], max: 2000)
            }
            try expectSame(namespace, copy, "round \(round), seed \(seed)")
        }
        let commits = try NamespaceContents(of: copy).entry
        #expect(try copy.verify() == [])
        // The log can be replayed from its beginning, too, and what it has then is what the standby becomes.
        try work.end()
        try Standby.promote(copy)
        #expect(try copy.verify() == [])
        try copy.write("own", 1)
        #expect(try copy.takeIfExists("own", 1) != nil)
        try namespace.endLog()
        #expect(try namespace.verify() == [])
        try copy.setPersistent(false)
        try copy.leave()
        try namespace.setPersistent(false)
        try namespace.leave()
        return commits
    }
}
