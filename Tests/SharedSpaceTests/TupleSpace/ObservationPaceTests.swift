import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// No writer or observer waits for slow handlers, and these miss nothing that the journal keeps.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct ObservationPaceTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    /// Registers a handler that blocks, on the thread that heard the change signal or in a task.
    private func observeBlocked(_ told: Told, at barrier: Barrier, inTask: Bool) throws -> ObservationToken {
        guard inTask else {
            return try jobs.observe("k") { change in
                told.note(change)
                barrier.wait()
            }
        }
        return try jobs.observe("k") { (change: Change) async in
            told.note(change)
            guard !barrier.isOpen else { return }
            await withCheckedContinuation { continuation in
                Task {
                    try? await onThread { barrier.wait() }; continuation.resume()
                }
            }
        }
    }

    @Test(arguments: [false, true]) func aBlockedHandlerHoldsNobodyUp(inTask: Bool) async throws {
        let (slow, fast, barrier) = (Told(), Told(), Barrier())
        let bag = ObservationBag()
        bag.add(try observeBlocked(slow, at: barrier, inTask: inTask))
        bag.add(try jobs.observe("k") { fast.note($0) })
        bag.add(try observeBlocked(slow, at: barrier, inTask: inTask))
        for number in 0..<500 {
            try jobs.set("k", number)
            if number % 100 == 0 { #expect(try await eventually { fast.count == number + 1 }) }
        }
        #expect(try await eventually { fast.count == 500 })
        // The handlers' tasks begin when the executor runs them, which may be after all that.
        #expect(try await eventually { slow.count == 2 })
        barrier.open()
        // The slow handlers catch up in order, and are then told of changes as they happen.
        #expect(try await eventually { slow.count == 1000 })
        try jobs.set("k", 500)
        #expect(try await eventually { slow.count == 1002 && fast.count == 501 })
        #expect(fast.changes.map(\.new) == (0...500).map { .int($0) })
        for number in 0...500 { #expect(slow.changes.count { $0.new == .int(number) } == 2) }
        bag.stopObserving()
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    @Test func aHandlerThatFallsBehindGetsAGap() async throws {
        let (told, barrier) = (Told(), Barrier())
        let token = try observeBlocked(told, at: barrier, inTask: false)
        try jobs.set("k", 0)
        #expect(try await eventually { barrier.arrivals.value == 1 })
        let payload = String(repeating: "x", count: 1 << 20)
        for _ in 0..<40 { try jobs.set("k", payload) }
        let last = try jobs.status().sequence
        barrier.open()
        #expect(try await eventually { told.last?.lastSequence == last })
        var next = told.changes[0].sequence
        for change in told.changes {
            #expect(change.sequence == next)
            next = change.lastSequence + 1
        }
        #expect(told.kinds.count { $0 == .gap } == 1)
        token.cancel()
    }

    @Test func aHandlerThatThrowsIsCalledOn() async throws {
        struct Refusal: Error {}
        let (told, errors, other) = (Told(), Count(), Told())
        let bag = ObservationBag()
        bag.add(
            try jobs.observe("k", onError: { _ in errors.add() }) { change in
                told.note(change)
                throw Refusal()
            }
        )
        bag.add(
            try jobs.observe("k", onError: { _ in errors.add() }) { (change: Change) async throws in
                told.note(change)
                throw Refusal()
            }
        )
        bag.add(try jobs.observe("k") { other.note($0) })
        for number in 0..<3 { try jobs.set("k", number) }
        #expect(try await eventually { told.count == 6 && other.count == 3 && errors.value == 6 })
        #expect(bag.count == 3)
    }

    // MARK: The end of the namespace

    @Test(arguments: [0, 3, 1000]) func theEndIsToldOnceAfterAllElse(count: Int) async throws {
        let (prompt, task, slow, barrier) = (Told(), Told(), Told(), Barrier())
        let bag = ObservationBag()
        bag.add(try jobs.observe("k") { prompt.note($0) })
        bag.add(try jobs.observe("k") { (change: Change) async in task.note(change) })
        bag.add(try observeBlocked(slow, at: barrier, inTask: false))
        for number in 0..<count { try jobs.set("k", number) }
        let last = try jobs.status().sequence
        try root.space.delete("jobs")
        barrier.open()
        for told in [prompt, task, slow] {
            #expect(try await eventually { told.last?.kind == .gone })
            #expect(told.count == count + 1 && told.last?.sequence == last)
        }
        #expect(try await eventually { bag.count == 0 })
    }

    @Test func leavingEndsWithoutAWord() async throws {
        let other = try root.space.namespace("jobs")
        let told = Told()
        let token = try jobs.observe("k") { told.note($0) }
        let second = try other.observe("k") { told.note($0) }
        try jobs.leave()
        #expect(!token.isActive && second.isActive)
        try other.set("k", 1)
        #expect(try await eventually { told.count == 1 })
        try other.leave()
        #expect(!second.isActive && told.count == 1)
        // The namespace went with its last owner; made anew, it has no watchers.
        let anew = try SpaceTest.namespace("jobs")
        #expect(try anew.status().watchers == [])
    }
}
