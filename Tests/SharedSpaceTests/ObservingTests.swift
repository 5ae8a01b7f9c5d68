import SharedSpace
import SpaceTestSupport
import Synchronization
import Testing

/// What handlers are told, in this process.
@Suite(.timeLimit(.minutes(1))) struct ObservingTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try TemporaryRoot()
        jobs = try root.space.namespace("jobs")
    }

    @Test func everyChangeComesOnceInOrder() async throws {
        let told = Told()
        let token = try jobs.observe(.everything) { told.note($0) }
        try jobs.write("a", 1)
        _ = try jobs.takeIfExists("a", any(Int.self))
        for number in 0..<1000 { try jobs.set("k", value: .int(number)) }
        try jobs.unset("k")
        try jobs.post("hello", value: "you")
        #expect(try await eventually { told.changes.count == 1004 })
        let changes = told.changes
        #expect(changes.map(\.sequence) == Array(changes[0].sequence..<changes[0].sequence + 1004))
        #expect(changes[0].tuple == ["a", 1] && changes[3].old == 0 && changes[3].new == 1)
        #expect(changes[1003].kind == .post && changes[1003].new == "you")
        token.cancel()
        #expect(!token.isActive)
        #expect(try jobs.status().watchers == [])
        #expect(try jobs.verify() == [])
    }

    @Test func aTokenThatGoesEndsItsObservation() async throws {
        let (first, second) = (Told(), Told())
        var token = try jobs.observe("k") { first.note($0) }
        // The new one is made before the old one goes.
        token = try jobs.observe("k") { second.note($0) }
        try jobs.set("k", value: 1)
        #expect(try await eventually { second.changes.count == 1 })
        #expect(first.changes.isEmpty)
        #expect(try jobs.status().watchers.map(\.filter) == ["key k"])
        _ = consume token
        #expect(try jobs.status().watchers == [])
        #expect(try jobs.verify() == [])
    }

    @Test func aHandlerThatThrowsIsCalledOn() async throws {
        struct Refusal: Error {}
        let (told, errors) = (Told(), Count())
        let token = try jobs.observe("k", onError: { _ in errors.add() }) { change in
            told.note(change)
            throw Refusal()
        }
        let other = Told()
        let second = try jobs.observe("k") { other.note($0) }
        for number in 0..<3 { try jobs.set("k", value: .int(number)) }
        #expect(try await eventually { told.changes.count == 3 && other.changes.count == 3 && errors.count == 3 })
        #expect(token.isActive && second.isActive)
        #expect(try jobs.verify() == [])
    }
}

/// What a handler was told.
final class Told: Sendable {
    private let all = Mutex<[Change]>([])
    var changes: [Change] { all.withLock { $0 } }
    func note(_ change: Change) { all.withLock { $0.append(change) } }
}

/// A count that handlers share.
final class Count: Sendable {
    private let value = Atomic<Int>(0)
    var count: Int { value.load(ordering: .acquiring) }
    func add() { value.add(1, ordering: .acquiringAndReleasing) }
}
