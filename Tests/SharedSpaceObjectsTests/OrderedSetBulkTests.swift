import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Edits of ordered sets at several indices, copies, and searches: each edit is one step, told as one batch.
@Suite(.spaceTest) struct OrderedSetBulkTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("n") }

    private func set(_ elements: String) throws -> SharedOrderedSet<String> {
        try namespace.orderedSet("s", of: String.self, initial: elements.map(String.init))
    }

    @Test func aSetIsMadeWithItsElements() throws {
        let changes = Mutex<[String]>([])
        let token = try namespace.observe(.everything) { change in changes.withLock { $0.append("\(change.kind)") } }
        let set = try set("abca")
        #expect(try set.elements() == ["a", "b", "c"])
        // A set that is there keeps its own elements.
        #expect(try self.set("xyz").elements() == ["a", "b", "c"])
        withExtendedLifetime(token) {}
    }

    @Test func elementsAtIndices() throws {
        let set = try set("abcd")
        #expect(try set.elements(at: [3, 0, 3]) == ["d", "a", "d"])
        #expect(errorCode { _ = try set.elements(at: [0, 4]) } == .invalidArgument)
    }

    @Test func movingAsInSwiftUI() throws {
        let set = try set("abcd")
        try set.move(fromOffsets: [0], toOffset: 2)
        #expect(try set.elements().joined() == "bacd")
        try set.move(fromOffsets: [0, 3], toOffset: 4)
        #expect(try set.elements().joined() == "acbd")
        try set.move(fromOffsets: [1, 3], toOffset: 0)
        #expect(try set.elements().joined() == "cdab")
        #expect(errorCode { try set.move(fromOffsets: [0], toOffset: 5) } == .invalidArgument)
        #expect(errorCode { try set.move(fromOffsets: [0], toOffset: -1) } == .invalidArgument)
        #expect(try set.elements().joined() == "cdab")
    }

    @Test func replacingAtTheEndAppends() throws {
        let set = try set("ab")
        #expect(try set.replace(at: 2, with: "c") == "c")
        #expect(try set.elements().joined() == "abc")
        #expect(errorCode { try set.replace(at: 3, with: "a") } == .invalidArgument)
        #expect(errorCode { try set.replace(at: 4, with: "x") } == .invalidArgument)
        #expect(try set.elements().joined() == "abc")
    }

    @Test func insertingAtSeveralIndices() throws {
        let set = try set("ab")
        try set.insert(contentsOf: ["x", "y"], at: [0, 2])
        #expect(try set.elements().joined() == "xayb")
        try set.insert(contentsOf: ["p", "q", "r"], at: [5, 4, 1])
        #expect(try set.elements().joined() == "xrayqpb")
        #expect(try set.firstIndex(of: "p") == 5 && set.firstIndex(of: "q") == 4 && set.firstIndex(of: "r") == 1)
        for indices in [[0], [0, 0], [0, 9], [-1, 0]] {
            #expect(errorCode { try set.insert(contentsOf: ["1", "2"], at: indices) } == .invalidArgument)
        }
        #expect(errorCode { try set.insert(contentsOf: ["1", "x"], at: [0, 1]) } == .invalidArgument)
        #expect(errorCode { try set.insert(contentsOf: ["1", "1"], at: [0, 1]) } == .invalidArgument)
        #expect(try set.count == 7)
    }

    @Test func replacingAtSeveralIndices() throws {
        let set = try set("abcd")
        try set.replace(at: [0, 2], with: ["x", "y"])
        #expect(try set.elements().joined() == "xbyd")
        // The new elements may be the old ones in another order.
        try set.replace(at: [0, 1, 3], with: ["b", "d", "x"])
        #expect(try set.elements().joined() == "bdyx")
        try set.replace(at: [1, 0], with: ["d", "b"])
        #expect(try set.elements().joined() == "bdyx")
        for (indices, elements) in [
            ([0], ["x"]), ([0, 1], ["p"]), ([0, 0], ["p", "q"]), ([0, 4], ["p", "q"]), ([0, 1], ["p", "p"]),
        ] {
            #expect(errorCode { try set.replace(at: indices, with: elements) } == .invalidArgument)
        }
        #expect(try set.elements().joined() == "bdyx")
        try set.replaceSubrange(1..<3, with: ["1", "y", "3"])
        #expect(try set.elements().joined() == "b1y3x")
        try set.replaceSubrange(5..<5, with: ["z"])
        try set.replaceSubrange(0..<4, with: [])
        #expect(try set.elements().joined() == "xz")
        #expect(errorCode { try set.replaceSubrange(0..<1, with: ["z"]) } == .invalidArgument)
        #expect(errorCode { try set.replaceSubrange(0..<3, with: ["q"]) } == .invalidArgument)
    }

    /// Sorts a part of a set that has many chunks, and finds the elements in it.
    @Test func sortingARangeAndSearching() throws {
        let set = try namespace.orderedSet("numbers", of: Int.self, initial: Array((0..<1000).reversed()))
        try set.sort(10..<990)
        let sorted = Array((990..<1000).reversed()) + Array(10..<990) + Array((0..<10).reversed())
        #expect(try set.elements() == sorted)
        #expect(try set.binarySearch(for: 500, in: 10..<990, by: <) == (true, 500))
        #expect(throws: SpaceError.self) { try set.sort(0..<1001) }
        try set.sort { $0 > $1 }
        try set.remove(500)
        #expect(try set.binarySearch(for: 500, by: >) == (false, 499))
        #expect(try set.binarySearch(for: -1, by: >) == (false, 999))
        #expect(try set.binarySearch(for: 2000, by: >) == (false, 0))
        try namespace.transaction { t in
            let set = try t.orderedSet(set)
            try set.insert(500, at: set.binarySearch(for: 500, by: >).index)
        }
        #expect(try set.elements() == Array((0..<1000).reversed()))
        #expect(throws: CancellationError.self) { try set.binarySearch(for: 1) { _, _ in throw CancellationError() } }
    }

    @Test func aCopyIsIndependent() throws {
        let set = try namespace.orderedSet("numbers", of: Int.self, initial: Array(0..<5000))
        let copy = try set.copy(as: "copy")
        try set.removeAll()
        #expect(try copy.elements() == Array(0..<5000))
        #expect(try namespace.orderedSet("copy", of: Int.self).count == 5000)
        #expect(errorCode { _ = try copy.copy(as: "numbers") } == .invalidArgument)
        #expect(errorCode { _ = try copy.copy(as: "") } == .invalidArgument)
        _ = try? namespace.transaction { t in
            let inside = try t.orderedSet(copy).copy(as: "undone")
            try inside.append(-1)
            throw CancellationError()
        }
        #expect(try !namespace.objects.contains { $0.name == "undone" })
        _ = try namespace.transaction { t in try t.orderedSet(copy).copy(as: "done").append(-1) }
        #expect(try namespace.orderedSet("done", of: Int.self).count == 5001)
        #expect(try copy.count == 5000)
    }

    /// The edits of one call have one batch, and applying them leads to the elements of the set.
    @Test func severalEditsAreOneBatch() async throws {
        let set = try set("abcdef")
        var changes = try set.changes().makeAsyncIterator()
        var copy: [String] = []
        try await #require(changes.next()).apply(to: &copy)
        for edit in 0..<4 {
            switch edit {
            case 0: try set.insert(contentsOf: ["x", "y"], at: [0, 3])
            case 1: try set.replace(at: [0, 2], with: ["p", "q"])
            case 2: try set.replace(at: [0, 1], with: ["a", "p"])
            default: try set.replaceSubrange(1..<4, with: ["1"])
            }
            let (first, second) = (try await #require(changes.next()), try await #require(changes.next()))
            #expect(first.batch == second.batch)
            #expect(first.apply(to: &copy) && second.apply(to: &copy))
            #expect(try set.elements() == copy)
        }
    }

    /// An observer that carries out removals and insertions alone ends with the elements of the set.
    @Test func removalsAndInsertions() async throws {
        let set = try set("abcdef")
        var changes = try set.changes().makeAsyncIterator()
        var (copy, view): ([String], [String]) = ([], [])
        for edit in 0..<6 {
            switch edit {
            case 0: break
            case 1: try set.move(fromOffsets: [0, 2], to: 3)
            case 2: try set.swapAt(0, 4)
            case 3: try set.sort()
            case 4: try set.replace("c", with: "z")
            default: try set.remove(at: [0, 2])
            }
            let change = try await #require(changes.next())
            #expect(try change.set.elements() == set.elements())
            let fits = change.apply(
                to: &copy,
                removed: { #expect(view.remove(at: $1) == $0) },
                inserted: { view.insert($0, at: $1) }
            )
            #expect(try fits && view == copy && view == set.elements())
        }
        try set.remove()
        try await #require(changes.next()).apply(
            to: &copy,
            removed: {
                view.remove(at: $1); _ = $0
            },
            inserted: { _, _ in }
        )
        #expect(view.isEmpty)
    }

    @Test func handlesSayWhatTheyAre() throws {
        let set = try set("a")
        #expect("\(set)" == #"ordered set "s" of String in namespace "n""#)
        let dictionary = try namespace.dictionary("d", of: Int.self)
        #expect("\(dictionary)" == #"dictionary "d" of Int in namespace "n""#)
        #expect("\(namespace)".hasPrefix(#"namespace "n" in /"#))
        let token = try set.observe { _ in }
        #expect("\(token)".hasPrefix("observation \(token.id): "))
    }
}
