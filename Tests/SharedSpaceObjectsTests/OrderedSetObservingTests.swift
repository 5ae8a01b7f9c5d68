import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The changes that observers of ordered sets are told.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct OrderedSetObservingTests {
    let namespace: Namespace
    let set: SharedOrderedSet<String>

    init() throws {
        namespace = try SpaceTest.namespace("n")
        set = try namespace.orderedSet("s", of: String.self)
    }

    /// The changes that an observer was told, as text.
    private final class Told: Sendable {
        private let state = Mutex<[CollectionChange<String>]>([])
        var changes: [CollectionChange<String>] { state.withLock { $0 } }
        func note(_ change: CollectionChange<String>) { state.withLock { $0.append(change) } }

        var texts: [String] {
            changes.map { change in
                switch change.event {
                case .reset(let elements): "reset " + elements.joined()
                case .edits(let edits): edits.map(Self.text).joined(separator: ", ")
                case .removed: "removed"
                }
            }
        }

        private static func text(_ edit: CollectionEdit<String>) -> String {
            switch edit {
            case .insert(let elements, let index): "insert \(elements.joined()) \(index)"
            case .remove(let elements, let indices): "remove \(elements.joined()) \(indices)"
            case .replace(let old, let new, let index): "replace \(old) \(new) \(index)"
            case .move(let elements, let indices, let target): "move \(elements.joined()) \(indices) \(target)"
            case .exchange(let left, let right, let first, let second): "exchange \(left)\(right) \(first) \(second)"
            case .sort(let order): "sort \(order)"
            }
        }
    }

    @Test func eachEditIsOneChange() async throws {
        let (plain, pairs) = (Told(), Told())
        let tokens = [
            try set.observe { plain.note($0) },
            try set.observe(options: [.initial, .movesAsPairs]) { pairs.note($0) },
        ]
        #expect(namespace.observations.map(\.id) == tokens.map(\.id))
        // The initial elements are read when they are told: if that were later, they would include the edits.
        #expect(try await eventually { pairs.changes.count == 1 })
        try set.append(contentsOf: ["a", "b", "c", "d"])
        try set.append("a")
        try set.move(fromOffsets: [0, 2], to: 2)
        try set.move(from: 1, to: 1)
        try set.replace(at: 0, with: "x")
        try set.replace(at: 0, with: "x")
        try set.swapAt(3, 1)
        try set.subtract(["x", "c", "q"])
        try set.sort()
        try set.reverse()
        try set.sort()
        try set.removeAll()
        try set.removeAll()
        try set.remove()
        #expect(try await eventually { plain.texts.last == "removed" && pairs.texts.last == "removed" })
        #expect(
            plain.texts == [
                "insert abcd 0", "move ac [0, 2] 2", "replace b x 0", "exchange dc 1 3", "remove xc [0, 1]",
                "sort [1, 0]",
                "sort [1, 0]", "remove ad [0, 1]", "removed",
            ]
        )
        #expect(pairs.texts.prefix(3) == ["reset ", "insert abcd 0", "remove ac [0, 2], insert ac 2"])
        #expect(pairs.texts.dropFirst(4).first == "remove dc [1, 3], insert c 1, insert d 3")
        for told in [plain, pairs] {
            var copy: [String] = []
            for change in told.changes {
                let difference = try #require(change.difference(from: copy))
                let applied = try #require(copy.applying(difference))
                #expect(change.apply(to: &copy) && applied == copy)
            }
        }
    }

    /// Edits of one transaction are told with one number, and undone edits are not told.
    @Test func aTransactionsEditsBelongTogether() async throws {
        let told = Told()
        let token = try set.observe { told.note($0) }
        struct Undo: Error {}
        #expect(throws: Undo.self) {
            try namespace.transaction { t in
                try t.orderedSet(set).append("never")
                throw Undo()
            }
        }
        try namespace.transaction { t in
            try t.orderedSet(set).append("a")
            try t.orderedSet(set).insert("b", at: 0)
        }
        try set.append("c")
        #expect(try await eventually { told.changes.count == 3 })
        #expect(told.texts == ["insert a 0", "insert b 0", "insert c 2"])
        let batches = told.changes.map(\.batch)
        #expect(batches[0] == batches[1] && batches[1] != batches[2])
        token.cancel()
    }

    /// A change that is too large to be told, or that the journal has dropped, is told as a reset.
    @Test func whatCantBeToldIsAReset() async throws {
        let told = Told()
        let barrier = Barrier()
        let token = try set.observe(options: .initial) { change in
            told.note(change)
            if told.changes.count == 1 { barrier.wait() }
        }
        #expect(try await eventually { barrier.arrivals.value == 1 })
        let large = String(repeating: "x", count: Limits.orderedSetChangeBytes)
        try set.append(large)
        try set.append("a")
        barrier.open()
        #expect(try await eventually { told.changes.last?.sequence == (try namespace.status().sequence) })
        // The reset was read later than the last change, and includes it.
        #expect(told.changes.count == 2)
        #expect(told.texts.last == "reset \(large)a")
        try set.remove(at: 0)
        #expect(try await eventually { told.texts.last == "reset a" })
        token.cancel()
    }

    /// While the observer is held up, more changes happen than the journal keeps.
    @Test func behindTheJournalsBoundComesAReset() async throws {
        let told = Told()
        let barrier = Barrier()
        let token = try set.observe(options: .initial) { change in
            told.note(change)
            if told.changes.count == 1 { barrier.wait() }
        }
        #expect(try await eventually { barrier.arrivals.value == 1 })
        let piece = String(repeating: "y", count: 2 << 20)
        for number in 0..<12 {
            try set.append("\(number)\(piece)")
            try set.removeFirst()
        }
        try set.append("last")
        barrier.open()
        #expect(try await eventually { told.changes.last?.sequence == (try namespace.status().sequence) })
        #expect(told.texts.last == "reset last")
        token.cancel()
    }

    /// One observer ends itself in its handler, one throws, and one ends with its object.
    @Test func observersComeAndGo() async throws {
        final class Owner: Sendable {}
        let (once, all, owned) = (Told(), Told(), Told())
        let slot = Slot<ObservationToken>()
        slot.value = try set.observe { change in
            once.note(change)
            slot.value?.cancel()
            slot.value = nil
        }
        struct Fault: Error {}
        let faults = Count()
        let token = try set.observe(onError: { _ in faults.add() }) { change in
            all.note(change)
            throw Fault()
        }
        var owner: Owner? = Owner()
        if let owner { try set.observe(for: owner) { _, change in owned.note(change) } }
        #expect(namespace.observations.count == 3)
        #expect(try namespace.status().watchers.map(\.filter) == Array(repeating: "collection s", count: 3))
        try set.append("a")
        #expect(try await eventually { all.changes.count == 1 && owned.changes.count == 1 && once.changes.count == 1 })
        owner = nil
        try set.append("b")
        #expect(try await eventually { all.changes.count == 2 && namespace.observations.count == 1 })
        #expect(once.changes.count == 1 && owned.changes.count == 1)
        #expect(try await eventually { faults.value == 2 })
        token.cancel()
        #expect(!token.isActive && namespace.observations.isEmpty)
        #expect(try await eventually { try namespace.status().watchers.isEmpty })
    }

    /// An element that does not decode is told as an error; when it is gone, a reset follows.
    @Test func whatDoesNotDecodeIsAnError() async throws {
        let numbers = try namespace.orderedSet("numbers", of: Int.self)
        let words = try namespace.orderedSet("numbers", of: String.self, schema: "Int")
        let told = Mutex<[[Int]]>([])
        let errors = Mutex<[SpaceError.Code?]>([])
        let token = try numbers.observe(
            onError: { error in errors.withLock { $0.append((error as? SpaceError)?.code) } },
            { change in told.withLock { $0.append({ if case .reset(let e) = change.event { e } else { [] } }()) } }
        )
        try numbers.append(1)
        try words.append("two")
        try numbers.append(3)
        #expect(try await eventually { errors.withLock { $0.count } == 2 })
        try words.remove("two")
        #expect(try await eventually { told.withLock { $0 } == [[], [1, 3]] })
        #expect(errors.withLock { $0 } == [.badData, .badData])
        token.cancel()
    }

    @Test func changesAreASequence() async throws {
        try set.append("a")
        let changes = try set.changes()
        try set.append("b")
        var copy: [String] = []
        var iterator = changes.makeAsyncIterator()
        // The first change has the elements that were there when the sequence was made.
        #expect(try await iterator.next()?.apply(to: &copy) == true)
        #expect(copy == ["a"])
        #expect(try await iterator.next()?.apply(to: &copy) == true)
        #expect(copy == ["a", "b"])
        #expect(try await changes.next(timeout: .zero) == nil)
        try set.move("b", before: "a")
        #expect(try await iterator.next()?.apply(to: &copy) == true)
        #expect(copy == ["b", "a"])
        try set.remove()
        #expect(try await iterator.next()?.apply(to: &copy) == true)
        #expect(try await iterator.next() == nil && copy == [])
        #expect(throws: SpaceError.self) { _ = try set.changes() }
        #expect(throws: SpaceError.self) { _ = try set.observe { _ in } }
        #expect(try namespace.status().watchers.count == 1 && namespace.verify() == [])
        withExtendedLifetime(changes) {}
    }
}
