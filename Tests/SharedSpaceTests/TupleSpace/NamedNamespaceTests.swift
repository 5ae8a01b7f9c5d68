import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceRecipes
@testable import TupleSpace

/// Namespaces by their names, for one line, and what handles say of themselves.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct NamedNamespaceTests {
    let root: TemporaryRoot
    let space: Space

    init() throws {
        root = try SpaceTest.root()
        space = root.space
    }

    @Test func waitingCreatesAndOwnsNothing() async throws {
        let other = try Space(root: root.path)
        #expect(try await space["App"].get("k", as: Int.self, timeout: .milliseconds(5)) == nil)
        let none: Int? = try await space["App"].take(key: "k", timeout: .milliseconds(5))
        #expect(none == nil)
        #expect(try other.namespaceNames() == [])

        // The waits go on while the namespace comes, goes and comes again.
        let got = Task { () async throws -> Int? in try await space["App"].get("k", timeout: watchdog) }
        let taken = Task { () async throws -> Int? in try await space["App"].take(key: "l", timeout: nil) }
        let read = Task { () async throws -> Int in try await space["App"].read("tuple", any(Int.self)).1 }
        let first = try other.namespace("App")
        #expect(try await eventually { try first.status().waiters.count == 3 })
        #expect(try first.status().owners.count == 1)
        try first.leave()
        #expect(try other.namespaceNames() == [])
        let second = try other.namespace("App")
        try second.set("k", 1)
        try second.set("l", 2)
        try second.write("tuple", 3)
        #expect(try await got.value == 1)
        #expect(try await taken.value == 2)
        #expect(try await read.value == 3)
        try second.leave()
        #expect(try other.namespaceNames() == [])
    }

    @Test func aCancelledWaitForANamespaceEnds() async throws {
        let wait = Task { () async throws -> Value? in try await space["App"].get("k", timeout: nil) }
        wait.cancel()
        let error = await #expect(throws: SpaceError.self) { try await wait.value }
        #expect(error?.code == .cancelled)
    }

    @Test func aWaitingGetDecodes() async throws {
        let namespace = try SpaceTest.namespace("n")
        let waiting = Task { () async throws -> [String: Int]? in try await namespace.get("k", timeout: nil) }
        try namespace.set("k", ["a": 1])
        #expect(try await waiting.value == ["a": 1])
        let value: Value? = try await namespace.get("k", timeout: watchdog)
        #expect(value == ["a": 1])
        #expect(try await onThread { try namespace.get("k", as: [String: Int].self, timeout: watchdog) } == ["a": 1])
        let error = await #expect(throws: SpaceError.self) { try await namespace.get("k", as: Int.self, timeout: nil) }
        #expect(error?.code == .badData)
        #expect(error?.description.contains("\"k\"") == true)
    }

    // MARK: Values

    private struct Address: Codable, Equatable {
        var host: String
        var port: Int
    }

    @Test func aLeaderShowsAnyCodable() async throws {
        let election = try SpaceTest.namespace("n").election("e")
        let address = Address(host: "ada", port: 80)
        try await election.lead(as: address) { term in
            let leader = try #require(try election.leader())
            #expect(try leader.value.decode() == address)
            #expect(leader.term == term)
        }
        let leadership = try await election.stand(as: address)
        #expect(try election.leader()?.value.decode(Address.self) == address)
        try election.proclaim(Address(host: "bob", port: 81), term: leadership.fencing)
        #expect(try election.leader()?.value.decode(Address.self).host == "bob")
        try leadership.release()
        try await election.lead(as: "text") { (_) async throws in #expect(try election.leader()?.value == "text") }
        let tooLarge = await #expect(throws: SpaceError.self) {
            try await election.lead(as: UInt64.max) { (_) async throws in }
        }
        #expect(tooLarge?.description.contains("18446744073709551615 is outside the range of Int64") == true)
    }

    private class Shape: Codable {
        var name = "shape"
    }
    private final class Circle: Shape {
        var radius = 1
    }

    /// An object of a class that inherits from the declared one would be read back as its base, so it is refused.
    @Test func aSubclassIsRefused() throws {
        let namespace = try SpaceTest.namespace("n")
        let shape: Shape = Circle()
        func expectRefused(_ body: () throws -> Void) {
            let error = #expect(throws: SpaceError.self) { try body() }
            #expect(error?.code == .badData)
            #expect(error?.description.contains("is of class Circle") == true)
            #expect(error?.description.contains("its base class Shape") == true)
        }
        expectRefused { try namespace.set("k", shape) }
        expectRefused { try namespace.setIfAbsent("k", shape) }
        expectRefused { try namespace.post("n", shape) }
        expectRefused { try namespace.queue("q").put(shape) }
        #expect(try namespace.get("k") == nil)
        try namespace.set("k", Shape())
        try namespace.set("l", Circle())
        #expect(try namespace.get("l", as: Circle.self)?.radius == 1)
    }

    // MARK: Handles

    @Test func handlesSayWhatTheyAre() throws {
        let n = try SpaceTest.namespace("jobs")
        #expect("\(space)" == "space in \(space.root)")
        #expect("\(space["App"])" == "namespace \"App\" in \(space.root), opened at its first use")
        #expect("\(n.lock("a"))" == "lock \"a\" in namespace \"jobs\"")
        #expect("\(n.semaphore("a", permits: 4))" == "semaphore \"a\" of 4 permits in namespace \"jobs\"")
        #expect("\(n.election("a"))" == "election \"a\" in namespace \"jobs\"")
        #expect("\(n.barrier("a", parties: 2))" == "barrier \"a\" in namespace \"jobs\"")
        #expect("\(n.latch("a", count: 2))" == "latch \"a\" in namespace \"jobs\"")
        #expect("\(n.counter("a"))" == "counter \"a\" in namespace \"jobs\"")
        #expect("\(n.rateLimit("a", limit: 1, per: .seconds(1)))" == "rate limit \"a\" in namespace \"jobs\"")
        #expect("\(n.queue("a"))" == "queue \"a\" in namespace \"jobs\"")
        #expect(try n.status().cells == 0)
    }

    private final class Screen: Sendable {
        let shown = Mutex<[String]>([])
        func show(_ text: String) { shown.withLock { $0.append(text) } }
    }

    @Test func collectionsAreObservedForAnObjectInATask() async throws {
        let namespace = try SpaceTest.namespace("n")
        let songs = try namespace.orderedSet("songs", of: String.self)
        let settings = try namespace.dictionary("settings", of: Int.self)
        var screen: Screen? = Screen()
        weak let gone = screen
        if let screen {
            try songs.observe(for: screen) { (screen, change) async throws in
                await Task.yield()
                screen.show("songs")
            }
            try settings.observe(for: screen) { (screen, change) async throws in
                await Task.yield()
                screen.show("settings")
            }
            try songs.append("a")
            #expect(try await eventually { screen.shown.withLock { $0 } == ["songs"] })
            try settings.updateValue(1, forKey: "k")
            #expect(try await eventually { screen.shown.withLock { $0 } == ["songs", "settings"] })
        }
        screen = nil
        #expect(try await eventually { gone == nil && namespace.observations.isEmpty })
    }
}
