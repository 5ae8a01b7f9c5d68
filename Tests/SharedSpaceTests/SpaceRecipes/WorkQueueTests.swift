import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// What a work queue's users can say, within one process.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct WorkQueueTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("queues")
    }

    private struct Broken: Error {}
    private struct Job: Codable, Equatable { var id: Int }

    private func taken(_ queue: WorkQueue, deadline: Duration? = nil) throws -> QueueItem {
        guard let item = try queue.takeIfReady(deadline: deadline) else { throw TestFailure("there is no item") }
        return item
    }

    // MARK: Settings and putting

    @Test func aHandleWithoutNumbersTakesTheQueueAsItIs() throws {
        try namespace.queue("q", deliveries: 1, bound: 2).put(1)
        let queue = namespace.queue("q")
        try queue.put(2)
        try taken(queue).release()
        #expect(try queue.items(in: .buried).map(\.value) == [1])
        for other in [namespace.queue("q", deliveries: 2), namespace.queue("q", bound: 3)] {
            let error = #expect(throws: SpaceError.self) { try other.put(3) }
            #expect(error?.code == .typeMismatch)
        }
    }

    @Test func anyCodableIsAnItem() throws {
        let queue = namespace.queue("q")
        try queue.put(Job(id: 7))
        let item = try taken(queue)
        let job: Job = try item.content()
        #expect(job == Job(id: 7))
        try item.complete()
        #expect(try queue.put(contentsOf: [Job(id: 1), Job(id: 2)]).count == 2)
        #expect(try queue.counts()[.ready] == 2)
    }

    @Test func aUniqueKeyIsThereOnce() throws {
        let queue = namespace.queue("q", deliveries: 1)
        let first = try queue.put(1, delay: .seconds(3600), unique: "k").id
        #expect(try queue.put(2, unique: "k").id == first)
        #expect(try queue.put(2, unique: "k\0l").id != first)
        guard let item = try queue.take(first) else { throw TestFailure("there is none") }
        #expect(try queue.put(3, unique: "k").id == first)
        #expect(try namespace.verify() == [])
        try item.release()
        // A buried item has no key any more, and can't get it back while another item has it.
        let second = try queue.put(4, unique: "k").id
        #expect(second != first)
        #expect(try queue.kick(first) == nil)
        #expect(try queue.remove(second))
        #expect(try queue.kick(first) != nil)
        #expect(try namespace.verify() == [])
        let error = #expect(throws: SpaceError.self) { try queue.put(5, unique: "") }
        #expect(error?.code == .invalidArgument)
    }

    @Test func aFullQueueTakesNoMore() async throws {
        let queue = namespace.queue("q", bound: 2)
        try queue.put(contentsOf: [1, 2])
        let error = #expect(throws: SpaceError.self) { try queue.put(3) }
        #expect(error?.code == .limitReached)
        #expect(throws: SpaceError.self) { try queue.put(contentsOf: [3, 4, 5]) }
        #expect(try await queue.put(3, timeout: .milliseconds(1)) == nil)
        let waiting = Task { try await queue.put(3, timeout: nil) }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        try taken(queue).complete()
        #expect(try await waiting.value != nil)
        #expect(try queue.counts()[.ready] == 2)
    }

    // MARK: Looking and moving

    @Test func itemsCanBeSeenInEachState() throws {
        let queue = namespace.queue("q")
        let low = try queue.put("low", group: "g").id
        try queue.put("high", priority: 5)
        let late = try queue.put("late", delay: .seconds(3600)).id
        try queue.put("behind", group: "g")
        try queue.put("bad", priority: 9)
        try taken(queue).bury(reason: "broken")
        let item = try taken(queue, deadline: .seconds(60))
        #expect(item.value == "high")
        func values(_ state: QueueItem.Info.State?) throws -> [Value] { try queue.items(in: state).map(\.value) }
        #expect(try values(.ready) == ["low"])
        #expect(try values(.delayed) == ["late"])
        #expect(try values(.taken) == ["high"])
        #expect(try values(.blocked) == ["behind"])
        #expect(try values(.buried) == ["bad"])
        #expect(try values(nil) == ["low", "high", "late", "behind", "bad"])
        #expect(try queue.items(in: nil, max: 2).count == 2)
        #expect(try queue.items(in: .buried).map(\.reason) == ["broken"])
        #expect(try queue.item(item.id)?.due ?? .zero > .seconds(1))
        #expect(try queue.item(late)?.state == .delayed)
        #expect(try queue.item(0) == nil)
        #expect(try namespace.verify() == [])
        #expect(try !queue.remove(item.id))
        #expect(try queue.remove(low))
        #expect(try values(.ready) == ["behind"])
        #expect(try queue.drain() == 2)
        #expect(try values(nil) == ["high", "bad"])
        #expect(try namespace.verify() == [])
        try item.complete()
    }

    @Test func anItemIsTakenByNumber() throws {
        let queue = namespace.queue("q")
        let (first, late) = (try queue.put(1).id, try queue.put(2, delay: .seconds(3600)).id)
        guard let item = try queue.take(late) else { throw TestFailure("there is none") }
        #expect(item.value == 2)
        #expect(try queue.take(late)?.id == nil)
        try item.release(priority: 3)
        #expect(try taken(queue).value == 2)
        #expect(try queue.take(first)?.value == 1)
        #expect(try namespace.verify() == [])
    }

    @Test func aPausedQueueServesNobody() async throws {
        let queue = namespace.queue("q")
        try queue.pause()
        try queue.put(1)
        let isPaused = try queue.isPaused
        #expect(isPaused)
        #expect(try queue.takeIfReady()?.id == nil)
        @Sendable func taken() async throws -> Value? {
            let item = try await queue.take()
            try item.complete()
            return item.value
        }
        let waiting = Task { try await taken() }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        try queue.resume()
        #expect(try await waiting.value == 1)
        // A pause with a time ends by itself, also for a taker that has begun to wait before it.
        let next = Task { try await taken() }
        #expect(try await eventually { try !namespace.status().waiters.isEmpty })
        try queue.pause(for: .milliseconds(50))
        try queue.put(2)
        #expect(try await next.value == 2)
        let isStill = try queue.isPaused
        #expect(!isStill)
    }

    // MARK: Time to run

    @Test func anItemReturnsWhenItsTimeToRunIsOver() throws {
        let queue = namespace.queue("q", deliveries: 2)
        try queue.put("x")
        let late = try taken(queue, deadline: .milliseconds(20))
        #expect(try eventually { try queue.counts()[.ready] == 1 })
        let again = try taken(queue)
        #expect(again.deliveries == 1 && again.fencing > late.fencing)
        expectLost { () throws(SpaceError) in try late.complete() }
        #expect(try namespace.verify() == [])
        try again.complete()
        #expect(try queue.counts() == QueueCounts())
    }

    /// The time is over for the worker, even if no other process has noticed.
    @Test func aWorkerThatIsLateLosesItsItem() throws {
        let queue = namespace.queue("q")
        try queue.put("x")
        let late = try taken(queue, deadline: .milliseconds(1))
        #expect(try eventually { !late.isHeld })
        expectLost { () throws(SpaceError) in try late.extend(by: .seconds(60)) }
        expectLost { () throws(SpaceError) in try late.bury() }
        #expect(try queue.items().map(\.deliveries) == [1])
    }

    @Test func anExtensionKeepsAnItem() throws {
        let queue = namespace.queue("q")
        try queue.put("x")
        let item = try taken(queue, deadline: .seconds(60))
        try item.extend(by: .seconds(3600))
        try item.extend(by: .zero)
        #expect(try queue.item(item.id)?.due ?? .zero > .seconds(1800))
        #expect(try namespace.verify() == [])
        try item.complete()
    }

    /// A waiting taker gets an item whose time to run is over without any other process's help.
    @Test func aWaiterGetsWhatIsOverdue() async throws {
        let queue = namespace.queue("q")
        try queue.put("x")
        let waiting = Task { () throws -> Int? in
            let item = try await queue.take()
            try item.complete()
            return item.deliveries
        }
        #expect(try await waiting.value == 0)
        try queue.put("y")
        let late = try taken(queue, deadline: .milliseconds(300))
        let second = Task { () throws -> Int? in
            let item = try await queue.take()
            try item.complete()
            return item.deliveries
        }
        #expect(try await second.value == 1)
        expectLost { () throws(SpaceError) in try late.complete() }
    }

    private func expectLost(_ body: () throws(SpaceError) -> Void) {
        do throws(SpaceError) {
            try body()
            Issue.record("the item was not lost")
        } catch {
            #expect(error.code == .holdLost)
        }
    }

    // MARK: Together with other changes

    @Test func theEndAndTheResultAreOneStep() throws {
        let (queue, next) = (namespace.queue("q"), namespace.queue("next"))
        try queue.put(1)
        let item = try taken(queue)
        do {
            try item.complete { t in
                try t.write("result", 1)
                throw Broken()
            }
        } catch {
            #expect(error is Broken)
        }
        #expect(try namespace.count() == 0)
        try item.complete { t in
            try t.write("result", 1)
            try t.queue(next).put(contentsOf: [2, 3])
        }
        #expect(try namespace.count() == 1)
        #expect(try queue.counts() == QueueCounts())
        #expect(try next.counts()[.ready] == 2)
        #expect(try namespace.verify() == [])
    }

    @Test func aDetachedItemIsEndedElsewhere() throws {
        let queue = namespace.queue("q")
        try queue.put(1)
        let held = try taken(queue).detach()
        #expect(try queue.counts()[.taken] == 1)
        let item = try held.attach()
        #expect(item.id == held.id)
        #expect(throws: SpaceError.self) { _ = try held.attach().id }
        try item.complete()
        #expect(try queue.counts() == QueueCounts())
    }

    // MARK: Working

    @Test func aPoisonItemDoesNotEndTheWork() async throws {
        let queue = namespace.queue("q")
        try queue.put(contentsOf: ["poison", "good", "bad", "good"])
        var done = 0
        try await queue.work(timeout: .milliseconds(50)) { item in
            if item.value != "good" { throw Broken() }
            done += 1
        } onFailure: { _, item in
            item.value == "bad" ? .bury(reason: "bad") : .retry(after: .seconds(3600))
        }
        #expect(done == 2)
        let (later, buried) = (try queue.items(in: .delayed), try queue.items(in: .buried))
        #expect(later.map(\.value) == ["poison"])
        #expect(later.map(\.deliveries) == [1])
        #expect(later.first?.reason?.contains("Broken") == true)
        #expect(buried.map(\.value) == ["bad"] && buried.map(\.reason) == ["bad"])
    }

    @Test func aRetryWithoutADelayKeepsTheItem() async throws {
        let queue = namespace.queue("q")
        try queue.put(1)
        try await queue.work(timeout: .milliseconds(50)) { _ in
            throw Broken()
        } onFailure: { _, _ in
            .retry()
        }
        let counts = try queue.counts()
        #expect(counts[.ready] + counts[.delayed] == 1)
    }

    @Test func workStopsIfThatIsDecided() async throws {
        let queue = namespace.queue("q")
        try queue.put(1)
        await #expect(throws: Broken.self) {
            try await queue.work { _ in
                throw Broken()
            } onFailure: { _, _ in
                .stop
            }
        }
        #expect(try queue.counts()[.ready] == 1)
    }

    /// A cancelled worker returns without an error, whether it waits or works.
    @Test(arguments: [false, true]) func cancelledWorkEnds(_ isWorking: Bool) async throws {
        let queue = namespace.queue("q")
        if isWorking { try queue.put(1) }
        let worker = Task {
            try await queue.work { _ in try await Task.sleep(for: .seconds(3600)) }
        }
        #expect(try await eventually { try namespace.status().holds.contains { $0.isHeld == isWorking } })
        worker.cancel()
        try await worker.value
        #expect(try queue.counts()[.ready] == (isWorking ? 1 : 0))
    }
}
