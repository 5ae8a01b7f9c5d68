import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The examples of the README that are no whole programs; those stand in `Tests/service-examples`.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct ReadmeExamples {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Stands for the space's default root.
    private func Space() throws -> SharedSpace.Space { root.space }

    @Test func aCollection() async throws {
        let told = Task {
            let songs = try Space().namespace("party").orderedSet("songs", of: String.self)
            try songs.append("Blue")
            try songs.insert("Green", before: "Blue")
            for try await change in try songs.changes() { print(change.event) }
        }
        let songs = try Space().namespace("party").orderedSet("songs", of: String.self)
        #expect(try await eventually { try songs.elements() == ["Green", "Blue"] })
        try Space().namespace("party").removeOrderedSet("songs")
        try await told.value
    }

    @Test func observing() async throws {
        final class Progress: Sendable {
            let name = "thumbnails"
            func show(_ value: Value?) { print(name, value?.json ?? "not set") }
        }

        final class Repainting: SpaceObserver {
            func spaceDidChange(_ namespace: String, generation: UInt64) async { print(namespace, "has changed") }
        }

        let jobs = try Space().namespace("jobs")
        let (progress, repainting) = (Progress(), Repainting())

        // Ends with the token: keep it. First what is there, then each change.
        let token = try jobs.observe("progress", options: [.initial, .old, .new]) { change in
            print(change.new ?? "not set")
        }

        // A bag of them ends all at once. Tuples by a template, all cells, notifications by name.
        let bag = ObservationBag()
        bag.add(
            try jobs.observe(.tuples(["resize", .any, .any]), options: .initial) { print($0.kind, $0.tuple ?? []) }
        )
        bag.add(try jobs.observe(.cells) { print($0.key ?? "") }, named: "cells")
        bag.add(try jobs.observe(.notification("done")) { print($0.new ?? "nothing") })

        // Decoded values, before and after.
        bag.add(try jobs.observe(cell: "progress", as: Double.self) { old, new in print(old ?? 0, new ?? 0) })

        // For an object, which is not kept alive: the observation ends when it goes. No token need be kept.
        try jobs.observe("progress", for: progress) { me, change in me.show(change.new) }

        // Coarse: that something has changed, a burst as one call.
        try jobs.addObserver(repainting)

        try jobs.set("progress", 0.5)
        try jobs.post("done", 42)  // to those that observe now, in every process
        try await jobs.settled()  // the handlers of this process have been told
        #expect(jobs.observations.count == 7)
        #expect(token.isActive && bag.count == 4)
        token.cancel()
        bag.stopObserving()
        withExtendedLifetime((progress, repainting)) {}
    }

    final class Calculator: Sendable {
        private let held = Mutex<ResponderToken?>(nil)
        var token: ResponderToken? {
            get { held.withLock { $0 } }
            set { held.withLock { $0 = newValue } }
        }
        func add(_ a: Int, _ b: Int) -> Int { a + b }

        func answer(_ jobs: Namespace) async throws -> [Int] {
            self.token = try jobs.respond(to: "double") { (n: Int, next) -> Int in 2 * n }
            let four: Int = try await jobs.request("double", 2)

            try jobs.respond(to: "add", for: self) { me, a, b in me.add(a, b) }  // ends with the object
            let three: Int = try await jobs.request("add", 1, 2)
            return [four, three]
        }
    }

    @Test func responding() async throws {
        let calculator = Calculator()
        #expect(try await calculator.answer(try Space().namespace("jobs")) == [4, 3])
        withExtendedLifetime(calculator) {}
    }

    @Test func holding() async throws {
        let jobs = try Space().namespace("jobs")
        let numbers = Mutex<[UInt64]>([])
        @Sendable func deploy(fencing: UInt64) async throws { numbers.withLock { $0.append(fencing) } }
        @Sendable func schedule(fencing: UInt64) async throws { numbers.withLock { $0.append(fencing) } }
        try await jobs.lock("deploy").withLock { fencing in try await deploy(fencing: fencing) }
        try await jobs.election("scheduler").lead { term in try await schedule(fencing: term) }
        let both = numbers.withLock { $0 }
        #expect(both.count == 2 && both[0] < both[1])
        #expect(try jobs.status().holds == [])
    }
}
