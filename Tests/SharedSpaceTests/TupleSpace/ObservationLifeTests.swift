import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The end of observations, and the calls that handlers may make on their own and other observations.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct ObservationLifeTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    // MARK: Tokens and bags

    @Test func aNewTokenOverAnOldOneStays() async throws {
        let (first, second) = (Told(), Told())
        var token = try jobs.observe("k") { first.note($0) }
        // The new token is made before the old one goes.
        token = try jobs.observe("k") { second.note($0) }
        try jobs.set("k", 1)
        #expect(try await eventually { second.count == 1 })
        #expect(first.count == 0 && token.isActive)
        #expect(try jobs.status().watchers.map(\.filter) == ["key k"])
        _ = consume token
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    @Test func aBagEndsWhatItHolds() async throws {
        let told = (0..<4).map { _ in Told() }
        let bag = ObservationBag()
        bag.add(try jobs.observe("k") { told[0].note($0) })
        bag.add(try jobs.observe("k") { told[1].note($0) }, named: "a")
        bag.add(try jobs.observe("k") { told[2].note($0) }, named: "a")
        bag.add(try jobs.observe("k") { told[3].note($0) }, named: "b")
        #expect(bag.count == 3)
        #expect(bag.remove(named: "b") && !bag.remove(named: "b"))
        try jobs.set("k", 1)
        #expect(try await eventually { told[0].count == 1 && told[2].count == 1 })
        #expect(told[1].count == 0 && told[3].count == 0)
        bag.stopObserving()
        #expect(bag.count == 0)
        #expect(try await eventually { try jobs.status().watchers == [] })
        do {
            let bag = ObservationBag()
            bag.add(try jobs.observe("k") { _ in })
            bag.add(try jobs.respond(to: "f") { (n: Int, _) -> Int in n }, named: "f")
            #expect(bag.count == 2)
            let (watchers, responders) = (try jobs.status().watchers, try jobs.responders())
            #expect(watchers.count == 1 && responders.count == 1)
        }
        #expect(try await eventually { try jobs.status().watchers == [] && jobs.responders() == [] })
    }

    /// The test keeps only the token; the observation keeps its handle.
    @Test func anObservationKeepsItsHandle() async throws {
        let told = Told()
        let token = try root.space.namespace("other").observe("k") { told.note($0) }
        #expect(try root.space.namespaceNames().contains("other"))
        try root.space.namespace("other").set("k", 1)
        #expect(try await eventually { told.count == 1 })
        token.cancel()
        #expect(try !root.space.namespaceNames().contains("other"))
    }

    // MARK: Objects

    private final class Model: Sendable {
        let told = Told()
        func changed(_ change: Change) { told.note(change) }
    }

    @Test func anObservationEndsWithItsObject() async throws {
        var model: Model? = Model()
        let told = try #require(model).told
        try jobs.observe("k", for: try #require(model)) { me, change in me.told.note(change) }
        try jobs.observe(.cells(), for: try #require(model)) { (me: Model, change) async in me.told.note(change) }
        try jobs.set("k", 1)
        #expect(try await eventually { told.count == 2 })
        #expect(jobs.observations.map(\.objectType) == ["Model", "Model"])
        weak let object = model
        model = nil
        #expect(object == nil)
        try jobs.set("k", 2)
        #expect(try await eventually { try jobs.status().watchers.isEmpty })
        #expect(told.count == 2 && jobs.observations.isEmpty)
    }

    /// The namespace goes with its last owner, although an object still observes it.
    @Test func anObservationForAnObjectOwnsNothing() async throws {
        let model = Model()
        try root.space.namespace("other").observe(.everything, for: model) { me, change in me.told.note(change) }
        #expect(try !root.space.namespaceNames().contains("other"))
        #expect(try await eventually { model.told.last?.kind == .gone })
    }

    @Test func anObservationForAnObjectOutlivesItsHandle() async throws {
        let model = Model()
        do {
            let other = try root.space.namespace("jobs")
            try other.observe("k", for: model) { me, change in me.told.note(change) }
        }
        // A handle at the address of the old one ends nothing of it.
        for _ in 0..<20 { try root.space.namespace("jobs").stopObserving() }
        try jobs.set("k", 1)
        #expect(try await eventually { model.told.count == 1 })
        let other = try root.space.namespace("jobs")
        try other.observe("k", for: model) { me, change in me.told.note(change) }
        try other.leave()
        #expect(jobs.observations.count == 1)
        jobs.stopObserving(for: model)
        #expect(try jobs.status().watchers == [])
    }

    @Test func oneOfAnObjectsObservationsIsEndedAlone() async throws {
        let model = Model()
        let first = try jobs.observe("k", for: model) { me, change in me.told.note(change) }
        try jobs.observe("l", for: model) { me, change in me.told.note(change) }
        first.cancel()
        #expect(!first.isActive && jobs.observations.map(\.filter.text) == ["key l"])
        try jobs.set("k", 1)
        try jobs.set("l", 2)
        #expect(try await eventually { model.told.changes.map(\.new) == [2] })
        jobs.stopObserving(for: model)
    }

    @Test func aMethodIsAHandler() async throws {
        let model = Model()
        try jobs.observe("k", for: model, Model.changed)
        let token = try jobs.observe("k", model.changed)
        let screen = await MainActor.run { Screen() }
        let told = screen.told
        try jobs.observe("k", for: screen, Screen.changed)
        try jobs.set("k", 1)
        #expect(try await eventually { model.told.count == 2 && told.count == 1 })
        token.cancel()
        withExtendedLifetime((model, screen)) {}
    }

    @Test func everythingIsStoppedWithOneCall() async throws {
        let other = try root.space.namespace("jobs")
        let (model, second) = (Model(), Model())
        try jobs.observe("k", for: model) { _, _ in }
        try jobs.observe("l", for: model) { _, _ in }
        try jobs.observe("k", for: second) { _, _ in }
        let token = try other.observe("k") { _ in }
        #expect(jobs.observations.map(\.filter.text) == ["key k", "key l", "key k", "key k"])
        jobs.stopObserving(for: model)
        #expect(jobs.observations.map(\.objectType) == ["Model", nil])
        jobs.stopObserving()
        #expect(jobs.observations.map(\.id) == [token.id])
        try other.leave()
        #expect(jobs.observations.isEmpty && !token.isActive)
        #expect(try jobs.status().watchers == [])
        #expect(try jobs.verify() == [])
        withExtendedLifetime((model, second)) {}
    }

    // MARK: In the handler

    @Test func aHandlerEndsItsOwnObservation() async throws {
        let (told, slot, others) = (Told(), Slot<ObservationToken>(), Told())
        // One handler drops its token, another cancels it.
        slot.value = try jobs.observe("k") { change in
            told.note(change)
            slot.value = nil
        }
        let second = Slot<ObservationToken>()
        second.value = try jobs.observe("k") { change in
            told.note(change)
            second.value?.cancel()
        }
        let last = try jobs.observe("k") { others.note($0) }
        for number in 0..<3 { try jobs.set("k", number) }
        #expect(try await eventually { others.count == 3 })
        #expect(try await eventually { told.count == 2 })
        #expect(try await eventually { jobs.observations.map(\.id) == [last.id] })
        last.cancel()
        // An observer that has ended is forgotten at once, and its row is removed as soon as the gate is free.
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    @Test func aHandlerEndsAnotherAndBeginsOne() async throws {
        let jobs = jobs
        let (told, others, added) = (Told(), Told(), Slot<ObservationToken>())
        let victim = try jobs.observe("l") { others.note($0) }
        let first = try jobs.observe("k") { change in
            victim.cancel()
            if added.value == nil { added.value = try jobs.observe("k") { told.note($0) } }
        }
        try jobs.set("k", 1)
        #expect(try await eventually { added.value != nil && !victim.isActive })
        try jobs.set("l", 1)
        try jobs.set("k", 2)
        #expect(try await eventually { told.count == 1 })
        #expect(told.changes[0].new == 2 && others.count == 0)
        first.cancel()
        added.value = nil
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    /// If an observation is cancelled from elsewhere while its handler runs, that call ends in its own time, and no
    /// other begins.
    @Test(arguments: [false, true]) func noCallBeginsAfterCancelling(isDropped: Bool) async throws {
        let (told, barrier, slot) = (Told(), Barrier(), Slot<ObservationToken>())
        slot.value = try jobs.observe("k") { change in
            told.note(change)
            barrier.wait()
        }
        for number in 0..<5 { try jobs.set("k", number) }
        #expect(try await eventually { barrier.arrivals.value == 1 })
        if isDropped { slot.value = nil } else { slot.value?.cancel() }
        try jobs.set("k", 5)
        barrier.open()
        let other = Told()
        let token = try jobs.observe("k") { other.note($0) }
        try jobs.set("k", 6)
        #expect(try await eventually { other.count == 1 })
        #expect(told.count == 1)
        token.cancel()
        slot.value = nil
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    @MainActor private final class Screen {
        let told = Told()
        var token: ObservationToken?
        func changed(_ change: Change) {
            MainActor.assertIsolated()
            told.note(change)
        }
    }

    /// An actor that has cancelled gets no further call, not even one that was on its way.
    @Test @MainActor func anActorIsNotCalledAfterItHasCancelled() async throws {
        let jobs = jobs
        for round in rounds(200) {
            let screen = Screen()
            let told = screen.told
            try jobs.observe("k", for: screen) { @MainActor me, change in
                MainActor.assertIsolated()
                me.told.note(change)
            }
            screen.token = try jobs.observe("k") { @MainActor [weak screen] change in
                #expect(screen?.token != nil, "called after the end")
            }
            try jobs.set("k", round)
            for _ in 0..<round % 20 { await Task.yield() }
            screen.token?.cancel()
            screen.token = nil
            #expect(try await eventually { @Sendable in told.count == 1 })
        }
        #expect(try await eventually { @Sendable in try jobs.status().watchers.isEmpty })
    }

    @Test func aQueueIsGivenTheCalls() async throws {
        let (told, pile) = (Told(), Pile())
        let token = try jobs.observe("k", on: { pile.add($0) }) { told.note($0) }
        for number in 0..<3 { try jobs.set("k", number) }
        // The queue's jobs run only here, on this thread.
        #expect(
            try await eventually {
                pile.runAll()
                return told.count == 3
            }
        )
        #expect(told.changes.map(\.new) == [0, 1, 2])
        token.cancel()
    }
}

/// Jobs that wait until `runAll` runs them.
private final class Pile: Sendable {
    private let work = Mutex<[@Sendable () -> Void]>([])
    func add(_ job: @escaping @Sendable () -> Void) { work.withLock { $0.append(job) } }
    func runAll() {
        let jobs = work.withLock { work in
            defer { work = [] }
            return work
        }
        for job in jobs { job() }
    }
}
