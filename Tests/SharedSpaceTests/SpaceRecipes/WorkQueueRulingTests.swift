import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// What others than its worker can do with an item, and what is ruled for a queue as a whole, within one process.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct WorkQueueRulingTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("ruling")
    }

    private func taken(_ queue: WorkQueue, deadline: Duration? = nil) throws -> QueueItem {
        guard let item = try queue.takeIfReady(deadline: deadline) else { throw TestFailure("there is no item") }
        return item
    }

    private func isWaiting() throws -> Bool { try !namespace.status().waiters.isEmpty }

    // MARK: Extending

    @Test func anItemIsExtendedFromOutside() throws {
        let queue = namespace.queue("q")
        let id = try queue.put(1).id
        #expect(try !queue.extend(id, by: .seconds(3600)))
        let item = try taken(queue, deadline: .seconds(60))
        let before = try #require(try queue.item(id)?.due)
        #expect(try queue.extend(id, by: .seconds(3600)))
        let after = try #require(try queue.item(id)?.due)
        #expect(after > before && after > .seconds(3000))
        // A shorter time takes nothing away.
        #expect(try queue.extend(id, by: .zero))
        #expect(try #require(try queue.item(id)?.due) > .seconds(3000))
        // A worker that has the item no more extends nothing, with its own ticket.
        #expect(try queue.extend(id, by: .seconds(7200), heldWith: item.fencing))
        #expect(try !queue.extend(id, by: .seconds(7200), heldWith: item.fencing + 1))
        let error = #expect(throws: SpaceError.self) { try queue.extend(id, by: .seconds(-1)) }
        #expect(error?.code == .invalidArgument)
        try item.complete()
        #expect(try !queue.extend(id, by: .seconds(3600)))
        #expect(try namespace.verify() == [])
    }

    @Test func anItemWithoutATimeToRunStaysWithoutOne() throws {
        let queue = namespace.queue("q")
        let id = try queue.put(1).id
        let item = try taken(queue)
        #expect(try queue.extend(id, by: .milliseconds(1)))
        #expect(try queue.item(id)?.due == nil)
        try item.complete()
    }

    @Test func whatIsOverdueIsExtendedNoMore() throws {
        let queue = namespace.queue("q")
        let id = try queue.put(1).id
        let item = try taken(queue, deadline: .milliseconds(1))
        #expect(try eventually { !item.isHeld })
        #expect(try !queue.extend(id, by: .seconds(3600)))
        #expect(try queue.item(id)?.state == .ready)
        #expect(throws: SpaceError.self) { try item.complete() }
    }

    // MARK: Cancelling

    @Test func anItemIsCancelledInAnyState() throws {
        let queue = namespace.queue("q")
        let group = try queue.put(contentsOf: [1, 2], group: "g")
        let delayed = try queue.put(3, delay: .seconds(3600)).id
        let buried = try queue.put(4).id
        try queue.take(buried)?.bury()
        let states: [(UInt64, QueueItem.Info.State)] = [
            (group[1], .blocked), (group[0], .ready), (delayed, .delayed), (buried, .buried),
        ]
        for (id, state) in states {
            #expect(try queue.cancel(id) == state)
            #expect(try namespace.verify() == [])
            #expect(try queue.cancel(id) == nil)
        }
        #expect(try queue.counts() == QueueCounts())
    }

    @Test func aCancelledWorkerIsTold() async throws {
        let queue = namespace.queue("q", bound: 2)
        let ids = try queue.put(contentsOf: [1, 2], group: "g")
        let item = try taken(queue, deadline: .seconds(3600))
        #expect(item.isHeld == true)
        // The next of its group goes to the worker that waits, and its room to the process that waits.
        let worker = Task { () -> UInt64? in try await queue.take(timeout: watchdog)?.detach().id }
        #expect(try await eventually { try namespace.status().holds.contains { !$0.isHeld } })
        let putting = Task { try await queue.put(3, timeout: watchdog) }
        #expect(try await eventually { try namespace.status().waiters.count == 2 })
        #expect(try queue.cancel(ids[0]) == .taken)
        #expect(item.isHeld == false)
        #expect(try await worker.value == ids[1])
        #expect(try await putting.value != nil)
        let error = #expect(throws: SpaceError.self) { try item.complete() }
        #expect(error?.code == .holdLost)
        #expect(try queue.item(ids[0]) == nil)
        #expect(try namespace.verify() == [])
    }

    /// A worker that was served, and has not looked yet, is not told of an item that it never had: it waits on.
    @Test(arguments: [false, true]) func whatAWorkerHasNotSeenIsCancelled(_ isQueueRemoved: Bool) throws {
        let queue = namespace.queue("q")
        let worker = try Agent(root, namespace.name, "owning=0")
        try worker.send("queue-take q 600000")
        #expect(try worker.line() == "waiting")
        #expect(try eventually { try isWaiting() })
        try worker.stop()
        let id = try queue.put(1).id
        #expect(try queue.item(id)?.state == .taken)
        if isQueueRemoved {
            #expect(try queue.remove(cancellingTaken: true) == 1)
        } else {
            #expect(try queue.cancel(id) == .taken)
        }
        worker.resume()
        #expect(try eventually { try namespace.status().holds.contains { !$0.isHeld } })
        try queue.put(2)
        #expect(try worker.line() == "ok 2")
        #expect(try namespace.verify() == [])
    }

    // MARK: Numbers

    @Test func theNumbersThatAreSetCountForAll() throws {
        let queue = namespace.queue("q", deliveries: 5, bound: 3)
        try queue.put(contentsOf: [1, 2, 3])
        try namespace.queue("q").set(deliveries: 1, bound: 2)
        // What is beyond the new bound stays; no more comes.
        #expect(try queue.counts()[.ready] == 3)
        let error = #expect(throws: SpaceError.self) { try queue.put(4) }
        #expect(error?.code == .limitReached)
        try taken(queue).release()
        #expect(try queue.items(in: .buried).map(\.value) == [1])
        // A number that is left out stays as it is, and any handle's counts no more.
        try queue.set(bound: 3)
        try namespace.queue("q", deliveries: 9, bound: 9).put(4)
        try taken(queue).release()
        #expect(try queue.counts()[.buried] == 2)
        let rules = try #require(try namespace.objects.first?.queue)
        #expect(rules.deliveries == 1 && rules.bound == 3 && !rules.isPaused)
        for (deliveries, bound) in [(-1, nil), (nil, -1), (1 << 40, nil)] as [(Int?, Int?)] {
            let error = #expect(throws: SpaceError.self) { try queue.set(deliveries: deliveries, bound: bound) }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try namespace.verify() == [])
    }

    @Test func aRaisedBoundMakesRoom() async throws {
        let queue = namespace.queue("q", bound: 1)
        try queue.put(1)
        let putting = Task { try await queue.put(2, timeout: watchdog) }
        #expect(try await eventually { try isWaiting() })
        try queue.set(bound: 2)
        #expect(try await putting.value != nil)
    }

    // MARK: Removing

    /// More items than one transaction removes, in all states.
    @Test func aQueueIsRemovedWithAllItsItems() throws {
        let queue = namespace.queue("q", deliveries: 2)
        try queue.put(contentsOf: 0..<40)
        try queue.put(contentsOf: 0..<40, group: "g")
        try queue.put(7, delay: .seconds(3600), unique: "k")
        try taken(queue).bury()
        let item = try taken(queue)
        let error = #expect(throws: SpaceError.self) { try queue.remove() }
        #expect(error?.code == .invalidArgument && error?.reason.contains("item \(item.id)") == true)
        #expect(try queue.counts().all == 81)
        #expect(try queue.remove(cancellingTaken: true) == 81)
        #expect(item.isHeld == false)
        #expect(try !queue.remove())
        #expect(try namespace.objects.isEmpty)
        #expect(throws: SpaceError.self) { try item.complete() }
        // The next queue of the name has its own numbers.
        try namespace.queue("q", deliveries: 7).put(1, unique: "k")
        #expect(try namespace.objects.first?.queue?.deliveries == 7)
        #expect(try namespace.verify() == [])
    }

    @Test func aWaiterAtARemovedQueueIsServedByTheNext() async throws {
        let queue = namespace.queue("q", bound: 1)
        // In one step, so that what is put by a process that has waited for room is not removed with the rest.
        for _ in rounds(20, least: 5) {
            try queue.put(1)
            let putting = Task { try await queue.put(2, timeout: watchdog) }
            #expect(try await eventually { try isWaiting() })
            #expect(try queue.remove(cancellingTaken: false) == 1)
            #expect(try await putting.value != nil)
            try taken(queue).complete()
        }
        let worker = Task { () -> Value? in try await queue.take(timeout: watchdog)?.detach().value }
        #expect(try await eventually { try isWaiting() })
        #expect(try queue.remove())
        try queue.put(3)
        #expect(try await worker.value == 3)
        #expect(try namespace.verify() == [])
    }

    // MARK: Holding

    /// An item that is handed over belongs to the other process, and any process ends it in its name.
    @Test func anItemIsEndedInItsHoldersName() throws {
        let queue = namespace.queue("q")
        let ids = try queue.put(contentsOf: [1, 2, 3])
        let other = try Agent()
        let holder = try #require(try ProcessIdentity.find(pid: other.pid))
        for id in ids {
            #expect(try queue.item(id, heldFor: holder) == nil)
            _ = try taken(queue).handOver(to: holder)
        }
        #expect(try queue.item(ids[0], heldFor: try .current) == nil)
        try queue.item(ids[0], heldFor: holder)?.complete()
        try queue.item(ids[1], heldFor: holder)?.bury(reason: "because")
        try queue.item(ids[2], heldFor: holder)?.release()
        #expect(try queue.item(ids[0]) == nil)
        #expect(try queue.item(ids[1])?.reason == "because")
        let back = try #require(try queue.item(ids[2]))
        #expect(back.state == .ready && back.deliveries == 1)
        for id in ids { #expect(try queue.item(id, heldFor: holder) == nil) }
        #expect(try namespace.verify() == [])
    }

    @Test func aHeldItemReturnsWithItsHolder() async throws {
        let queue = namespace.queue("q")
        let id = try queue.put(1).id
        let other = try Agent()
        let holder = try #require(try ProcessIdentity.find(pid: other.pid))
        _ = try taken(queue).handOver(to: holder)
        let worker = Task { () -> UInt64? in try await queue.take(timeout: watchdog)?.detach().id }
        #expect(try await eventually { try isWaiting() })
        try other.kill()
        #expect(try await worker.value == id)
        #expect(try queue.item(id)?.deliveries == 1)
    }
}
