import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Waits of tasks and threads of one process.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct WaitingTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func waitUntilBlocked(_ namespace: Namespace, _ count: Int) async throws {
        guard try await eventually({ try namespace.status().waiters.count == count }) else {
            throw TestFailure("nobody waits")
        }
    }

    @Test func aCancelledTakeConsumesNothing() async throws {
        let namespace = try SpaceTest.namespace("n")
        let cancelled = Task { try await namespace.take("job", any(Int.self)) }
        try await waitUntilBlocked(namespace, 1)
        cancelled.cancel()
        let error = await #expect(throws: SpaceError.self) { try await cancelled.value }
        #expect(error?.code == .cancelled)
        try namespace.write("job", 1)
        #expect(try namespace.count() == 1)
        #expect(try namespace.status().waiters == [])
    }

    /// If a wait is cancelled while its tuple is delivered, either the task has the tuple or the namespace has it.
    @Test func cancellingAgainstWritingLosesNothing() async throws {
        let namespace = try SpaceTest.namespace("n")
        var taken = 0
        for number in rounds(300) {
            let task = Task { try await namespace.take("job", number) }
            if number % 3 == 0 { try await waitUntilBlocked(namespace, 1) }
            async let writing: Void = Task.detached { try namespace.write("job", number) }.value
            task.cancel()
            try await writing
            let isTaken = (try? await task.value) != nil
            if isTaken { taken += 1 }
            #expect(try (namespace.takeIfExists("job", number) == nil) == isTaken)
        }
        #expect(try namespace.count() == 0)
        #expect(try namespace.status().waiters == [])
    }

    @Test func aTaskCancelledBeforeItWaitsTakesNothing() async throws {
        let namespace = try root.space.namespace("n")
        try namespace.write("job", 1)
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await namespace.take("job", any(Int.self))
        }
        task.cancel()
        let error = await #expect(throws: SpaceError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try namespace.count() == 1)
    }

    @Test func timePasses() async throws {
        let namespace = try root.space.namespace("n")
        #expect(try await namespace.take(matching: ["never"], timeout: .milliseconds(5)) == nil)
        #expect(try await namespace.read(matching: ["never"], timeout: .milliseconds(5)) == nil)
        #expect(try await namespace.get("never", as: Int.self, timeout: .milliseconds(5)) == nil)
        #expect(try await namespace.take(matching: ["never"], timeout: .zero) == nil)
        let took = try await namespace.take("never", any(Int.self), timeout: .milliseconds(5)) != nil
        #expect(!took)
        try await onThread { try Self.letTimePassBlocking(namespace) }
        #expect(try namespace.status().waiters == [])
    }

    private static func letTimePassBlocking(_ namespace: Namespace) throws {
        #expect(try namespace.take(matching: ["never"], timeout: .milliseconds(5)) == nil)
        #expect(try namespace.read(matching: ["never"], timeout: .zero) == nil)
        #expect(try namespace.get("never", as: Int.self, timeout: .milliseconds(5)) == nil)
    }

    @Test func aCellIsAwaited() async throws {
        let namespace = try SpaceTest.namespace("n")
        async let value: Value? = namespace.get("progress", timeout: .seconds(60))
        try await waitUntilBlocked(namespace, 1)
        try namespace.set("other", 1)
        try namespace.set("progress", 0.5)
        #expect(try await value == 0.5)
    }

    @Test func anInterruptedThreadTakesNothing() async throws {
        let namespace = try root.space.namespace("n")
        let interruption = Interruption()
        let claim = Task {
            try await onThread {
                try namespace.claimBlocking(
                    matching: ["job", .any],
                    isTake: true,
                    .forever,
                    interruption: interruption
                )?.id
            }
        }
        try await waitUntilBlocked(namespace, 1)
        interruption.trigger()
        let error = await #expect(throws: SpaceError.self) { try await claim.value }
        #expect(error?.code == .cancelled)
        #expect(try namespace.status().waiters == [])
    }

    /// When a process leaves, its waiting threads and tasks learn that it has left; the environment stays open until
    /// they are out.
    @Test func leavingEndsTheWaitsOfOneself() async throws {
        _ = try SpaceTest.namespace("n")
        let otherRoot = try TemporaryRoot()
        let namespace = try otherRoot.space.namespace("n")
        let tasks = (0..<8).map { number in
            Task {
                if number % 2 == 0 { return try await namespace.take("job", number).1 }
                return try await onThread { try namespace.take("job", number, timeout: .seconds(60))?.1 ?? -1 }
            }
        }
        try await waitUntilBlocked(namespace, 8)
        try namespace.leave()
        for task in tasks {
            let error = await #expect(throws: SpaceError.self) { try await task.value }
            #expect(error?.code == .closed)
        }
        #expect(try otherRoot.space.namespaceNames() == [])
    }
}
