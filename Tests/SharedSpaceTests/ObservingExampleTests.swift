import SharedSpace
import Testing

/// The examples of the articles on observing and on responders, compiled, and compared with what the articles say.
@Suite struct ObservingExampleTests {
    @Test("An article shows the examples that are compiled here", arguments: ["Observing", "Responders"])
    func examples(_ article: String) throws { try ExampleTests.check(article, against: #filePath) }
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
        bag.add(try jobs.observe(.notifications(matching: "build.*")) { change in print(change.key ?? "") })
    }
}

/// Examples that are never run; it is enough that they compile.
private final class Examples {
    var base: ResponderToken?
    var louder: ResponderToken?
    var token: ObservationToken?
    let bag = ObservationBag()

    func observing(_ jobs: Namespace) throws {
        self.token = try jobs.observe("progress", options: [.initial, .new]) { change in print(change.new ?? "not set")
        }

        bag.add(try jobs.observe(.tuples(["resize", .any])) { change in print(change.kind) })
        bag.add(try jobs.observe(.cells) { change in print(change.key ?? "") }, named: "all")  // replaces "all"
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
        let greeting: String = try await jobs.request("greet", "Ada", timeout: .seconds(2))  // "Hello, ADA!"
        print(greeting)
    }
}
