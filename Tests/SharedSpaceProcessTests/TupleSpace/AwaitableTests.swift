import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Waiting for one of several things at once, in several namespaces.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct AwaitableTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test func whateverComesFirstEndsTheWait() async throws {
        let (a, b) = (try SpaceTest.namespace("a"), try SpaceTest.namespace("b"))
        let awaited: [Awaitable] = [
            .tuple(["job", .any], in: a), .cell("stop", in: b), .namespace("c", in: root.space),
        ]
        #expect(try await root.space.first(of: awaited, timeout: .zero) == nil)
        #expect(try await root.space.first(of: awaited, timeout: .milliseconds(1)) == nil)
        let other = try Agent(root, "a")
        for place in 0..<3 {
            let space = root.space
            let waiting = Task { try await space.first(of: awaited) }
            #expect(
                try await eventually { try a.status().waiters.count == 1 && b.status().waiters.count == 1 }
            )
            switch place {
            case 0: try other.run("write [\"job\", 1]")
            case 1: try b.set("stop", true)
            default: try other.run("open \(root.path) c")
            }
            #expect(try await waiting.value == place)
            #expect(try a.count() == (place == 0 ? 1 : 0))
            // Each wait has ended, the others' too.
            #expect(try await eventually { try a.status().waiters.isEmpty && b.status().waiters.isEmpty })
            _ = (try a.takeAll(), try b.unset("stop"))
        }
    }

    @Test func whatIsThereFirstInTheListComesFirst() async throws {
        let a = try SpaceTest.namespace("a")
        try a.set("k", 1)
        try a.write("job")
        #expect(try await root.space.first(of: [.cell("k", in: a), .tuple(["job"], in: a)]) == 0)
        #expect(try await root.space.first(of: [.tuple(["job"], in: a), .cell("k", in: a)]) == 0)
        await #expect(throws: SpaceError.self) { try await root.space.first(of: []) }
        let space = root.space
        let waiting = Task { try await space.first(of: [.cell("other", in: a)]) }
        #expect(try await eventually { try a.status().waiters.count == 1 })
        waiting.cancel()
        await #expect(throws: SpaceError.self) { try await waiting.value }
    }

    @Test func anItemOfAQueueEndsTheWaitAndStays() async throws {
        let a = try SpaceTest.namespace("a")
        let queue = a.queue("mail")
        let space = root.space
        #expect(try await space.first(of: [.item(of: queue)], timeout: .zero) == nil)
        let other = try Agent(root, "a")
        // An item that is put, one whose delay passes, and one that a killed worker had.
        for way in 0..<3 {
            if way == 2 {
                try other.send("queue-take mail 1000")
                #expect(try other.line() == "waiting")
                #expect(try other.line() == "ok \"hello\"")
            }
            #expect(try await space.first(of: [.item(of: queue)], timeout: .zero) == nil)
            let waiting = Task { try await space.first(of: [.tuple(["none"], in: a), .item(of: queue)]) }
            #expect(try await eventually { try a.status().waiters.count == 2 })
            switch way {
            case 0: try queue.put("hello")
            case 1: try queue.put("hello", delay: .milliseconds(30))
            default: try other.kill()
            }
            #expect(try await waiting.value == 1)
            #expect(try await eventually { try a.status().waiters.isEmpty })
            if way == 0 { try queue.takeIfReady()?.complete() }
        }
        #expect(try queue.takeIfReady()?.value == "hello")
    }

    @Test func aPausedQueueHasNoItem() async throws {
        let a = try SpaceTest.namespace("a")
        let queue = a.queue("mail")
        try queue.put("hello")
        try queue.pause()
        let space = root.space
        #expect(try await space.first(of: [.item(of: queue)], timeout: .zero) == nil)
        let waiting = Task { try await space.first(of: [.item(of: queue)]) }
        #expect(try await eventually { try a.status().waiters.count == 1 })
        try queue.resume()
        #expect(try await waiting.value == 0)
    }
}
