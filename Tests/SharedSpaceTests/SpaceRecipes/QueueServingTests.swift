import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// A queue hands out what it has: no process waits beside something that it could have.
@Suite(.spaceTest, .timeLimit(.minutes(10)))
struct QueueServingTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("serving")
    }

    // MARK: What becomes due

    enum Due: CaseIterable { case put, released, paused, running }

    /// Only the wait for an item looks: no taker waits that could make the item ready for it.
    @Test(arguments: Due.allCases) func aWaitForAnItemEndsWhenOneBecomesDue(_ due: Due) async throws {
        let queue = namespace.queue("q")
        try queue.put(0, delay: .seconds(3600))
        let space = root.space
        // The wait begins before there is anything due, so the time comes to be known while it sleeps.
        let waiting = Task { try await space.first(of: [.item(of: queue)], timeout: watchdog) }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        let soon = Duration.milliseconds(400)
        switch due {
        case .put: try queue.put(1, delay: soon)
        case .released:
            try queue.put(1, delay: .seconds(3600), unique: "k")
            let id = try queue.put(1, unique: "k").id
            guard let item = try queue.take(id) else { throw TestFailure("there is none") }
            try item.release(delay: soon)
        case .paused:
            try queue.pause(for: soon)
            try queue.put(1)
        case .running:
            let id = try queue.put(1, delay: .seconds(3600)).id
            // Kept until its time to run is over.
            _ = try queue.take(id, deadline: soon)?.detach()
        }
        #expect(try await waiting.value == 0)
    }

    /// An overdue item that is buried is none to take.
    @Test func aWaitForAnItemDoesNotEndWithABuriedOne() async throws {
        let queue = namespace.queue("q", deliveries: 1)
        try queue.put(1)
        _ = try queue.takeIfReady(deadline: .milliseconds(1))?.detach()
        #expect(try await root.space.first(of: [.item(of: queue)], timeout: .milliseconds(300)) == nil)
        #expect(try queue.counts()[.buried] == 1)
    }

    @Test(arguments: [20, 600]) func ofManyDueItemsTheBestComesFirst(_ count: Int) throws {
        let queue = namespace.queue("q")
        let delay = Duration.milliseconds(500)
        let ids = try queue.put(contentsOf: 0..<count, delay: delay)
        try queue.put("high", priority: 100, delay: delay)
        // An item at its old place: older than all others of its priority, and due after them.
        let put = MonotonicInstant.now
        #expect(try eventually { MonotonicInstant.now.duration(since: put) > delay })
        let counts = try queue.counts()
        #expect(counts[.ready] == count + 1 && counts[.delayed] == 0)
        #expect(try queue.items(in: .ready, max: 2).map(\.value) == ["high", 0])
        var values: [Value] = []
        for _ in 0..<20 {
            guard let item = try queue.takeIfReady() else { throw TestFailure("there is no item") }
            values.append(item.value)
            try item.complete()
        }
        #expect(values == ["high"] + (0..<19).map { .int($0) })
        #expect(try queue.items(in: .ready, max: 1).map(\.id) == [ids[19]])
        #expect(try namespace.verify() == [])
    }

    @Test func overdueItemsAreReturnedAllAtOnce() throws {
        let queue = namespace.queue("q")
        let ids = try queue.put(contentsOf: 0..<40)
        for id in ids.reversed() { _ = try queue.take(id, deadline: .milliseconds(1))?.detach() }
        let taken = MonotonicInstant.now
        #expect(try eventually { MonotonicInstant.now.duration(since: taken) > .milliseconds(5) })
        let counts = try queue.counts()
        #expect(counts[.ready] == 40 && counts[.taken] == 0)
        #expect(try queue.takeIfReady()?.id == ids[0])
        #expect(try namespace.verify() == [])
    }

    // MARK: Room, and groups

    @Test func anOverdueItemThatIsBuriedMakesRoom() async throws {
        let queue = namespace.queue("q", deliveries: 1, bound: 1)
        try queue.put(1)
        // Its worker does nothing more.
        _ = try queue.takeIfReady(deadline: .milliseconds(300))?.detach()
        #expect(try await queue.put(2, timeout: watchdog) != nil)
        _ = try queue.takeIfReady(deadline: .milliseconds(1))?.detach()
        #expect(try await eventually { (try? queue.put(3)) != nil })
        #expect(try queue.items(in: .buried).map(\.value) == [1, 2])
    }

    @Test func whatBecomesReadyByADrainGoesToAWaitingWorker() async throws {
        let queue = namespace.queue("q")
        let namespace = namespace
        for _ in rounds(20, least: 5) {
            try queue.put("head", delay: .seconds(3600), group: "g")
            let worker = Task { () -> Value? in
                guard let item = try await queue.take(timeout: watchdog) else { return nil }
                try item.complete()
                return item.value
            }
            #expect(try await eventually { try !namespace.status().waiters.isEmpty })
            // The drain reads what there is, and waits for the gate; meanwhile the group gets another item.
            let drained = try await onThread { () -> Task<Int, any Error> in
                try namespace.transaction { t in
                    let drain = Task.detached { try await onThread { try queue.drain() } }
                    poll(nil, 0, 20)
                    try t.queue(queue).put("next", group: "g")
                    return drain
                }
            }
            let count = try await drained.value
            if count == 1 {
                #expect(try await worker.value == "next")
            } else {
                // The drain came late, and took both.
                try queue.put("next")
                _ = try await worker.value
            }
            #expect(try queue.drain() <= 1)
        }
    }

    // MARK: Time to run

    @Test func anItemThatReturnsBeforeItIsSeenIsNoError() async throws {
        let queue = namespace.queue("q")
        let isDone = FutexWord()
        try queue.put(contentsOf: 0..<4)
        let looking = Task.detached {
            try await onThread { while isDone.value.load() == 0 { _ = try queue.counts() } }
        }
        try await onThread {
            for _ in 0..<300 { _ = try queue.take(timeout: watchdog, deadline: .milliseconds(1))?.detach() }
        }
        isDone.value.store(1)
        try await looking.value
    }

    // MARK: Unique keys

    private func values(_ queue: WorkQueue) throws -> [Value] { try queue.items().map(\.value) }

    @Test func aPutWithAUniqueKeySaysWhatItDid() throws {
        let queue = namespace.queue("q")
        let first = try queue.put(1, unique: "k")
        #expect(first == .added(first.id))
        #expect(try queue.put(2, unique: "k") == .present(first.id))
        #expect(try queue.put(3, unique: "k", ifPresent: .again) == .present(first.id))
        #expect(try queue.put(4, priority: 7, unique: "k", ifPresent: .replace) == .replaced(first.id))
        #expect(try values(queue) == [4])
        #expect(try queue.item(first.id)?.priority == 7)
        #expect(try namespace.verify() == [])
    }

    @Test func aReplacedItemKeepsItsPlace() throws {
        let queue = namespace.queue("q")
        let first = try queue.put("old", unique: "k")
        try queue.put("other")
        try queue.takeIfReady()?.release()
        #expect(try queue.put("new", unique: "k", ifPresent: .replace) == .replaced(first.id))
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
        #expect(item.value == "new" && item.deliveries == 0)
        try item.complete()
        // Into another group it goes as a new one.
        let second = try queue.put("a", group: "g", unique: "k")
        let third = try queue.put("b", group: "h", unique: "k", ifPresent: .replace)
        #expect(third != .replaced(second.id))
        #expect(try values(queue) == ["other", "b"])
        // A new one that names no group stays in that of the old one.
        try queue.put("c", group: "h")
        #expect(try queue.put("d", unique: "k", ifPresent: .replace) == .replaced(third.id))
        #expect(try values(queue) == ["other", "d", "c"] && queue.item(third.id)?.group == "h")
        #expect(try namespace.verify() == [])
    }

    @Test(arguments: [UniqueRule.again, .replace])
    func behindAnItemThatIsWorkedOnANewOneWaits(_ rule: UniqueRule) async throws {
        let queue = namespace.queue("q")
        let first = try queue.put(1, unique: "k")
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
        #expect(try queue.put(2, unique: "k") == .present(first.id))
        let second = try queue.put(2, unique: "k", ifPresent: rule)
        #expect(second == .added(second.id) && second != first)
        let third = try queue.put(3, unique: "k", ifPresent: rule)
        #expect(third == (rule == .again ? .present(second.id) : .replaced(second.id)))
        // It is not worked on beside the first.
        #expect(try queue.takeIfReady()?.id == nil)
        #expect(try queue.item(second.id)?.state == .blocked)
        #expect(try namespace.verify() == [])
        let worker = Task { try await queue.take(timeout: watchdog)?.value }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        try item.complete()
        #expect(try await worker.value == (rule == .again ? 2 : 3))
    }

    @Test func aFailedItemIsReplacedWithTheOneBehindIt() throws {
        let queue = namespace.queue("q")
        try queue.put(1, unique: "k")
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
        try queue.put(2, unique: "k", ifPresent: .again)
        try item.release()
        #expect(try values(queue) == [1, 2])
        #expect(try namespace.verify() == [])
        try queue.put(3, unique: "k", ifPresent: .replace)
        #expect(try values(queue) == [3])
        #expect(try namespace.verify() == [])
    }

    /// A put whose time passes looks once more, so it would end as one that was woken.
    private static let longest = Duration.seconds(3600)

    private func expectNoWaiter(_ tasks: [Task<QueuePut?, any Error>]) async throws {
        if try await eventually({ try namespace.status().waiters.isEmpty }) { return }
        Issue.record("a put waits on")
        for task in tasks { task.cancel() }
    }

    /// Of several that wait for room with one key, one puts; the others have nothing more to put.
    @Test(arguments: [UniqueRule.keep, .again, .replace])
    func whoWaitsForRoomEndsWhenItsKeyIsThere(_ rule: UniqueRule) async throws {
        let queue = namespace.queue("q", bound: 2)
        try queue.put(contentsOf: [0, 0])
        let waiting = (1...4).map { number in
            Task { try await queue.put(number, unique: "k", ifPresent: rule, timeout: Self.longest) }
        }
        #expect(try await eventually { try namespace.status().waiters.count == 4 })
        try queue.takeIfReady()?.complete()
        try await expectNoWaiter(waiting)
        var (added, others) = (0, 0)
        for task in waiting {
            switch try await task.value {
            case .added: added += 1
            case .present: others += rule == .replace ? 0 : 1
            case .replaced: others += rule == .replace ? 1 : 0
            case nil: break
            }
        }
        #expect(added == 1 && others == 3)
        #expect(try namespace.verify() == [])
    }

    /// What an item's return lets a put do without room.
    @Test func whoWaitsForRoomReplacesAnItemThatReturns() async throws {
        let queue = namespace.queue("q", bound: 1)
        let first = try queue.put(1, unique: "k")
        guard let item = try queue.takeIfReady() else { throw TestFailure("there is none") }
        let waiting = Task { try await queue.put(2, unique: "k", ifPresent: .replace, timeout: Self.longest) }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        try item.release()
        try await expectNoWaiter([waiting])
        #expect(try await waiting.value == .replaced(first.id))
    }

    @Test func aFullQueueReplacesAndAddsNothing() throws {
        let queue = namespace.queue("q", bound: 1)
        let first = try queue.put(1, unique: "k")
        #expect(try queue.put(2, unique: "k", ifPresent: .replace) == .replaced(first.id))
        let item = try queue.takeIfReady()?.detach()
        let error = #expect(throws: SpaceError.self) { try queue.put(3, unique: "k", ifPresent: .again) }
        #expect(error?.code == .limitReached)
        try item?.attach().complete()
    }
}
