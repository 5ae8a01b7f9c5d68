import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The examples of "Watching", each of which ends with its namespace.
@Suite(.timeLimit(.minutes(5)))
struct WatchingExamples {
    let space: Space
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try TemporaryRoot()
        space = root.space
        jobs = try space.namespace("jobs")
    }

    /// Runs an example while `body` changes the namespace, which is deleted then: the changes end with that.
    private func watch(
        beside others: Int = 0,
        _ example: @escaping @Sendable () async throws -> Void,
        _ body: () throws -> Void
    ) async throws {
        let watching = Task { try await example() }
        #expect(try await eventually { try jobs.status().watchers.count == 1 + others })
        try body()
        try space.delete("jobs")
        try await watching.value
    }

    @Test func changes() async throws {
        let jobs = jobs
        try await watch {
            let changes = try jobs.changes(.tuples(["resize", .any, .any]))
            for try await change in changes {
                switch change.event {
                case .tuple(let tuple, _) where change.kind == .write: print("new:", tuple)
                case .tuple where change.kind == .take: print("taken by", change.pid)
                case .gap(let last): print("missed", change.sequence, "to", last)
                default: break
                }
            }
        } _: {
            try jobs.write("resize", 1, "cat.png")
        }
    }

    @Test func aCopy() async throws {
        let jobs = jobs
        let last = Mutex<[TupleID: Tuple]>([:])
        @Sendable func beginAnew() async throws {}
        @Sendable func follow() async throws {
            var copy: [TupleID: Tuple] = [:]
            for try await change in try jobs.changes(from: .initial) {
                switch change.event {
                case .tuple(let tuple, let id): copy[id] = [.write, .return].contains(change.kind) ? tuple : nil
                case .gap: return try await beginAnew()
                default: break
                }
            }
            let end = copy
            last.withLock { $0 = end }
        }
        try jobs.write("there", 1)
        try jobs.write("there", 2)
        try await watch(follow) {
            try jobs.write("new", 3)
            _ = try jobs.takeIfExists("there", 1)
        }
        #expect(last.withLock { $0.values.sorted() } == [["new", 3], ["there", 2]])
    }

    @Test func resuming() async throws {
        let jobs = jobs
        let reached = Mutex<ResumePoint?>(nil)
        let start = try jobs.changes().resumePoint
        let kept = try jobs.changes()
        try jobs.write("resize", 1)
        try await watch(beside: 1) {
            var point = start
            let changes = try jobs.changes(from: .resume(point))
            for try await change in changes { point = changes.resumePoint(after: change) }
            let last = point
            reached.withLock { $0 = last }
        } _: {
            try jobs.write("resize", 2)
        }
        #expect(try #require(reached.withLock { $0 }).sequence >= start.sequence + 2)
        withExtendedLifetime(kept) {}
    }

    @Test func aHistory() async throws {
        let (root, lastSeen) = (try TemporaryRoot(), UInt64(0))
        let space = root.space
        let made = try space.namespace("jobs", options: NamespaceOptions(history: History(changes: 10_000)))
        try made.write("resize", 1)
        let watching = Task {
            let jobs = try space.namespace("jobs", options: NamespaceOptions(history: History(changes: 10_000)))
            for try await change in try jobs.changes(from: .after(lastSeen)) {
                print(change.kind, change.tuple ?? "")
            }
        }
        #expect(try await eventually { try made.status().watchers.count == 1 })
        try space.delete("jobs")
        try await watching.value
        withExtendedLifetime(root) {}
    }

    @Test func aSubscription() async throws {
        let jobs = jobs
        let billed = Mutex(0)
        @Sendable func bill(_ change: Change) throws { billed.withLock { $0 += 1 } }
        let watching = Task {
            let changes = try jobs.changes(from: .subscription("billing"))
            for try await change in changes {
                try bill(change)
                try changes.acknowledge(through: change.sequence)
            }
        }
        #expect(try await eventually { try jobs.status().watchers.count == 1 })
        try jobs.write("resize", 1)
        #expect(try await eventually { billed.withLock { $0 } == 1 })
        watching.cancel()
        try await watching.value
        // What was acknowledged is not delivered again.
        try jobs.write("resize", 2)
        let later = try await jobs.changes(from: .subscription("billing")).next(timeout: .seconds(60))
        #expect(later?.tuple == ["resize", 2])
    }
}
