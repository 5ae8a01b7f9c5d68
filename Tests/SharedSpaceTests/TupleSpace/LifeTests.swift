import LMDB
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// A number kept from one life of a namespace names nothing in the next, and a watcher that resumes from such a number
/// is told so.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct LifeTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Returns the namespace in the life after the one that `body` saw, and the result of `body`.
    private func nextLife<Kept>(
        _ options: NamespaceOptions = NamespaceOptions(),
        _ body: (Namespace) throws -> Kept
    ) throws -> (jobs: Namespace, kept: Kept) {
        let first = try root.space.namespace("jobs", options: options)
        let kept = try body(first)
        try root.space.delete("jobs")
        return (try SpaceTest.namespace("jobs", options: options), kept)
    }

    private func shown(_ changes: [Change]) -> [String] {
        changes.map { $0.kind == .gap ? "gap \($0.sequence)...\($0.lastSequence)" : "\($0.kind) \($0.sequence)" }
    }

    @Test func eachLifeHasAnIdentity() throws {
        let (jobs, old) = try nextLife { $0.life }
        #expect(jobs.life != old)
        #expect(try root.space.namespace("jobs").life == jobs.life)
        #expect(try jobs.status().life == jobs.life)
        #expect(NamespaceLife("\(old)") == old)
        for text in ["", "1", "+000000000000001", "0000000000000000", "00000000000000001", "000000000000000g"] {
            #expect(NamespaceLife(text) == nil, "\(text)")
        }
    }

    @Test func aRebootEndsNoLife() throws {
        let options = NamespaceOptions(mode: .durable, isPersistent: true)
        let root = try TemporaryRoot(for: .durable)
        let first = try root.space.namespace("n", options: options)
        let (life, status) = (first.life, try first.status())
        try first.write("job")
        let number = try #require(try first.claimIfExists(matching: ["job"])?.detach()).number
        let copy = try TemporaryRoot(for: .durable)
        try copy.copyTree("n", from: root)
        try copy.pretendReboot()
        let again = try copy.space.namespace("n")
        #expect(again.life == life && status.life == life)
        let later = try #require(try again.claimIfExists(matching: ["job"])?.detach()).number
        #expect(later > number)
        #expect(try again.verify() == [])
    }

    // MARK: Resume points

    @Test func aNumberBeyondTheEndBeginsWithAGap() throws {
        let (jobs, _) = try nextLife { for number in 1...7 { try $0.write(number) } }
        for number in 1...4 { try jobs.write(number) }
        let changes = try jobs.changes(from: .after(7))
        #expect(changes.resumePoint.sequence == 4)
        try jobs.write(5)
        #expect(try shown(changes.now()) == ["gap 1...4", "write 5"])
        // The last change itself is not beyond the end.
        #expect(try jobs.changes(from: .after(5)).now().isEmpty)
    }

    /// The gap comes even if the new life has more changes than the watcher saw of the old one.
    @Test func aResumePointOfAnotherLifeBeginsWithAGap() throws {
        let (jobs, point) = try nextLife { jobs in
            let changes = try jobs.changes(from: .now)
            try jobs.write(1)
            let change = try #require(try changes.now().first)
            return changes.resumePoint(after: change)
        }
        #expect(point.sequence == 1)
        for number in 1...4 { try jobs.write(number) }
        let changes = try jobs.changes(from: .resume(point))
        try jobs.write(5)
        #expect(try shown(changes.now()) == ["gap 1...4", "write 5"])
        let own = ResumePoint(sequence: 4, life: jobs.life)
        #expect(try shown(jobs.changes(from: .resume(own)).now()) == ["write 5"])
        #expect(changes.resumePoint == own && changes.life == jobs.life)
    }

    /// A gap stands for the old life; then the watcher is told all that the history has of the new life.
    @Test func withAHistoryTheNewLifeIsToldWhole() throws {
        let options = NamespaceOptions(history: History(changes: 100))
        let (jobs, point) = try nextLife(options) { ResumePoint(sequence: 7, life: $0.life) }
        #expect(try shown(jobs.changes(from: .resume(point)).now()) == ["gap 0...0"])
        try jobs.write(1)
        try jobs.write(2)
        #expect(try shown(jobs.changes(from: .resume(point)).now()) == ["gap 0...0", "write 1", "write 2"])
        #expect(try shown(jobs.changes(from: .after(9)).now()) == ["gap 0...0", "write 1", "write 2"])
    }

    @Test func aSubscriptionOfAnotherLifeBeginsWithAGap() throws {
        let (jobs, life) = try nextLife { jobs in
            _ = try jobs.changes(from: .subscription("audit"))
            return jobs.life
        }
        try jobs.write(1)
        do {
            let changes = try jobs.changes(from: .subscription("audit", of: life))
            try jobs.write(2)
            #expect(try shown(changes.now()) == ["gap 1...1", "write 2"])
            // Acknowledging before the gap was read is not an error.
            try changes.acknowledge(through: 2)
        }
        do {
            // The subscription exists in this life by now, so it goes on from its position.
            let changes = try jobs.changes(from: .subscription("audit", of: life))
            try changes.acknowledge(through: 2)
            try jobs.write(3)
            #expect(try shown(changes.now()) == ["gap 0...0", "write 3"])
            try changes.acknowledge(through: 3)
        }
        #expect(try jobs.changes(from: .subscription("audit", of: jobs.life)).now().isEmpty)
    }

    // MARK: Claims and holds

    @Test func aClaimOfAnotherLifeEndsNone() throws {
        let (jobs, old) = try nextLife { jobs in
            try jobs.write("job", 1)
            return try #require(try jobs.claimIfExists(matching: ["job", .any])?.detach())
        }
        try jobs.write("job", 2)
        let claim = try #require(try jobs.claimIfExists(matching: ["job", .any])?.detach())
        #expect(claim.id == old.id && claim.number > old.number)
        #expect(jobs.isOfEarlierLife(claim: old.number) && !jobs.isOfEarlierLife(claim: claim.number))
        let complete = #expect(throws: SpaceError.self) { try jobs.complete(old) }
        #expect(complete?.code == .claimLost)
        let extend = #expect(throws: SpaceError.self) { try jobs.extend(old, by: .seconds(5)) }
        #expect(extend?.code == .claimLost)
        let bury = #expect(throws: SpaceError.self) { try jobs.bury(old) }
        #expect(bury?.code == .claimLost)
        #expect(try !jobs.release(old))
        #expect(try jobs.claim(numbered: old.number) == nil)
        try jobs.complete(claim)
    }

    private func fencing(_ namespace: Namespace) throws -> UInt64 {
        guard let hold = try namespace.lock("l").tryAcquire() else { throw TestFailure("the lock is not to be had") }
        return hold.fencing
    }

    @Test func fencingNumbersRiseOverLives() throws {
        let (jobs, old) = try nextLife { jobs in
            var last: UInt64 = 0
            for _ in 0..<100 { last = try fencing(jobs) }
            return last
        }
        #expect(try fencing(jobs) > old)
    }

    /// A process that ends a life waits at the door until another process has deleted it: the next life stays.
    @Test(arguments: ["aside", "delete"])
    func aLifeThatIsEndedLateSparesTheNext(_ way: String) throws {
        let first = try root.space.namespace("jobs")
        let late = try Agent(root, "jobs", "owning=0")
        let control = first.core.control
        let folder = try first.core.engine.presentFolder()
        let door = try control.takeDoor(timeout: .seconds(20), of: folder)
        try late.send("end-life \(way)")
        // It has found the first life, and waits.
        #expect(try eventually { control.door.words.politeUntil.load() != 0 })
        guard let rootFolder = try first.core.root.open(create: false) else { throw TestFailure("the root is gone") }
        let removed = try Reaping.moveAway(
            folder,
            control,
            in: rootFolder,
            of: first.core.root,
            timeout: .seconds(20)
        )
        let second = try SpaceTest.namespace("jobs")
        try second.write("job", 2)
        door.release()
        removed.delete()
        #expect(try late.line() == (way == "aside" ? "none" : "ok vanished"))
        #expect(try root.space.namespace("jobs").life == second.life)
        #expect(try second.readAll() == [["job", 2]])
        #expect(root.entries(of: ".aside") == [])
    }
}
