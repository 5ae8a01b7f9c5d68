import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// With `.initial` an observer of a collection is told the state at its registration; each edit after `observe` has
/// returned is told as an edit.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct InitialTests {
    let namespace: Namespace
    let dictionary: SharedDictionary<Int>
    let set: SharedOrderedSet<Int>

    init() throws {
        namespace = try SpaceTest.namespace("n")
        dictionary = try namespace.dictionary("d", of: Int.self)
        set = try namespace.orderedSet("s", of: Int.self)
    }

    /// A queue that runs nothing until it is opened, so that the handlers run after the test's own steps.
    private final class LateQueue: Sendable {
        private struct State {
            var isOpen = false
            var works: [@Sendable () -> Void] = []
        }

        private let state = Mutex(State())

        var queue: ObservationQueue { { self.run($0) } }

        private func run(_ work: @escaping @Sendable () -> Void) {
            let mayRun = state.withLock { state in
                if !state.isOpen { state.works.append(work) }
                return state.isOpen
            }
            if mayRun { work() }
        }

        func open() {
            let works = state.withLock { state in
                state.isOpen = true
                defer { state.works = [] }
                return state.works
            }
            for work in works { work() }
        }
    }

    private final class Texts: Sendable {
        private let all = Mutex<[String]>([])
        var texts: [String] { all.withLock { $0 } }
        func note(_ text: String) { all.withLock { $0.append(text) } }
    }

    private func text(_ change: DictionaryChange<Int>) -> String {
        switch change.event {
        case .reset(let entries): "reset \(entries.keys.sorted())"
        case .set(let key, let value, _): "set \(key) \(value)"
        case .unset(let key, _): "unset \(key)"
        case .removed: "removed"
        }
    }

    private func text(_ change: CollectionChange<Int>) -> String {
        switch change.event {
        case .reset(let elements): "reset \(elements)"
        case .edits(let edits): "edits \(edits.count)"
        case .removed: "removed"
        }
    }

    @Test func anEditBeforeTheFirstCallIsToldAsAnEdit() throws {
        try dictionary.updateValue(1, forKey: "before")
        try set.append(1)
        let (late, entries, elements) = (LateQueue(), Texts(), Texts())
        let tokens = [
            try dictionary.observe(options: .initial, on: late.queue) { entries.note(text($0)) },
            try set.observe(options: .initial, on: late.queue) { elements.note(text($0)) },
        ]
        try dictionary.updateValue(2, forKey: "after")
        try set.append(2)
        late.open()
        #expect(try eventually { entries.texts.count >= 2 && elements.texts.count >= 2 })
        #expect(entries.texts == [#"reset ["before"]"#, "set after 2"])
        #expect(elements.texts == ["reset [1]", "edits 1"])
        withExtendedLifetime(tokens) {}
    }

    /// If the dictionary is removed before the first call, the observer is told the initial state first, and then the
    /// removal.
    @Test func aRemovalBeforeTheFirstCallComesAfterTheInitialState() throws {
        try dictionary.updateValue(1, forKey: "before")
        let (late, entries) = (LateQueue(), Texts())
        let token = try dictionary.observe(options: .initial, on: late.queue) { entries.note(text($0)) }
        try dictionary.remove()
        late.open()
        #expect(try eventually { entries.texts.last == "removed" })
        #expect(entries.texts.first == #"reset ["before"]"#)
        withExtendedLifetime(token) {}
    }

    @Test func aSequenceBeginsWithWhatWasThereWhenItWasMade() async throws {
        try dictionary.updateValue(1, forKey: "before")
        try set.append(1)
        let (entries, elements) = (try dictionary.changes(), try set.changes())
        try dictionary.updateValue(2, forKey: "after")
        try set.append(2)
        var told: [String] = []
        for _ in 0..<2 { if let change = try await entries.next(timeout: watchdog) { told.append(text(change)) } }
        for _ in 0..<2 { if let change = try await elements.next(timeout: watchdog) { told.append(text(change)) } }
        #expect(told == [#"reset ["before"]"#, "set after 2", "reset [1]", "edits 1"])
    }

    @Test func of200EditsAfterRegisteringEachIsToldAsAnEdit() throws {
        var missed = 0
        for round in 0..<200 {
            let entries = Texts()
            let token = try dictionary.observe(options: .initial) { entries.note(text($0)) }
            try dictionary.updateValue(round, forKey: "k")
            #expect(try eventually { entries.texts.last == "set k \(round)" || entries.texts.last == #"reset ["k"]"# })
            if entries.texts != ["reset []", "set k \(round)"] { missed += 1 }
            token.cancel()
            try dictionary.removeValue(forKey: "k")
        }
        #expect(missed == 0)
    }
}
