import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Waiting until the handlers have been told of everything.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct SettledTests {
    let jobs: Namespace

    init() throws { jobs = try SpaceTest.namespace("jobs") }

    @Test func everyHandlerHasReturned() async throws {
        try await jobs.settled()
        let told = (0..<3).map { _ in Told() }
        let bag = ObservationBag()
        bag.add(try jobs.observe("k") { told[0].note($0) })
        bag.add(
            try jobs.observe("k") { (change: Change) async in
                for _ in 0..<10 { await Task.yield() }
                told[1].note(change)
            }
        )
        bag.add(try jobs.observe(.cells(), options: [.initial, .new]) { told[2].note($0) })
        bag.add(try jobs.observe("another") { _ in })
        var initial = 0
        for round in rounds(200) {
            for number in 0..<round % 5 { try jobs.set("k", number) }
            let (count, last) = (told[0].count, try jobs.status().sequence)
            try await jobs.settled()
            #expect(told[0].count >= count && told[0].count == told[1].count)
            if round % 5 > 0 { #expect(told.allSatisfy { $0.last?.sequence == last }) }
            initial = told[2].count
        }
        #expect(initial >= told[0].count)
        bag.stopObserving()
        try await jobs.settled()
    }

    /// A handler that is busy is awaited; one that ends is not.
    @Test(arguments: [false, true]) func aBusyHandlerIsAwaited(_ isCancelled: Bool) async throws {
        let (told, barrier, slot, done) = (Told(), Barrier(), Slot<ObservationToken>(), Slot<Bool>())
        slot.value = try jobs.observe("k") { change in
            told.note(change)
            barrier.wait()
        }
        try jobs.set("k", 1)
        #expect(try await eventually { barrier.arrivals.value == 1 })
        let jobs = jobs
        let waiting = Task {
            try await jobs.settled()
            done.value = true
        }
        // The hub has read the change long since, and its handler runs: only its return ends the wait.
        #expect(try await eventually { jobs.settlingCount == 1 })
        #expect(done.value == nil)
        if isCancelled { slot.value = nil } else { barrier.open() }
        try await waiting.value
        #expect(told.count == 1)
        barrier.open()
        slot.value = nil
    }

    @Test func aCancelledTaskWaitsNoLonger() async throws {
        let barrier = Barrier()
        let token = try jobs.observe("k") { _ in barrier.wait() }
        try jobs.set("k", 1)
        let jobs = jobs
        let waiting = Task { try await jobs.settled() }
        #expect(try await eventually { jobs.settlingCount == 1 })
        waiting.cancel()
        let error = await #expect(throws: SpaceError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        barrier.open()
        token.cancel()
    }

    @Test func aHandlerCannotWaitForItself() async throws {
        let jobs = jobs
        let errors = Slot<SpaceError>()
        let token = try jobs.observe("k") { (_: Change) async in
            do { try await jobs.settled() } catch { errors.value = error as? SpaceError }
        }
        try jobs.set("k", 1)
        try await jobs.settled()
        #expect(errors.value?.code == .invalidArgument)
        token.cancel()
    }
}
