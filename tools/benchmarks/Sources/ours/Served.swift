import Glibc
import SharedSpace
import SpaceInspection
import Synchronization

/// Many waiters of another process, each of which takes one tuple, and a writer that serves them one after the other.
///
/// Each tuple has the time at which it was written. Reported are the time from then until the waiter has it, and the
/// time until all have theirs, divided by their number.
enum Served {
    private static let patience = Duration.seconds(60)
    /// Longer than a tick, in microseconds: a waiter publishes itself before it sleeps, and has its first tick then.
    private static let settling: UInt32 = 300_000

    static func run(_ space: Space, _ count: Int, by kind: String) throws {
        let namespace = try space.namespace("bench")
        let child = try Child([space.root, "be-served-\(kind)", "\(count)"])
        let deadline = ContinuousClock.now + patience
        while try namespace.status().waiters.count < count {
            guard ContinuousClock.now < deadline else { throw Failure("not all of them wait") }
            usleep(10_000)
        }
        usleep(settling)
        let start = now()
        for _ in 0..<count { try namespace.write("job", Int(now()), OneProcess.payload) }
        let last = try child.receive()
        let times = try (0..<count).map { _ in Double(try child.receive()) }
        try child.wait()
        guard try namespace.count() == 0 else { throw Failure("not all of them were served") }
        report("served \(kind), all", Double(last - start) / Double(count))
        Latencies.tell("served \(kind)", times)
    }

    // MARK: The waiting process

    static func waitAsThreads(_ space: Space, _ count: Int) throws {
        let namespace = try space.namespace("bench")
        let service = Service()
        try Threads.run(count) { _ in
            guard let taken = try namespace.take("job", any(Int.self), any(String.self), timeout: patience) else {
                throw Failure("not served")
            }
            service.note(taken.1)
        }
        service.tellParent()
    }

    static func waitAsTasks(_ space: Space, _ count: Int) async throws {
        let namespace = try space.namespace("bench")
        let service = Service()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<count {
                group.addTask { service.note(try await namespace.take("job", any(Int.self), any(String.self)).1) }
            }
            try await group.waitForAll()
        }
        service.tellParent()
    }

    /// When the last waiter was served, and how long it took each.
    private final class Service: Sendable {
        private let state = Mutex((last: UInt64(0), times: [UInt64]()))

        func note(_ written: Int) {
            let end = now()
            state.withLock {
                $0.last = max($0.last, end)
                $0.times.append(end - UInt64(written))
            }
        }

        func tellParent() {
            let (last, times) = state.withLock { $0 }
            send(last)
            for time in times { send(time) }
        }
    }
}
