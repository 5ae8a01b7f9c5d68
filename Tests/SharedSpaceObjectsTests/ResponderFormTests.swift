import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The forms of responders and requests: arguments, methods, objects, and what watchers are told.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct ResponderFormTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    private func end() async throws {
        #expect(try await eventually { try jobs.status().responders == [] })
        #expect(try jobs.verify() == [])
    }

    private final class Calculator: Sendable {
        let hellos = Count()
        func add(_ a: Int, _ b: Int) -> Int { a + b }
        func sayHello() { hellos.add() }
    }

    // MARK: Arguments

    @Test func nothingIsAskedAndReplied() async throws {
        let hellos = Count()
        let token = try jobs.respond(to: "sayHello") { hellos.add() }
        let silent = try jobs.respond(to: "log") { (line: String) in
            hellos.add()
            #expect(line == "x")
        }
        try await jobs.request("sayHello")
        try await jobs.request("log", "x")
        #expect(try await onThread { try jobs.request("sayHello", as: Value.self, timeout: .seconds(60)) } != nil)
        #expect(hellos.value == 3)
        // On the wire nothing is null, and a handler without arguments takes any.
        let reply: Value = try await jobs.request("log", "x")
        let other: Value = try await jobs.request("sayHello", 1, 2)
        #expect(reply == .null && other != .null)
        token.cancel()
        silent.cancel()
        let none = await #expect(throws: SpaceError.self) { try await jobs.request("sayHello") }
        #expect(none?.code == .noResponder)
        try await end()
    }

    @Test func severalArgumentsAreAnArray() async throws {
        let calculator = Calculator()
        let bag = ObservationBag()
        bag.add(try jobs.respond(to: "add") { (a: Int, b: Int) in a + b })
        bag.add(try jobs.respond(to: "method", calculator.add))
        bag.add(try jobs.respond(to: "version") { "1.0" })
        bag.add(
            try jobs.respond(to: "mixed") { (name: String, times: Int, isLoud: Bool) in
                let text = Array(repeating: name, count: times).joined(separator: " ")
                return isLoud ? text + "!" : text
            }
        )
        bag.add(try jobs.respond(to: "raw") { (value: Value, _) -> String in value.json })
        let sum: Int = try await jobs.request("add", 1, 2)
        #expect(sum == 3)
        #expect(try await jobs.request("add", [3, 4], as: Int.self) == 7)
        #expect(try await jobs.request("method", 5, 6) == 11)
        #expect(try await onThread { try jobs.request("method", 5, 7, timeout: .seconds(60)) } == 12)
        #expect(try await jobs.request("version") == "1.0")
        #expect(try await jobs.request("mixed", "go", 2, true) == "go go!")
        #expect(try await jobs.request("raw", 1, "x", [true]) == #"[1,"x",[true]]"#)
        #expect(try await jobs.request("raw", [1]) == "[1]")
        #expect(try await jobs.request("raw") == "null")
        for (arguments, text) in [
            ([1, 2, 3], "it takes 2 arguments, and got 3"), (["a", 2], "argument 1 is no Int"),
            (7, "it takes 2 arguments, and got one"), (.null, "it takes 2 arguments, and got none"),
        ] as [(Value, String)] {
            let error = await #expect(throws: SpaceError.self) {
                try await jobs.request("add", arguments, as: Int.self)
            }
            #expect(error?.code == .responderFailed && error?.reason.contains(text) == true, "\(error?.reason ?? "")")
        }
        bag.stopObserving()
        try await end()
    }

    @Test func aHandlerKnowsItsNameAndKey() async throws {
        let token = try jobs.respond(to: "f", key: "k") { (_: Int, next) -> String in "\(next.name) \(next.key)" }
        #expect(try await jobs.request("f", 1) == "f k")
        token.cancel()
        try await end()
    }

    // MARK: Objects

    @Test func aResponderEndsWithItsObject() async throws {
        let base = try jobs.respond(to: "add", base: true) { (_: Int, _: Int) in -1 }
        var calculator: Calculator? = Calculator()
        try jobs.respond(to: "add", for: try #require(calculator)) { me, a, b in me.add(a, b) }
        let token = try jobs.respond(to: "sayHello", for: try #require(calculator)) { $0.sayHello() }
        try jobs.respond(to: "twice", for: try #require(calculator), key: "t") { (me, n: Int, next) -> String in
            "\(next.key)\(me.add(n, n))"
        }
        #expect(try await jobs.request("add", 1, 2) == 3)
        #expect(try await jobs.request("twice", 4) == "t8")
        try await jobs.request("sayHello")
        #expect(calculator?.hellos.value == 1)
        token.cancel()
        #expect(try !jobs.hasResponder(to: "sayHello"))
        weak let object = calculator
        calculator = nil
        // Neither the responder nor its token retains the object.
        #expect(object == nil)
        // The base handler is asked, whether or not a tick has removed the responder.
        #expect(try await jobs.request("add", 1, 2) == -1)
        #expect(try await eventually { try jobs.responders().map(\.isBase) == [true] })
        base.cancel()
        try await end()
    }

    @Test func aResponderForAnObjectOwnsNothing() async throws {
        let calculator = Calculator()
        do {
            let other = try root.space.namespace("jobs")
            try other.respond(to: "add", for: calculator) { me, a, b in me.add(a, b) }
        }
        // It goes on without its handle, as long as the namespace has another owner.
        #expect(try await jobs.request("add", 1, 2) == 3)
        let other = try root.space.namespace("jobs")
        try other.respond(to: "add", for: calculator, key: "other") { me, a, b in me.add(a, b) }
        try other.leave()
        #expect(try await eventually { try jobs.responders(to: "add").count == 1 })
        try root.space.namespace("passing").respond(to: "add", for: calculator) { me, a, b in me.add(a, b) }
        #expect(try !root.space.namespaceNames().contains("passing"))
    }

    // MARK: Watching

    @Test func watchersAreToldOfRedefinition() async throws {
        let (told, others) = (Told(), Told())
        let observing = try jobs.observe(.responders(to: "f")) { told.note($0) }
        let all = try jobs.observe(.responders()) { others.note($0) }
        let first = try jobs.respond(to: "f", key: "a") { 1 }
        let second = try jobs.respond(to: "f", key: "b") { 2 }
        let third = try jobs.respond(to: "f", key: "a") { 3 }
        let other = try jobs.respond(to: "g", key: "a") { 4 }
        second.cancel()
        #expect(try jobs.removeResponder(to: "f", key: "a"))
        #expect(try await eventually { try jobs.status().responders.count == 1 })
        other.cancel()
        try await jobs.settled()
        #expect(told.kinds == Array(repeating: .respond, count: 5) && told.changes.allSatisfy { $0.key == "f" })
        #expect(told.changes.map(\.old) == [nil, nil, "a", "b", "a"])
        #expect(told.changes.map(\.new) == ["a", "b", "a", nil, nil])
        #expect(others.changes.map(\.key) == ["f", "f", "f", "g", "f", "f", "g"])
        #expect(!first.isActive && !third.isActive)
        observing.cancel()
        all.cancel()
        try await end()
    }
}
