import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The changes that observers of dictionaries are told.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct DictionaryObservingTests {
    let root: TemporaryRoot
    let namespace: Namespace
    let dictionary: SharedDictionary<Int>

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
        dictionary = try namespace.dictionary("d", of: Int.self)
    }

    private typealias Event = DictionaryChange<Int>.Event

    private final class Told: Sendable {
        private struct State {
            var events: [Event] = []
            var errors: [SpaceError.Code] = []
            var copy: [String: Int] = [:]
        }

        private let state = Mutex(State())
        var events: [Event] { state.withLock { $0.events } }
        var errors: [SpaceError.Code] { state.withLock { $0.errors } }
        /// The copy of an observer that applies the changes.
        var copy: [String: Int] { state.withLock { $0.copy } }

        func note(_ change: DictionaryChange<Int>) {
            state.withLock { state in
                state.events.append(change.event)
                change.apply(to: &state.copy)
            }
        }

        func note(_ error: any Error) {
            guard let error = error as? SpaceError else { return }
            state.withLock { $0.errors.append(error.code) }
        }
    }

    @Test func eachChangeIsToldOnce() async throws {
        try dictionary.updateValue(1, forKey: "a")
        let (all, one, cells) = (Told(), Told(), Count())
        let both = ChangeFilter(cells: .all, collections: .named("d"))
        let tokens = [
            try dictionary.observe(options: .initial) { all.note($0) },
            try dictionary.observe("a.b", options: .initial) { one.note($0) },
            // An observer that asks for a change twice is told of it once.
            try namespace.observe(both) { if $0.key == "d/a" { cells.add() } },
        ]
        #expect(try await eventually { all.events.count == 1 && one.events.count == 1 })
        try dictionary.updateValue(2, forKey: "a")
        try dictionary.updateValue(3, forKey: "a.b")
        try namespace.set("d/a.b", 4)
        try namespace.set("dd/a", 5)
        try namespace.set("d", 6)
        try dictionary.removeValue(forKey: "a")
        try dictionary.remove()
        #expect(try await eventually { all.events.last == .removed && one.events.last == .removed })
        #expect(
            all.events == [
                .reset(["a": 1]), .set("a", 2, old: 1), .set("a.b", 3, old: nil), .set("a.b", 4, old: 3),
                .unset("a", old: 2), .unset("a.b", old: 4), .removed,
            ]
        )
        #expect(
            one.events == [
                .reset([:]), .set("a.b", 3, old: nil), .set("a.b", 4, old: 3), .unset("a.b", old: 4), .removed,
            ]
        )
        #expect(try await eventually { cells.value == 2 })
        withExtendedLifetime(tokens) {}
    }

    @Test func aWrongValueIsToldAsAnError() async throws {
        let told = Told()
        let token = try dictionary.observe(onError: { told.note($0) }) { told.note($0) }
        try namespace.set("d/x", "no number")
        try dictionary.updateValue(1, forKey: "y")
        _ = try? dictionary.updateValue(2, forKey: "x")
        #expect(try await eventually { told.events.count == 2 })
        #expect(told.errors == [.badData])
        #expect(told.events == [.set("y", 1, old: nil), .set("x", 2, old: nil)])
        withExtendedLifetime(token) {}
    }

    /// An ordered set's observer is not told of cells whose keys look like entries of a dictionary of that name.
    @Test func anOrderedSetsObserverIsToldOfNoCells() async throws {
        let set = try namespace.orderedSet("s", of: Int.self)
        let count = Count()
        let token = try set.observe { _ in count.add() }
        try namespace.set("s/x", 1)
        try set.append(1)
        try set.remove()
        #expect(try await eventually { count.value == 2 })
        withExtendedLifetime(token) {}
    }

    /// An observer that is held up while its dictionary is removed and made anew is told of the removal, although the
    /// journal no longer holds it.
    @Test func theEndIsToldAlsoWhereItWasMissed() async throws {
        let told = Told()
        let barrier = Barrier()
        let token = try dictionary.observe(options: .initial) { change in
            told.note(change)
            if told.events.count == 1 { barrier.wait() }
        }
        defer { barrier.open() }
        #expect(try await eventually { barrier.arrivals.value == 1 })
        try dictionary.remove()
        let again = try namespace.dictionary("d", of: Int.self)
        let piece = String(repeating: "y", count: 2 << 20)
        for number in 0..<12 { try namespace.set("large", "\(number)\(piece)") }
        try again.updateValue(1, forKey: "a")
        barrier.open()
        #expect(try await eventually { told.events == [.reset([:]), .removed] })
        try again.updateValue(2, forKey: "a")
        let changes = try again.changes()
        #expect(try await changes.next(timeout: watchdog)?.event == .reset(["a": 2]))
        #expect(told.events.count == 2)
        token.cancel()
    }

    /// An observer that falls behind the journal's bound is told the present entries, or only its key's if it has a
    /// key, and then the changes after that.
    @Test func behindTheJournalsBoundComesAReset() async throws {
        let (all, one) = (Told(), Told())
        let barrier = Barrier()
        let tokens = [
            try dictionary.observe(options: .initial) { change in
                all.note(change)
                if all.events.count == 1 { barrier.wait() }
            },
            try dictionary.observe("b", options: .initial) { change in
                one.note(change)
                if one.events.count == 1 { barrier.wait() }
            },
        ]
        defer { barrier.open() }
        #expect(try await eventually { barrier.arrivals.value >= 1 })
        try dictionary.updateValue(1, forKey: "a")
        let piece = String(repeating: "y", count: 2 << 20)
        for number in 0..<12 { try namespace.set("large", "\(number)\(piece)") }
        try dictionary.merge(["b": 2, "c": 3]) { _, new in new }
        barrier.open()
        #expect(try await eventually { all.copy == ["a": 1, "b": 2, "c": 3] && one.copy == ["b": 2] })
        try dictionary.updateValue(4, forKey: "b")
        #expect(try await eventually { all.copy["b"] == 4 && one.copy == ["b": 4] })
        #expect(all.events.count == 3 && all.events.last == .set("b", 4, old: 2))
        withExtendedLifetime(tokens) {}
    }

    /// A process that leaves the namespace is not told that the dictionary was removed.
    @Test func leavingIsNoRemoval() async throws {
        let changes = try dictionary.changes()
        try namespace.leave()
        let told = try? await changes.next(timeout: .zero)
        #expect(told?.event == nil)
        #expect(try root.space.namespace("n").verify() == [])
    }

    @Test func aSequenceKeepsACopy() async throws {
        try dictionary.merge(["a": 1, "b": 2]) { _, new in new }
        let changes = try dictionary.changes()
        var copy: [String: Int] = [:]
        try dictionary.modify("a") { $0 = 7 }
        try dictionary.removeValue(forKey: "b")
        try dictionary.updateValue(0, forKey: "end")
        while copy["end"] == nil, let change = try await changes.next(timeout: watchdog) { change.apply(to: &copy) }
        #expect(try copy == ["a": 7, "end": 0] && dictionary.snapshot() == copy)
        try dictionary.remove()
        var events: [Event] = []
        for try await change in changes { events.append(change.event) }
        #expect(events.last == .removed)
        #expect(throws: SpaceError.self) { try dictionary.changes() }
    }
}
