import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Waiting for any of several templates, and for several tuples at once.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct AnyOfTests {
    let root: TemporaryRoot
    let namespace: Namespace
    private let templates: [Template] = [["a", .any], ["b"]]

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    @Test func theFirstOfAllThatMatchComesFirst() async throws {
        for tuple in [["x", 0], ["b"], ["a", 1], ["b"]] as [Tuple] { try namespace.write(tuple: tuple) }
        #expect(try await namespace.read(matching: .anyOf(templates)) == ["b"])
        #expect(try await namespace.take(matching: .anyOf(templates)) == ["b"])
        #expect(try await namespace.take(matching: .anyOf(templates), order: .newestFirst) == ["b"])
        #expect(try await namespace.take(matching: .anyOf(templates)) == ["a", 1])
        #expect(try await namespace.take(matching: .anyOf(templates), timeout: .zero) == nil)
        #expect(try namespace.count() == 1)
        await #expect(throws: SpaceError.self) { try await namespace.take(matching: .anyOf([]), timeout: .zero) }
    }

    /// A tuple that is offered to a waiter for any of several templates, none of which matches it, is passed on.
    @Test func whatNoneMatchesIsPassedOn() async throws {
        let other = try Agent(root, "n")
        async let taken = namespace.take(matching: .anyOf(templates))
        #expect(try await eventually { try namespace.status().waiters.count == 1 })
        try other.send("take-wait 60000 [\"z\"]")
        #expect(try other.line() == "waiting")
        #expect(try await eventually { try namespace.status().waiters.count == 2 })
        let writer = try Agent(root, "n")
        for _ in 0..<100 {
            try writer.run("write [\"z\"]")
            #expect(try other.line() == #"ok ["z"]"#)
            try other.send("take-wait 60000 [\"z\"]")
            #expect(try other.line() == "waiting")
        }
        try writer.run("write [\"b\"]")
        #expect(try await taken == ["b"])
        try writer.run("write [\"z\"]")
        #expect(try other.line() == #"ok ["z"]"#)
        #expect(try namespace.verify() == [])
    }

    /// Many takers for any of two templates, and each tuple goes to one of them.
    @Test func eachTupleIsTakenOnce() async throws {
        let writer = try Agent(root, "n")
        let count = 200
        let taken = try await withThrowingTaskGroup(of: [Tuple].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var mine: [Tuple] = []
                    while case let tuple = try await namespace.take(matching: .anyOf(["n", .any], ["stop"])),
                        tuple != ["stop"]
                    {
                        mine.append(tuple)
                    }
                    return mine
                }
            }
            for number in 0..<count { try writer.run("write [\"n\", \(number)]") }
            for _ in 0..<4 { try namespace.write("stop") }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(taken.count == count && Set(taken).count == count)
        #expect(try namespace.count() == 0)
    }

    @Test func aBatchIsWaitedFor() async throws {
        async let batch = namespace.takeAll(matching: ["job", .any], max: 2, timeout: nil)
        #expect(try await eventually { try namespace.status().waiters.count == 1 })
        try namespace.transaction { t in
            for number in 0..<3 { try t.write("job", number) }
        }
        #expect(try await batch == [["job", 0], ["job", 1]])
        #expect(try await namespace.takeAll(max: 5, timeout: .zero) == [["job", 2]])
        #expect(try await namespace.takeAll(max: 5, timeout: .milliseconds(1)) == [])
        await #expect(throws: SpaceError.self) { try await namespace.takeAll(max: 0, timeout: .zero) }
    }
}
