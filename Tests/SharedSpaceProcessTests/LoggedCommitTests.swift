import Glibc
import SeededRandom
import SharedSpace
import SpaceEngine
import SpaceInspection
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Each commit is in the log before it counts, and a standby that applies the log has the same tables, byte for byte.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct LoggedCommitTests {
    let root: TemporaryRoot
    let elsewhere: TemporaryRoot
    private var log: String { elsewhere.path + "/.log" }

    init() throws {
        root = try SpaceTest.root()
        elsewhere = try TemporaryRoot()
    }

    /// A standby that has what the log has until now.
    private func standby() throws -> Namespace {
        let (namespace, _) = try elsewhere.space.replay(
            log,
            as: "copy",
            owner: .session,
            persistent: true,
            asStandby: true
        )
        return namespace
    }

    private func catchUp(_ standby: Namespace) throws {
        var hasCaughtUp = false
        try Standby(standby).follow(until: { hasCaughtUp }) { _ in hasCaughtUp = true }
    }

    /// Compares a standby with its namespace, where what is due may be removed at any time.
    private func expectSame(_ namespace: Namespace, _ standby: Namespace, _ when: String) throws {
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

    /// A reader of a standby is woken by the entry, and not by a tick.
    @Test func aReaderOfAStandbyIsWoken() throws {
        let namespace = try SpaceTest.namespace("n")
        _ = try namespace.beginLog(to: log)
        let copy = try standby()
        let reader = try Agent(elsewhere, "copy", "owning=0")
        for (number, command) in ["read-wait 60000", "read-async"].enumerated() {
            try reader.block("\(command) [\"job\", \(number)]", in: copy)
            try namespace.write("job", number)
            try catchUp(copy)
            #expect(try reader.line() == "ok [\"job\",\(number)]")
        }
        #expect(try reader.run("late") == "0")
        try reader.kill()
        try Standby.promote(copy)
        try copy.setPersistent(false)
        try copy.leave()
    }

    /// A claim that is overdue in a standby returns when the log says so; a look there neither returns it nor fails.
    @Test func anOverdueClaimIsTheLogs() throws {
        let maker = try Agent(root, "n", "persistent=1")
        let namespace = try root.space.namespace("n", owning: false)
        _ = try namespace.beginLog(to: log)
        try namespace.write("job", 1)
        _ = try namespace.claimIfExists(matching: ["job", 1], deadline: .milliseconds(50))?.detach()
        let copy = try standby()
        let claim = try #require(try copy.status().claims.first)
        let deadline = try #require(claim.deadline)
        #expect(try eventually { Clock.realtimeMilliseconds() > deadline + 1 })
        #expect(try copy.readIfExists("job", 1) == nil)
        #expect(try copy.count(matching: ["job", 1]) == 0)
        #expect(try copy.read("job", 1, timeout: .milliseconds(300)) == nil)
        // The namespace itself has returned it, and says so in its log.
        #expect(try eventually { try namespace.count(matching: ["job", 1]) == 1 })
        try catchUp(copy)
        #expect(try copy.count(matching: ["job", 1]) == 1)
        try namespace.endLog()
        try namespace.setPersistent(false)
        try maker.exit()
        try namespace.leave()
        try Standby.promote(copy)
        try copy.setPersistent(false)
        try copy.leave()
    }

    /// An entry whose writer was killed while it wrote is none, however long it is.
    @Test func aPartOfAnEntryIsRemoved() throws {
        let namespace = try SpaceTest.namespace("n")
        _ = try namespace.beginLog(to: log)
        try namespace.write("job", 1)
        let file = try LogFile.reading(log)
        let start = try #require(try file.subject()).beginning
        let end = try file.walk(behind: start).position
        let moment = LogMoment(sequence: 9, time: 9, isPersistent: false)
        let entry = LogEntry([UInt8](repeating: 1, count: 9000), moment, behind: end)
        let descriptor = try OwnedDescriptor.open(log, flags: O_RDWR)
        try FileBytes.write(entry.bytes.dropLast(), to: descriptor.raw, at: Int(end.end))
        for number in 2...3 { try namespace.write("job", number) }
        let walk = try file.walk(behind: start)
        #expect(walk.damage == nil)
        #expect(walk.position.entry == end.entry + 2)
        #expect(walk.position.end == UInt64(try file.size))
    }

    /// Thousands of random operations of all kinds, of which a standby sees each.
    @Test(arguments: [StorageMode.fast, .guarded])
    func aStandbyIsTheSameByteForByte(_ mode: StorageMode) throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: mode, isPersistent: true))
        var work = RandomWork(namespace, seed: UInt64.random(in: 0...(.max)))
        for _ in 0..<100 { try work.step() }
        _ = try namespace.beginLog(to: log)
        let copy = try standby()
        try expectSame(namespace, copy, "at the beginning, seed \(work.seed)")
        for round in 1...6 {
            for _ in 0..<500 { try work.step() }
            try expectSame(namespace, copy, "round \(round), seed \(work.seed)")
        }
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
    }
}
