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
    private let pair: LoggedPair
    private var root: TemporaryRoot { pair.root }
    private var elsewhere: TemporaryRoot { pair.elsewhere }
    private var log: String { pair.log }

    init() throws { pair = try LoggedPair() }

    /// A reader of a standby is woken by the entry, and not by a tick.
    @Test func aReaderOfAStandbyIsWoken() throws {
        let namespace = try SpaceTest.namespace("n")
        _ = try namespace.beginLog(to: log)
        let copy = try pair.standby()
        let reader = try Agent(elsewhere, "copy", "owning=0")
        for (number, command) in ["read-wait 60000", "read-async"].enumerated() {
            try reader.block("\(command) [\"job\", \(number)]", in: copy)
            try namespace.write("job", number)
            try pair.catchUp(copy)
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
        let copy = try pair.standby()
        let claim = try #require(try copy.status().claims.first)
        let deadline = try #require(claim.deadline)
        #expect(try eventually { Clock.realtimeMilliseconds() > deadline + 1 })
        #expect(try copy.readIfExists("job", 1) == nil)
        #expect(try copy.count(matching: ["job", 1]) == 0)
        #expect(try copy.read("job", 1, timeout: .milliseconds(300)) == nil)
        // The namespace itself has returned it, and says so in its log.
        #expect(try eventually { try namespace.count(matching: ["job", 1]) == 1 })
        try pair.catchUp(copy)
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

    /// If the process that ends a log is killed between the entry and its commit, the log goes on.
    @Test func anEndThatWasNotCommittedIsNone() throws {
        let namespace = try SpaceTest.namespace("n")
        _ = try namespace.beginLog(to: log)
        try namespace.write("job", 1)
        let copy = try pair.standby()
        let file = try LogFile.reading(log)
        let end = try file.walk(behind: try #require(try file.subject()).beginning).position
        var changes: [UInt8] = []
        try namespace.attempt("test") { (core) throws(SpaceError) in
            try core.read { (snapshot) throws(SpaceError) in
                try snapshot.withCountersRow { $0.append(to: &changes) }
            }
        }
        let moment = LogMoment(sequence: 9, time: 9, isPersistent: false)
        let entry = LogEntry(changes, moment, behind: end)
        let descriptor = try OwnedDescriptor.open(log, flags: O_RDWR)
        try FileBytes.write(entry.bytes, to: descriptor.raw, at: Int(end.end))
        // A follower takes the log for ended until an entry comes.
        let error = #expect(throws: SpaceError.self) {
            try Standby(copy, log: log).follow(until: { false }) { #expect($0 == end.entry + 1) }
        }
        #expect(error?.code == .incompatible && error?.reason.contains("was ended") == true)
        try namespace.write("job", 2)
        try pair.expectSame(namespace, copy, "after the end")
        #expect(try NamespaceContents(of: copy).entry == end.entry + 2)
        #expect(try namespace.verify() == [] && copy.verify() == [])
        try Standby.promote(copy)
        try copy.setPersistent(false)
        try copy.leave()
    }

    /// Thousands of random operations of all kinds, of which a standby sees each.
    @Test(arguments: [StorageMode.fast, .guarded])
    func aStandbyIsTheSameByteForByte(_ mode: StorageMode) throws {
        try pair.compare(rounds: 6, of: 500, mode, seed: UInt64.random(in: 0...(.max)))
    }
}
