import SharedSpace
import SpaceTestSupport
import Testing

@Suite struct TupleTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test func writesReadsAndTakes() throws {
        let jobs = try root.space.namespace("jobs")
        try jobs.write("resize", 42, "cat.png")
        try jobs.write("resize", 43, "dog.png")
        #expect(try jobs.count() == 2)
        let read = try #require(try jobs.readIfExists("resize", any(Int.self), any(String.self)))
        #expect(read.1 == 42)
        let taken = try #require(try jobs.takeIfExists("resize", any(Int.self), any(String.self)))
        #expect(taken.1 == 42 && taken.2 == "cat.png")
        #expect(try jobs.takeIfExists("resize", 42, any(String.self)) == nil)
        #expect(try jobs.takeIfExists(matching: ["resize", 43, .any]) == ["resize", 43, "dog.png"])
        #expect(try jobs.count() == 0)
    }

    @Test func aNamespaceGoesWithItsLastHandle() throws {
        do {
            let jobs = try root.space.namespace("jobs")
            try jobs.write("a")
            #expect(try root.space.namespaceNames() == ["jobs"])
        }
        #expect(try root.space.namespaceNames() == [])
    }

    @Test func anAsyncTakeWaits() async throws {
        let jobs = try root.space.namespace("jobs")
        async let taken = jobs.take("x", any(Int.self))
        try jobs.write("x", 7)
        let value = try await taken
        #expect(value.1 == 7)
    }
}
