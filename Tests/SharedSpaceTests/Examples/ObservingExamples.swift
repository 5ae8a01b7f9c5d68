import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// The examples of "Observing" and "Responders", each of them run.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct ObservingExamples {
    private let examples: Examples
    let jobs: Namespace

    init() throws {
        jobs = try SpaceTest.namespace("jobs")
        examples = Examples(try SpaceTest.root().space)
    }

    @Test func observing() async throws {
        try examples.observing(jobs)
        #expect(jobs.observations.count == 5 && examples.bag.count == 4)
        try await examples.settling(jobs)
        examples.end()
        #expect(jobs.observations.isEmpty)
    }

    @MainActor @Test func forAnObject() async throws {
        let (screen, bag) = (Screen(), ObservationBag())
        try screen.observing(jobs)
        #expect(jobs.observations.isEmpty)
        let done = try jobs.changes(.notification("done"))
        try screen.posting(jobs, Job(), screen, bag)
        #expect(try await done.next(timeout: .seconds(60))?.sender === screen)
        #expect(bag.count == 2)
        bag.stopObserving()
    }

    @Test func aCoarseObserver() async throws {
        let index = Index()
        try jobs.addObserver(index)
        try jobs.set("k", 1)
        try await jobs.settled()
        #expect(jobs.observations.map(\.isCoarse) == [true])
        withExtendedLifetime(index) {}
    }

    @Test func answering() async throws {
        try await examples.asking(jobs)
        try examples.watching(jobs)
        let calculator = Calculator()
        try calculator.responding(jobs)
        let sum: Int = try await jobs.request("add", 1, 2)
        #expect(sum == 3)
        withExtendedLifetime(calculator) {}
        try await jobs.settled()
        examples.end()
    }

    @Test func theStack() async throws {
        try await examples.responding()
        let greeting: String = try await jobs.request("greet", "Ada")
        #expect(greeting == "Hello, ADA!")
        let calculator = Calculator()
        try calculator.responding(jobs)
        let polite: String = try await jobs.request("greet", "Ada")
        #expect(polite == "Hello, DEAR ADA!")
        withExtendedLifetime(calculator) {}
        examples.end()
    }
}

private struct Job: Codable {}

private final class Calculator: Sendable {
    func add(_ a: Int, _ b: Int) -> Int { a + b }
    func polite(_ name: String) -> String { "dear " + name }

    func responding(_ jobs: Namespace) throws {
        try jobs.respond(to: "add", for: self) { me, a, b in me.add(a, b) }
        try jobs.respond(to: "greet", for: self) { (me, name: String, next) -> String in
            try await next(me.polite(name))
        }
    }
}

private final class Index: SpaceObserver {
    func spaceDidChange(_ namespace: Namespace, for filter: ChangeFilter, keys: Set<String>?, generation: UInt64) async
    {
        print(namespace.root, namespace.name, keys ?? [])
    }
}

@MainActor private final class Screen {
    func show(_ value: Value?) {}
    func statusChanged(_ change: Change) {}

    func observing(_ jobs: Namespace) throws {
        try jobs.observe("progress", for: self) { @MainActor me, change in me.show(change.new) }
        try jobs.observe("status", for: self, Screen.statusChanged)  // a method: func statusChanged(_ change: Change)
        let key = try jobs.observe("user.name", for: self) { @MainActor me, change in me.show(change.new) }
        key.cancel()  // ends this one alone
        jobs.stopObserving(for: self)  // ends all of the object
    }

    func posting(_ jobs: Namespace, _ job: Job, _ worker: Screen, _ bag: ObservationBag) throws {
        try jobs.post("done", job, from: self)
        bag.add(try jobs.observe(.notification("done", from: worker)) { change in print(change.new ?? "nothing") })
        bag.add(try jobs.observe(.notifications(.matching("build.*"))) { change in print(change.key ?? "") })
    }
}

private final class Examples: @unchecked Sendable {
    private let space: SharedSpace.Space
    var base: ResponderToken?
    var louder: ResponderToken?
    var token: ObservationToken?
    let bag = ObservationBag()

    init(_ space: SharedSpace.Space) { self.space = space }

    /// Stands for the space's default root.
    private func Space() throws -> SharedSpace.Space { space }

    func end() {
        (base, louder, token) = (nil, nil, nil)
        bag.stopObserving()
    }

    func observing(_ jobs: Namespace) throws {
        self.token = try jobs.observe("progress", options: [.initial, .new]) { change in print(change.new ?? "not set")
        }

        bag.add(try jobs.observe(.tuples(["resize", .any])) { change in print(change.kind) })
        bag.add(try jobs.observe(.cells()) { change in print(change.key ?? "") }, named: "all")  // replaces "all"
        bag.add(try jobs.observe(.notification("done")) { change in print(change.new ?? "nothing") })
        bag.add(try jobs.observe(cell: "progress", as: Double.self) { old, new in print(old ?? 0, new ?? 0) })
    }

    func settling(_ jobs: Namespace) async throws {
        try jobs.set("progress", 0.5)
        try await jobs.settled()
    }

    func asking(_ jobs: Namespace) async throws {
        bag.add(try jobs.respond(to: "add") { (a: Int, b: Int) in a + b })
        bag.add(try jobs.respond(to: "sayHello") { print("hello") })

        let sum: Int = try await jobs.request("add", 1, 2)
        try await jobs.request("sayHello")
        print(sum)
    }

    func watching(_ jobs: Namespace) throws {
        bag.add(
            try jobs.observe(.responders(to: "greet")) { change in
                print(change.old?.json ?? "-", change.new?.json ?? "-")
            }
        )
    }

    func responding() async throws {
        let jobs = try Space().namespace("jobs")

        // One process: what lies under all others.
        self.base = try jobs.respond(to: "greet", base: true) { (name: String, next) -> String in
            "Hello, \(name)"
        }

        // Another one, later.
        self.louder = try jobs.respond(to: "greet", key: "louder") { (name: String, next) -> String in
            try await next(name.uppercased()) + "!"
        }

        // A third.
        let greeting: String? = try await jobs.request("greet", "Ada", timeout: .seconds(2))  // "Hello, ADA!"
        print(greeting ?? "no answer in time")
    }
}
