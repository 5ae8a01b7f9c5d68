import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Of thousands of waiters at once each is served and none refused, and afterwards the process holds no more than it
/// needs.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(10)))
struct CrowdTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    @Test func threadsOfOneProcessAreAllServed() throws {
        let count = 2000
        let crowd = try Agent(root, "n")
        try crowd.send("take-crowd \(count) 600000")
        #expect(try crowd.line() == "waiting")
        #expect(try eventually { try namespace.status().waiters.count >= min(count, 1024) })
        for number in 0..<count { try namespace.write(number % 2 == 0 ? "own" : "any", number) }
        #expect(try crowd.line() == "ok \(count) served, 0 not")
        #expect(try namespace.count() == 0)
        // The process idles now.
        #expect(try #require(Int(try crowd.run("reader-slots"))) <= 32)
        let other = try Agent(root, "n")
        #expect(try other.run("count") == "0")
    }

    @Test func tasksOfOneProcessAreAllServed() throws {
        let count = 3000
        let crowd = try Agent(root, "n")
        try crowd.send("takers-async \(count) [\"job\", \"?int\"]")
        #expect(try crowd.line() == "waiting")
        #expect(try eventually { try namespace.status().waiters.count >= min(count, 1024) })
        for number in 0..<count { try namespace.write("job", number) }
        #expect(try crowd.line() == "ok \(count)")
        #expect(try #require(Int(try crowd.run("reader-slots"))) <= 32)
    }
}
