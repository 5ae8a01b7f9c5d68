import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// An error says which operation failed, and in which namespace, whatever layer it comes from.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct OperationNameTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("n") }

    private func expect(_ operation: String, _ body: () throws -> Void, at location: SourceLocation = #_sourceLocation)
    {
        let error = #expect(throws: SpaceError.self, sourceLocation: location, performing: body)
        #expect(error?.operation == operation, sourceLocation: location)
        #expect(error?.namespace == "n", sourceLocation: location)
    }

    /// Each call on a handle that was left names itself.
    @Test func ofALeftHandle() throws {
        let set = try namespace.orderedSet("set", of: Int.self)
        let dictionary = try namespace.dictionary("dictionary", of: Int.self)
        try namespace.leave()
        expect("write") { try namespace.write("job", 1) }
        expect("read") { _ = try namespace.readIfExists("job", any(Int.self)) }
        expect("read") { _ = try namespace.readAll() }
        expect("take") { _ = try namespace.takeIfExists(matching: .any) }
        expect("take") { _ = try namespace.takeIfExists("job", any(Int.self)) }
        expect("claim") { _ = try namespace.claimIfExists("job", any(Int.self)) }
        expect("claim") { _ = try namespace.claimIfExists(matching: .any) }
        expect("count") { _ = try namespace.count() }
        expect("run a transaction") { try namespace.transaction { _ in } }
        expect("set a cell") { try namespace.set("x", 1) }
        expect("get a cell") { _ = try namespace.get("x") }
        expect("post a notification") { try namespace.post("x") }
        expect("watch") { _ = try namespace.changes() }
        expect("observe") { _ = try namespace.observe(.everything) { _ in } }
        expect("append an element") { try set.append(1) }
        expect("count the elements") { _ = try set.count }
        expect("set a value") { try dictionary.updateValue(1, forKey: "x") }
        expect("read a value") { _ = try dictionary.value(forKey: "x") }
        expect("acquire a lock") { _ = try namespace.lock("x").tryAcquire() }
        expect("add to a counter") { try namespace.counter("x").add() }
        expect("look at a latch") { _ = try namespace.latch("x", count: 1).remaining() }
        expect("put an item into a queue") { try namespace.queue("x").put(1) }
        expect("take an item from a queue") { _ = try namespace.queue("x").takeIfReady() }
        expect("look who leads") { _ = try namespace.election("x").leader() }
        expect("look at the namespace") { _ = try namespace.status() }
    }

    /// So does each call that waits, and whose task is cancelled.
    @Test func ofAWaitThatIsCancelled() async throws {
        let namespace = namespace
        let waits: [(String, @Sendable () async throws -> Void)] = [
            ("read", { _ = try await namespace.read("job", any(Int.self)) }),
            ("take", { _ = try await namespace.take(matching: .any) }),
            ("claim", { _ = try await namespace.claim("job", any(Int.self)) }),
            ("get a cell", { _ = try await namespace.get("x", as: Int.self, timeout: nil) }),
            ("acquire a lock", { _ = try await namespace.lock("x").acquire() }),
            ("wait at a barrier", { try await namespace.barrier("b", parties: 2).wait() }),
            ("wait for a latch", { try await namespace.latch("l", count: 1).wait() }),
            ("take an item from a queue", { _ = try await namespace.queue("q").take() }),
        ]
        for (operation, wait) in waits {
            let task = Task { try await wait() }
            task.cancel()
            let result = await task.result
            // A task that looks before it is cancelled may have the free lock at once.
            if operation == "acquire a lock", case .success = result { continue }
            expect(operation) { try result.get() }
        }
    }

    /// What a caller gives is refused in the name of the call.
    @Test func ofAnArgumentThatIsRefused() throws {
        let long = String(repeating: "k", count: 1000)
        expect("write") { try namespace.write("job", expires: .seconds(-1)) }
        expect("claim") { _ = try namespace.claimIfExists(matching: .any, deadline: .seconds(-1)) }
        expect("set a cell") { try namespace.set(long, 1) }
        expect("get a cell") { _ = try namespace.get(long) }
        expect("unset a cell") { try namespace.unset("") }
        expect("acquire a lock") { _ = try namespace.lock(long).tryAcquire() }
        expect("acquire a semaphore") { _ = try namespace.semaphore("s", permits: 1).tryAcquire(2) }
        expect("acquire from a rate limit") {
            _ = try namespace.rateLimit("r", limit: 0, per: .seconds(1)).tryAcquire()
        }
        expect("respond") { _ = try namespace.respond(to: "") { (x: Int, _) in x } }
        expect("request") { _ = try namespace.request("", 1, as: Int.self, timeout: .zero) }
        expect("open a dictionary") { _ = try namespace.dictionary("a/b", of: Int.self) }
        try namespace.transaction { t in
            expect("write") { try t.write("job", expires: .seconds(-1)) }
            expect("get a cell") { _ = try t.get(long) }
        }
    }
}
