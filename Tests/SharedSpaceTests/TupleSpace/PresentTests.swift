import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Watchers that begin with the present state.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct PresentTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test func whatIsThereComesFirstThenWhatChanges() throws {
        let jobs = try SpaceTest.namespace("jobs")
        for number in 0..<5 { try jobs.write("a", number) }
        #expect(try jobs.takeIfExists("a", 2) != nil)
        try jobs.set("k", 1)
        let changes = try jobs.changes(from: .initial)
        try jobs.write("a", 5)
        try jobs.set("k", 2)
        let seen = try changes.now()
        #expect(seen.map(\.isPresent) == Array(repeating: true, count: 5) + [false, false])
        #expect(seen.compactMap(\.tuple) == [["a", 0], ["a", 1], ["a", 3], ["a", 4], ["a", 5]])
        #expect(seen.prefix(5).map(\.kind) == [.write, .write, .write, .write, .set])
        #expect(
            seen.prefix(5).allSatisfy { $0.sequence == changes.resumePoint.sequence && $0.pid == 0 } && seen[4].new == 1
        )
        #expect(seen[5].sequence == changes.resumePoint.sequence + 1 && seen[6].old == 1)
    }

    /// Changes between the registration and the first look do not alter the state that the watcher is told, which is
    /// that of the registration.
    @Test func whatHappensBeforeTheLookComesOnceAndAfter() throws {
        let jobs = try SpaceTest.namespace("jobs")
        for number in 0..<8 { try jobs.write("a", number) }
        for key in ["b", "d", "f"] { try jobs.set(key, key) }
        let claim = try jobs.claimBriefly(matching: ["a", 1], max: 1)
        let lost = try jobs.claimBriefly(matching: ["a", 6], max: 1)
        let aside = try jobs.claimBriefly(matching: ["a", 7], max: 1)
        let changes = try jobs.changes(from: .initial)
        try jobs.bury(try #require(aside.first))
        #expect(try jobs.bury(matching: ["a", 4]) == 1)
        // Buried (one was visible, one was not); taken; returned; claimed and returned; claimed and completed;
        // completed; written and taken.
        #expect(try jobs.takeIfExists("a", 0) != nil)
        try jobs.release(claim)
        try jobs.release(try jobs.claimBriefly(matching: ["a", 2], max: 1))
        try jobs.complete(try jobs.claimBriefly(matching: ["a", 3], max: 1))
        try jobs.complete(lost)
        try jobs.write("a", 8)
        #expect(try jobs.takeIfExists("a", 8) != nil)
        // Set anew; unset; set for the first time; unset and set.
        try jobs.set("b", 2)
        try jobs.unset("d")
        try jobs.set("a", 3)
        try jobs.unset("f")
        try jobs.set("f", 4)
        let seen = try changes.now()
        let present = seen.filter(\.isPresent)
        #expect(present.compactMap(\.tuple) == [["a", 0], ["a", 2], ["a", 3], ["a", 4], ["a", 5]])
        #expect(present.compactMap(\.key) == ["b", "d", "f"] && present.suffix(3).map(\.new) == ["b", "d", "f"])
        #expect(
            seen.dropFirst(present.count).map(\.sequence)
                == Array(changes.resumePoint.sequence + 1...changes.resumePoint.sequence + 16)
        )
        #expect(try Replica(seen) == Replica(of: jobs))
    }

    /// A present state of more than one slice is of one moment, although it changes between the slices.
    @Test func aLongPresentIsOfOneMoment() throws {
        let jobs = try SpaceTest.namespace("jobs")
        let count = 20_000
        try jobs.write(contentsOf: (0..<count).map { Tuple("a", $0) })
        for number in 0..<1000 { try jobs.set("k\(number)", number) }
        let changes = try jobs.changes(from: .initial)
        var seen: [Change] = []
        var next = 0
        while let change = try changes.nextBlocking(timeout: .zero, interruption: nil) {
            seen.append(change)
            // The changes fall behind, at and before the current slice.
            guard change.isPresent, seen.count % 10 == 0 else { continue }
            next = (next * 7 + 12_345) % count
            _ = try jobs.takeIfExists("a", next)
            if next % 3 == 0 { try jobs.unset("k\(next % 1000)") } else { try jobs.set("k\(next % 1000)", -1) }
            try jobs.write("a", count + next)
        }
        let present = seen.filter(\.isPresent)
        #expect(present.count == count + 1000)
        #expect(present.prefix(count).map { $0.tuple?[1] } == (0..<count).map { .int($0) })
        #expect(present.suffix(1000).allSatisfy { change in change.key == change.new.map { "k\($0.json)" } })
        #expect(try Replica(seen) == Replica(of: jobs))
    }

    @Test func theFilterChoosesOfThePresent() throws {
        let jobs = try SpaceTest.namespace("jobs")
        try jobs.write(contentsOf: [["a", 1], ["b", 2]])
        try jobs.set("user", ["name": "Ada"] as Value)
        try jobs.set("user.name", 1)
        try jobs.set("users", 2)
        func seen(_ filter: ChangeFilter) throws -> [String] {
            try jobs.changes(filter, from: .initial).now().map { $0.tuple?.json ?? $0.key ?? "" }
        }
        #expect(try seen(.everything) == [#"["a",1]"#, #"["b",2]"#, "user", "user.name", "users"])
        #expect(try seen(ChangeFilter(tuples: ["b", .any])) == [#"["b",2]"#])
        #expect(try seen(ChangeFilter(cells: .key("user.name"))) == ["user", "user.name"])
        #expect(try seen(ChangeFilter(cells: .key("user.age"))) == [])
        #expect(try seen(ChangeFilter(tuples: .any, cells: .all, kinds: [.set])) == ["user", "user.name", "users"])
        #expect(try seen(ChangeFilter(tuples: .any, cells: .all, kinds: [.take, .post])) == [])
    }

    /// If the journal drops changes from before the present state was read, the watcher is told a gap.
    @Test func aPresentThatCouldNotBeKeptIsFollowedByAGap() throws {
        let jobs = try SpaceTest.namespace("jobs")
        for number in 0..<3 { try jobs.write("a", number) }
        let changes = try jobs.changes(from: .initial)
        let payload = String(repeating: "x", count: 1 << 20)
        for _ in 0..<20 { try jobs.post("large", payload) }
        let seen = try changes.now()
        #expect(seen.prefix(4).map(\.kind) == [.write, .write, .write, .gap])
        #expect(seen[3].sequence == changes.resumePoint.sequence + 1 && !seen[3].isPresent)
    }

    /// All of the present state is told even if a second iterator of the sequence reads it, and takes a change of it,
    /// right after the first one has found nothing ready.
    @Test func twoIteratorsAreToldOfAllOfThePresent() async throws {
        let jobs = try SpaceTest.namespace("jobs")
        for number in 0..<5 { try jobs.write("a", number) }
        await #expect(processExitsWith: .exitCode(5)) { [path = root.path as String] in
            let changes = try Space(root: path).existingNamespace("jobs").changes(from: .initial)
            let told = Count()
            @Sendable func next() throws -> Change? {
                let change = try changes.nextBlocking(timeout: .zero, interruption: nil)
                if change?.isPresent ?? false { told.add() }
                return change
            }
            CrashPoint.arm(.nothingReady, action: .run { _ = try? next() })
            while try next() != nil {}
            exit(Int32(told.value))
        }
    }
}

/// A copy of a namespace, kept up to date by the changes that a watcher is told.
struct Replica: Equatable {
    private(set) var tuples: [TupleID: Tuple] = [:]
    private(set) var cells: [String: Value] = [:]

    init(_ changes: [Change]) throws {
        for change in changes {
            switch change.kind {
            case .write, .return:
                let (id, tuple) = (try #require(change.id), try #require(change.tuple))
                guard tuples.updateValue(tuple, forKey: id) == nil else { throw TestFailure("\(tuple.json) twice") }
            case .take, .claim, .expire:
                let id = try #require(change.id)
                guard tuples.removeValue(forKey: id) == change.tuple else {
                    throw TestFailure("no \(id) to \(change.kind)")
                }
            case .set:
                let key = try #require(change.key)
                guard cells.updateValue(try #require(change.new), forKey: key) == change.old else {
                    throw TestFailure("\(key) had another value")
                }
            case .unset:
                let key = try #require(change.key)
                guard cells.removeValue(forKey: key) == change.old else { throw TestFailure("no \(key) to unset") }
            case .gap, .gone: throw TestFailure("\(change.kind) \(change.sequence)")
            case .bury: if let id = change.id { tuples[id] = nil }
            default: break
            }
        }
    }

    init(of namespace: Namespace) throws {
        for match in try namespace.matches(.any) { tuples[match.id] = try match.tuple() }
        for cell in try namespace.cells() { cells[cell.key] = cell.value }
    }
}
