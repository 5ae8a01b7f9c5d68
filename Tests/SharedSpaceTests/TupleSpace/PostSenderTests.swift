import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#endif

/// Notifications that are posted for an object.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct PostSenderTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// A sender that equals every other: only its identity counts.
    private final class Sender: Hashable, Sendable {
        static func == (a: Sender, b: Sender) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    @Test func theObjectIsFoundByItsIdentity() throws {
        let jobs = try SpaceTest.namespace("jobs")
        let changes = try jobs.changes()
        let (one, other) = (Sender(), Sender())
        try jobs.post("p", 1, from: one)
        try jobs.post("p", 2, from: other)
        try jobs.post("p", 3, from: one)
        try jobs.post("p", 4)
        let seen = try changes.now()
        #expect(seen.map { $0.sender as AnyObject? }.map { $0 === one } == [true, false, true, false])
        #expect(seen[1].sender as AnyObject? === other && seen[3].sender == nil && seen[3].senderID == nil)
        #expect(seen[0].senderID != nil && seen[0].senderID == seen[2].senderID && seen[0].senderID != seen[1].senderID)
        #expect(seen.map(\.new) == [1, 2, 3, 4] && seen.allSatisfy { $0.old == nil && $0.pid == getpid() })
    }

    @Test func theObjectIsNotRetainedAndItsNumberNotUsedAgain() throws {
        let jobs = try SpaceTest.namespace("jobs", options: NamespaceOptions(history: History()))
        weak var gone: Sender?
        do {
            let sender = Sender()
            gone = sender
            try jobs.post("p", from: sender)
        }
        #expect(gone == nil)
        // Some of these objects get the address of the one that is gone.
        var numbers: Set<Int> = []
        for _ in 0..<1000 {
            let sender = Sender()
            try jobs.post("p", from: sender)
        }
        for change in try jobs.changes(from: .after(0)).now() {
            #expect(change.sender == nil)
            numbers.insert(try #require(change.senderID))
        }
        #expect(numbers.count == 1001)
    }

    @Test func senderAndNameChoose() throws {
        let jobs = try SpaceTest.namespace("jobs")
        let (one, other) = (Sender(), Sender())
        func changes(_ sender: PostSender, _ name: String?) throws -> Changes {
            try jobs.changes(ChangeFilter(notifications: .sent(by: sender, named: name)))
        }
        let ofOne = try changes(PostSender(one), nil)
        let ofOneNamed = try changes(PostSender(one), "q")
        let ofProcess = try changes(PostSender(pid: getpid()), "p")
        let ofAnother = try changes(PostSender(pid: 1), nil)
        #expect(try jobs.status().watchers.map(\.filter)[1] == "post q of process \(getpid())")
        try jobs.post("p", 1, from: one)
        try jobs.post("q", 2, from: one)
        try jobs.post("p", 3, from: other)
        try jobs.post("p", 4)
        try jobs.set("p", 5)
        #expect(try ofOne.now().map(\.new) == [1, 2])
        #expect(try ofOneNamed.now().map(\.new) == [2])
        #expect(try ofProcess.now().map(\.new) == [1, 3, 4])
        #expect(try ofAnother.now().isEmpty)
    }

    private struct Job: Codable, Equatable { var id: Int }

    @Test func anyCodableIsPostedAndAnObjectIsObservedInOneLine() async throws {
        let jobs = try SpaceTest.namespace("jobs")
        let (one, other, told) = (Sender(), Sender(), Told())
        let token = try jobs.observe(.notification("done", from: one)) { told.note($0) }
        try jobs.post("done", Job(id: 1), from: one)
        try jobs.post("done", Job(id: 2), from: other)
        try jobs.post("other", from: one)
        try jobs.post("done", "text", from: one)
        try jobs.post("done", from: one)
        try jobs.transaction { t in try t.post("done", 7, from: one) }
        try await jobs.settled()
        #expect(told.changes.map(\.new) == [["id": 1], "text", .null, 7])
        #expect(told.changes.allSatisfy { $0.sender as AnyObject? === one })
        #expect(try told.changes.first?.new?.decode(Job.self) == Job(id: 1))
        token.cancel()
    }

    @Test func aPatternChoosesNames() async throws {
        let jobs = try SpaceTest.namespace("jobs")
        let names = ["build", "build.done", "build.döne", "build.failed", "rebuild.x", "a*b", "axb"]
        let expected = [
            "build.*": [1, 2, 3], "*": [0, 1, 2, 3, 4, 5, 6], "build.d?ne": [1, 2], "*build*": [0, 1, 2, 3, 4],
            "a\\*b": [5], "a?b": [5, 6], "build": [0], "": [], "*.*e*d": [3], "build.done?": [],
        ]
        let told = expected.mapValues { _ in Told() }
        let bag = ObservationBag()
        for (pattern, told) in told {
            bag.add(try jobs.observe(.notifications(.matching(pattern))) { told.note($0) })
        }
        for name in names { try jobs.post(name) }
        try await jobs.settled()
        for (pattern, indices) in expected {
            #expect(told[pattern]?.changes.map(\.key) == indices.map { names[$0] }, "\(pattern)")
        }
        bag.stopObserving()
    }
}
