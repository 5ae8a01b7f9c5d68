import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing
import TupleSpace

/// How long cells and tuples last: expiry that can be read, renewed and lifted, and versions of cells.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct LastingTests {
    private struct Job: Codable, Equatable, Sendable {
        var name: String
        var size: Int
    }

    @Test(arguments: [StorageMode.fast, .guarded, .durable])
    func aCellExpires(_ mode: StorageMode) async throws {
        let namespace = try SpaceTest.namespace(mode)
        let changes = try namespace.changes(.cell("lease"))
        try namespace.set("lease", "a", expires: .milliseconds(20))
        try namespace.set("stays", 1)
        #expect(try await eventually { try namespace.get("lease") == nil })
        #expect(try namespace.cells().map(\.key) == ["stays"])
        #expect(try namespace.setIfAbsent("lease", "b"))
        var iterator = changes.makeAsyncIterator()
        #expect(try await iterator.next()?.kind == .set)
        let gone = try #require(try await iterator.next())
        #expect(gone.kind == .unset && gone.old == "a")
        #expect(try await iterator.next()?.new == "b")
        #expect(try namespace.verify() == [])
    }

    @Test func whatIsLeftCanBeReadRenewedAndLifted() throws {
        let namespace = try SpaceTest.namespace("n")
        try namespace.set("k", 1, expires: .seconds(100))
        let left = try #require(try namespace.details(of: "k")?.expiry)
        #expect(left > .seconds(90) && left <= .seconds(100))
        let version = try namespace.details(of: "k")?.version
        #expect(try namespace.renew("k", expires: .seconds(1000)))
        #expect(try #require(try namespace.details(of: "k")?.expiry) > .seconds(900))
        #expect(try namespace.details(of: "k")?.version == version)
        #expect(try namespace.increment("k", by: 2) == 3)
        #expect(try namespace.details(of: "k")?.expiry != nil)
        #expect(try namespace.persist("k"))
        #expect(try namespace.details(of: "k")?.expiry == nil && namespace.get("k") == 3)
        #expect(try namespace.renew("k", expires: .milliseconds(1)))
        #expect(try eventually { try namespace.get("k") == nil })
        #expect(try !namespace.renew("k", expires: .seconds(1)))
        #expect(try !namespace.persist("k"))
        // Setting anew without a time lets a cell stay.
        try namespace.set("k", 1, expires: .seconds(100))
        try namespace.set("k", 2)
        #expect(try namespace.details(of: "k")?.expiry == nil)
        #expect(throws: SpaceError.self) { try namespace.set("k", 1, expires: .seconds(-1)) }
        #expect(throws: SpaceError.self) { try namespace.renew("k", expires: .seconds(-1)) }
        #expect(try namespace.get("k") == 2)
        #expect(try namespace.verify() == [])
    }

    @Test func tuplesAreLeasesToo() throws {
        let namespace = try SpaceTest.namespace("n")
        let id = try namespace.write(tuple: ["lease", 1], expires: .seconds(100))
        #expect(try #require(try namespace.expiry(of: id)) > .seconds(90))
        #expect(try namespace.persist(id))
        #expect(try namespace.expiry(of: id) == nil && namespace.count(matching: ["lease", 1]) == 1)
        let near = try namespace.write(tuple: ["near", 1])
        #expect(try namespace.renew(near, expires: .milliseconds(1)))
        #expect(try eventually { try namespace.count(matching: ["near", 1]) == 0 })
        #expect(try !namespace.renew(near, expires: .seconds(1)))
        let claim = try #require(try namespace.claimBriefly(matching: ["lease", 1]).first)
        #expect(try !namespace.persist(id))
        try namespace.release(claim)
        #expect(try namespace.persist(id))
        #expect(try namespace.verify() == [])
    }

    /// A value that was set to another and back is another version: comparing values does not see that.
    @Test func versionsTellWhatComparingValuesDoesNot() throws {
        let namespace = try SpaceTest.namespace("n")
        #expect(try namespace.set("k", "a", ifVersion: 0))
        let seen = try #require(try namespace.details(of: "k")).version
        try namespace.set("k", "b")
        try namespace.set("k", "a")
        #expect(try !namespace.set("k", "c", ifVersion: seen))
        #expect(try namespace.set("k", "c", ifEquals: "a"))
        #expect(try !namespace.set("k", "d", ifVersion: 0))
        let now = try #require(try namespace.details(of: "k")).version
        #expect(try namespace.set("k", "d", ifVersion: now))
        // Within a transaction too, whatever its changes are numbered.
        var versions: Set<UInt64> = []
        for number in 0..<20 {
            try namespace.transaction { t in _ = try t.set("k", number) }
            versions.insert(try #require(try namespace.details(of: "k")).version)
            try namespace.set("k", number)
            versions.insert(try #require(try namespace.details(of: "k")).version)
        }
        #expect(versions.count == 40)
    }

    @Test func codableValuesNeedNoOtherForm() throws {
        let namespace = try SpaceTest.namespace("n")
        let (a, b) = (Job(name: "a", size: 1), Job(name: "b", size: 2))
        #expect(try namespace.setIfAbsent("job", a))
        #expect(try !namespace.setIfAbsent("job", b))
        #expect(try !namespace.set("job", a, ifEquals: b))
        #expect(try namespace.set("job", b, ifEquals: a))
        let found: Job? = try namespace.get("job")
        #expect(found == b)
        #expect(throws: SpaceError.self) { let _: Int? = try namespace.take(key: "job") }
        let taken: Job? = try namespace.take(key: "job")
        #expect(taken == b)
        #expect(try namespace.get("job") == nil)
    }

    @Test func keysAreChosenByPrefixRangeAndPattern() async throws {
        let namespace = try SpaceTest.namespace("n")
        let all = ["a", "b.x", "b.y", "b/z", "c", "\u{e9}"]
        for key in all { try namespace.set(key, key) }
        let choices: [(ChangeFilter.Cells, [String])] = [
            (.all, all), (.none, []), (.key("c"), ["c"]), (.prefix("b."), ["b.x", "b.y"]), (.prefix(""), all),
            (.range("b.y"..."c"), ["b.y", "b/z", "c"]), (.matching("b?*"), ["b.x", "b.y", "b/z"]),
            (.matching("?"), ["a", "c", "\u{e9}"]), (.matching("*.y"), ["b.y"]), (.matching("x*"), []),
        ]
        for (choice, keys) in choices { #expect(try namespace.cells(choice).map(\.key) == keys, "\(choice)") }
        for (choice, keys) in choices where choice != .none {
            let changes = try namespace.changes(.cells(choice))
            for key in all { try namespace.set(key, 1) }
            try namespace.set("c", 2)
            var told: [String] = []
            while let change = try await changes.next(timeout: .zero) { told.append(change.key ?? "") }
            #expect(told == keys + (keys.contains("c") ? ["c"] : []), "\(choice)")
            let initial = try namespace.changes(.cells(choice), from: .initial)
            var present: [String] = []
            while let change = try await initial.next(timeout: .zero) { present.append(change.key ?? "") }
            #expect(present == keys, "\(choice)")
        }
    }

    /// A watcher that wants nothing of what happens knows how far it has looked, and resumes there without a gap.
    @Test func anIdleWatcherMakesProgress() async throws {
        let namespace = try SpaceTest.namespace("n")
        let changes = try namespace.changes(.cell("rare"))
        let start = changes.progress
        for number in 0..<10 { try namespace.set("often", number) }
        #expect(try await changes.next(timeout: .zero) == nil)
        let later = changes.progress
        #expect(later.sequence == start.sequence + 10 && later.life == start.life)
        try namespace.set("rare", 1)
        try namespace.set("often", 1)
        let resumed = try namespace.changes(.cell("rare"), from: .resume(later))
        #expect(try await resumed.next(timeout: .zero)?.kind == .set)
        #expect(try await resumed.next(timeout: .zero) == nil)
        #expect(try await changes.next(timeout: .zero)?.new == 1)
        #expect(changes.progress.sequence == later.sequence + 2)
    }

    @Test func unsignedIntegersAreFields() throws {
        let namespace = try SpaceTest.namespace("n")
        try namespace.write("n", UInt64(7), UInt(8))
        let found = try namespace.takeIfExists("n", any(UInt64.self), any(UInt.self))
        #expect(found?.1 == 7 && found?.2 == 8)
        // What no field can hold is an error, and nothing is written.
        func expectTooLarge(_ body: () throws(SpaceError) -> Void) {
            do throws(SpaceError) {
                try body()
                Issue.record("it was accepted")
            } catch {
                #expect(error.code == .badData && error.reason.contains("use a string"))
            }
        }
        expectTooLarge { () throws(SpaceError) in try namespace.write("n", UInt64.max) }
        expectTooLarge { () throws(SpaceError) in _ = try namespace.takeIfExists("n", UInt64.max) }
        #expect(try namespace.count() == 0)
    }

    @Test func takingAKeyWaitsForIt() async throws {
        let namespace = try SpaceTest.namespace("n")
        let nothing: Int? = try await namespace.take(key: "k", timeout: .zero)
        #expect(nothing == nil)
        async let taken: Int? = namespace.take(key: "k", timeout: nil)
        try namespace.set("k", 7)
        #expect(try await taken == 7)
        #expect(try namespace.get("k") == nil)
    }

    /// Without the holding, the value would go with the handle that the line made.
    @Test func oneLinersKeepWhatTheySet() throws {
        let root = try SpaceTest.root()
        let space = root.space
        #expect(try space["App"].get("k") == nil)
        let none: Int? = try space["App"].take(key: "k")
        #expect(try space["App"].readIfExists("k") == nil)
        #expect(try space["App"].takeIfExists("k") == nil)
        #expect(none == nil)
        #expect(try space["App"].unset("k") == nil)
        #expect(try space.namespaceNames() == [])
        try space["App"].set("k", 1)
        #expect(try space.namespaceNames() == ["App"])
        #expect(try space["App"].increment("k") == 2)
        let other = try Space(root: root.path)
        #expect(try other["App"].get("k") == 2)
        let told = Mutex(0)
        let token = try space["App"].opened().observe(cell: "k", as: Int.self) { (_, new) in
            told.withLock { $0 = new ?? -1 }
        }
        try other["App"].set("k", 5)
        #expect(try eventually { told.withLock { $0 } == 5 })
        token.cancel()
        try other["App"].set("k", 2)
        let k: Int? = try other["App"].take(key: "k")
        #expect(k == 2)
        try space["App"].letGo()
        #expect(try space.namespaceNames() == ["App"])
        try other["App"].letGo()
        #expect(try space.namespaceNames() == [])
    }

    @Test func anObjectHoldsWhatOneLinersSet() throws {
        final class Holder: Sendable {}
        let root = try SpaceTest.root()
        var holder: Holder? = Holder()
        try root.space["App", for: #require(holder)].set("k", 1)
        let namespace = try root.space.existingNamespace("App", owning: false)
        #expect(namespace.ownerObjects.contains { $0 === holder })
        try namespace.leave()
        #expect(try root.space["App", for: #require(holder)].get("k") == 1)
        #expect(try root.space.namespaceNames() == ["App"])
        holder = nil
        #expect(try eventually { try root.space.namespaceNames() == [] })
    }

    @Test func anObjectsHoldAndThatOfTheProcessEndOnTheirOwn() throws {
        final class Holder: Sendable {}
        let root = try SpaceTest.root()
        let (space, holder) = (root.space, Holder())
        let looking = try Space(root: root.path)
        try space["App"].set("k", 1)
        let namespace = try looking.existingNamespace("App", owning: false)
        try space["App", for: holder].set("k", 2)
        #expect(namespace.ownerObjects.contains { $0 === holder })

        // The object's hold ends, that of the process stays.
        try space["App", for: holder].letGo()
        #expect(namespace.ownerObjects.isEmpty)
        #expect(try looking.namespaceNames() == ["App"])
        try space["App", for: holder].letGo()
        #expect(try looking.namespaceNames() == ["App"])

        // The hold of the process ends, the object's stays.
        try space["App", for: holder].set("k", 3)
        try space["App"].letGo()
        #expect(namespace.ownerObjects.contains { $0 === holder })
        #expect(try looking.namespaceNames() == ["App"])
        try space["App", for: holder].letGo()
        #expect(try looking.namespaceNames() == [])
        try space["App", for: holder].letGo()
        withExtendedLifetime(holder) {}
    }
}
