import FoundationEssentials
import Logging
import MetricsTestKit
import ServiceLifecycle
import SharedSpace
import SharedSpaceServices
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Services of this process, in a service group that shuts down.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct ServiceTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("service")
    }

    /// Runs services, shuts the group down once `body` returns, and waits for its end.
    private func run(_ services: [any Service], until body: () async throws -> Void) async throws {
        let group = ServiceGroup(services: services, logger: Logger(label: "test"))
        let running = Task { try await group.run() }
        do {
            try await body()
        } catch {
            running.cancel()
            throw error
        }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    /// A service as its documentation shows it, without this product.
    private struct Textbook: Service {
        let queue: WorkQueue
        func run() async throws {
            try await cancelWhenGracefulShutdown { try await queue.work { item in _ = item.value } }
        }
    }

    @Test func anIdleTextbookServiceEnds() async throws {
        try await run([Textbook(queue: namespace.queue("mail"))]) { () async throws in
            #expect(try await eventually { try namespace.status().holds.count == 1 })
        }
        #expect(try namespace.status().holds == [])
    }

    @Test func aServiceThatWaitsEnds() async throws {
        let namespace = namespace
        try await run([SpaceService { _ = try await namespace.take("never") }]) { () async throws in
            #expect(try await eventually { try namespace.status().waiters.count == 1 })
        }
        #expect(try await eventually { try namespace.status().waiters.isEmpty })
    }

    @Test func aServiceThatFailsTellsWhy() async throws {
        let failing = SpaceService { throw TestFailure("on purpose") }
        let group = ServiceGroup(services: [failing], logger: Logger(label: "test"))
        await #expect(throws: TestFailure.self) { try await group.run() }
    }

    @Test func aWorkerFinishesWhatItHas() async throws {
        let queue = namespace.queue("mail")
        for number in 0..<2 { try queue.put(number) }
        let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
        let worker = queue.worker(deadline: .seconds(600)) { item in
            continuation.yield()
            while !Task.isShuttingDownGracefully { await Task.yield() }
            try Task.checkCancellation()
        }
        let group = ServiceGroup(services: [worker], logger: Logger(label: "test"))
        let running = Task { try await group.run() }
        for await _ in begun { break }
        await group.triggerGracefulShutdown()
        try await running.value
        // The first item was finished, and the second was not begun.
        #expect(try queue.items().map(\.value) == [1])
        #expect(try queue.items().map(\.deliveries) == [0])
    }

    @Test func aFailedItemIsBuriedAndTheWorkGoesOn() async throws {
        let queue = namespace.queue("mail")
        for number in 0..<3 { try queue.put(number) }
        let worker = queue.worker { item in
            if item.value == 1 { throw TestFailure("poison") }
        } onFailure: { error, item in
            .bury(reason: "\(item.value)")
        }
        try await run([worker]) { () async throws in
            #expect(try await eventually { try queue.items(in: .ready).isEmpty && queue.counts()[.taken] == 0 })
        }
        #expect(try queue.items().map(\.value) == [1])
        #expect(try queue.items().map(\.reason) == ["1"])
    }

    /// An item that the body has completed together with its result stays completed.
    @Test func aBodyMayEndItsItem() async throws {
        let (queue, namespace) = (namespace.queue("mail"), namespace)
        for number in 0..<3 { try queue.put(number) }
        try await queue.work(timeout: .zero) { item in
            switch item.value {
            case 0: try item.complete { t in try t.write("done", item.id) }
            case 1: try item.bury(reason: "by hand")
            default:
                try item.complete()
                throw TestFailure("after the end")
            }
        }
        #expect(try namespace.count() == 1)
        #expect(try queue.items().map(\.value) == [1])
        #expect(try namespace.verify() == [])
    }

    @Test func aDeposedLeaderStandsAgain() async throws {
        let election = namespace.election("e")
        let terms = Mutex<[UInt64]>([])
        let candidate = election.candidate(as: "here") { term in
            terms.withLock { $0.append(term) }
            try await gracefulShutdown()
        }
        try await run([candidate]) { () async throws in
            #expect(try await eventually { try election.leader() != nil && terms.withLock { $0.count } == 1 })
            #expect(try election.leader()?.value == "here")
            #expect(try election.depose())
            #expect(try await eventually { terms.withLock { $0.count } == 2 })
        }
        let both = terms.withLock { $0 }
        #expect(both[0] < both[1])
        #expect(try election.leader() == nil)
    }

    @Test func numbersAreRecorded() async throws {
        let metrics = TestMetrics()
        try namespace.write("a", 1)
        try namespace.set("k", 1)
        try namespace.queue("mail").put("x")
        try NamespaceMetrics(of: namespace, factory: metrics).record()
        func last(_ name: String, _ more: (String, String)...) throws -> Double? {
            try metrics.expectGauge("shared_space_\(name)", [("namespace", "service")] + more).lastValue
        }
        #expect(try last("tuples") == 1)
        #expect(try last("cells") == 1)
        #expect(try last("owners") == 1)
        #expect(try last("queue_items", ("queue", "mail"), ("state", "ready")) == 1)
        try await run([NamespaceMetrics(of: namespace, every: .milliseconds(1), factory: metrics)]) { () async throws in
            try namespace.write("a", 2)
            #expect(try await eventually { try last("tuples") == 2 })
        }
    }

    @Test func latenciesAreRecordedWhereTheyAreMeasured() async throws {
        let metrics = TestMetrics()
        let recorder = NamespaceMetrics(of: namespace, factory: metrics)
        func last(_ name: String, _ more: (String, String)...) throws -> Double? {
            try metrics.expectGauge("shared_space_\(name)", [("namespace", "service")] + more).lastValue
        }
        try recorder.record()
        #expect(throws: (any Error).self) { try last("wait_seconds_count") }

        try namespace.setMeasuringLatency(true)
        let namespace = namespace
        async let taken = namespace.take("late", any(Int.self))
        #expect(try await eventually { try namespace.status().waiters.contains { !$0.template.isEmpty } })
        try namespace.write("late", 1)
        _ = try await taken
        // The taker counts when it returns.
        #expect(try await eventually { try namespace.status().latency?.waiting.count == 1 })
        try recorder.record()
        #expect(try last("wait_seconds_count") == 1)
        #expect(try last("wait_seconds_bucket", ("le", "+Inf")) == 1)
        let latency = try #require(try namespace.status().latency)
        #expect(try last("wait_seconds_sum") == latency.waiting.total / .seconds(1))
        #expect(try last("hand_off_seconds_count") == Double(latency.handOff.count))
        // Each bucket counts those before it too, and is named by its bound.
        var sum = 0
        for (bound, count) in zip(LatencyHistogram.bounds, latency.waiting.counts) {
            sum += count
            #expect(try last("wait_seconds_bucket", ("le", "\(bound / .seconds(1))")) == Double(sum))
        }
        #expect(try last("wait_seconds_bucket", ("le", "1e-06")) == 0)
        #expect(try last("wait_seconds_bucket", ("le", "0.25")) != nil)
    }

    @Test func anErrorIsLocalized() throws {
        let thrown = #expect(throws: SpaceError.self) { try root.space.existingNamespace("none") }
        let error = try #require(thrown)
        let localized: any LocalizedError = error
        #expect(localized.errorDescription == "\(error)")
        #expect(localized.failureReason == error.reason)
        #expect(localized.recoverySuggestion == error.advice)
    }

    @Test func aDateIsAField() async throws {
        let day = 86_400.0
        let dates = (0..<3).map { Date(timeIntervalSince1970: 1_700_000_000.25 + Double($0) * day) }
        for date in dates { try namespace.write("due", date) }
        let second = try namespace.readIfExists("due", dates[1])
        #expect(second?.1 == dates[1])
        let early = try namespace.takeIfExists("due", dates[0]...dates[1])
        #expect(early?.1 == dates[0])
        let any = try await namespace.take("due", any(Date.self))
        #expect(any.1 == dates[1])
    }
}
