import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// The values that dictionaries keep, and the calls that they refuse.
@Suite(.spaceTest) struct DictionaryTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("n")
    }

    @Test(arguments: StorageMode.allCases) func valuesAreKeptByKey(mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, "\(mode)")
        let dictionary = try namespace.dictionary("d", of: Int.self)
        // The neighbours in the order of keys do not belong to the dictionary.
        for key in ["d", "d.", "d/", "d0", "c/z", "dd/a"] { try namespace.set(key, 7) }
        #expect(try dictionary.snapshot() == ["": 7])
        #expect(try dictionary.removeValue(forKey: "") == 7 && dictionary.isEmpty && dictionary.count == 0)
        #expect(try dictionary["a"] == nil && dictionary.removeValue(forKey: "a") == nil)
        #expect(try dictionary.updateValue(1, forKey: "a") == nil && dictionary.updateValue(2, forKey: "a") == 1)
        #expect(try dictionary.setDefault(5, forKey: "a") == 2 && dictionary.setDefault(5, forKey: "b/c") == 5)
        #expect(try dictionary["a"] == 2 && dictionary.value(forKey: "b/c") == 5 && dictionary.contains("a"))
        #expect(try dictionary.keys() == ["a", "b/c"] && dictionary.count == 2 && !dictionary.isEmpty)
        try dictionary.merge(["a": 10, "é": 3]) { $0 + $1 }
        #expect(try dictionary.snapshot() == ["a": 12, "b/c": 5, "é": 3])
        // The entries are cells.
        #expect(try namespace.get("d/a") == 12)
        try namespace.set("d/new", 4)
        #expect(try dictionary["new"] == 4)
        try dictionary.removeAll()
        #expect(try dictionary.isEmpty && namespace.cells().map(\.key) == ["c/z", "d", "d.", "d0", "dd/a"])
    }

    @Test func valuesAreComparedAndSet() throws {
        let dictionary = try namespace.dictionary("d", of: [String: Int].self)
        #expect(try !dictionary.compareAndSet(expected: ["x": 1], new: ["x": 2], forKey: "k"))
        #expect(try dictionary.compareAndSet(expected: nil, new: ["x": 1], forKey: "k"))
        #expect(try !dictionary.compareAndSet(expected: nil, new: ["x": 3], forKey: "k"))
        #expect(try !dictionary.compareAndSet(expected: ["x": 9], new: nil, forKey: "k"))
        #expect(try dictionary["k"] == ["x": 1])
        #expect(try dictionary.compareAndSet(expected: ["x": 1], new: ["x": 2, "y": 3], forKey: "k"))
        #expect(try dictionary["k"] == ["x": 2, "y": 3])
        #expect(try dictionary.compareAndSet(expected: ["y": 3, "x": 2], new: nil, forKey: "k"))
        #expect(try dictionary.compareAndSet(expected: nil, new: nil, forKey: "k") && dictionary.isEmpty)
    }

    @Test func aValueIsModifiedInPlace() throws {
        struct Undo: Error {}
        let dictionary = try namespace.dictionary("d", of: Int.self)
        #expect(
            try dictionary.modify("k") { (value) -> Int? in
                value = (value ?? 0) + 1
                return value
            } == 1
        )
        #expect(throws: Undo.self) {
            try dictionary.modify("k") { value in
                value = 100
                throw Undo()
            }
        }
        #expect(try dictionary["k"] == 1)
        let before = try namespace.status().sequence
        try dictionary.modify("k") { $0 = 1 }
        try dictionary.modify("none") { $0 = nil }
        #expect(try namespace.status().sequence == before)
        try dictionary.modify("k") { $0 = nil }
        #expect(try dictionary.isEmpty)
        try dictionary.merge(["a": 1, "b": 2]) { _, new in new }
        #expect(throws: Undo.self) { try dictionary.merge(["a": 5, "c": 6]) { _, _ in throw Undo() } }
        #expect(try dictionary.snapshot() == ["a": 1, "b": 2])
    }

    @Test func whatIsRefusedChangesNothing() throws {
        let dictionary = try namespace.dictionary("d", of: Int.self)
        try dictionary.updateValue(1, forKey: "k")
        #expect(errorCode { _ = try namespace.dictionary("d", of: String.self) } == .typeMismatch)
        #expect(errorCode { _ = try namespace.dictionary("d", of: Int.self, schema: "Int/2") } == .typeMismatch)
        #expect(errorCode { _ = try namespace.orderedSet("d", of: Int.self) } == .typeMismatch)
        #expect(errorCode { try namespace.counter("d").add() } == .typeMismatch)
        #expect(errorCode { _ = try namespace.dictionary("d/e", of: Int.self) } == .invalidArgument)
        #expect(errorCode { _ = try namespace.dictionary("", of: Int.self) } == .invalidArgument)
        let former = try namespace.dictionary("s", of: Int.self)
        #expect(try former.remove())
        try namespace.orderedSet("s", of: Int.self).append(1)
        #expect(errorCode { try former.remove() } == .typeMismatch)
        let longest = String(repeating: "x", count: Limits.cellKeyBytes - 2)
        try dictionary.updateValue(2, forKey: longest)
        #expect(errorCode { try dictionary.updateValue(2, forKey: longest + "x") } == .tooLarge)
        #expect(errorCode { _ = try dictionary[longest + "x"] } == .tooLarge)
        #expect(try dictionary.snapshot() == ["k": 1, longest: 2])
    }

    /// Another writer sets the dictionary's cells to values of another type.
    @Test func aWrongValueIsNamedAndCanBeMended() throws {
        let dictionary = try namespace.dictionary("d", of: Int.self)
        try dictionary.merge(["good": 1, "bad": 2, "worse": 3]) { _, new in new }
        try namespace.set("d/bad", "two")
        try namespace.set("d/worse", "three")
        do throws(SpaceError) {
            _ = try dictionary.snapshot()
            Issue.record("it decoded")
        } catch {
            #expect(error.code == .badData && error.description.contains("bad"))
        }
        #expect(errorCode { _ = try dictionary["bad"] } == .badData)
        #expect(errorCode { try dictionary.modify("bad") { $0 = 0 } } == .badData)
        #expect(errorCode { try dictionary.merge(["bad": 0, "new": 1]) { $0 + $1 } } == .badData)
        #expect(errorCode { try dictionary.setDefault(0, forKey: "bad") } == .badData)
        #expect(try dictionary.contains("bad") && dictionary["good"] == 1 && dictionary.count == 3)
        #expect(try dictionary.keys() == ["bad", "good", "worse"])
        #expect(errorCode { try dictionary.updateValue(2, forKey: "bad") } == .badData)
        #expect(errorCode { try dictionary.removeValue(forKey: "worse") } == .badData)
        #expect(try dictionary.snapshot() == ["good": 1, "bad": 2])
    }

    @Test func aRemovedDictionarysHandlesAreOfNoUse() throws {
        let dictionary = try namespace.dictionary("d", of: String.self)
        try dictionary.merge(["a": "A", "b": "B"]) { _, new in new }
        let info = try namespace.objects.first
        #expect(info?.name == "d" && info?.kind == .dictionary && info?.elementType == "String" && info?.count == 2)
        #expect(try dictionary.remove() && !dictionary.remove())
        #expect(try namespace.objects == [] && namespace.cells().isEmpty)
        #expect(errorCode { _ = try dictionary["a"] } == .closed)
        let again = try namespace.dictionary("d", of: Int.self)
        #expect(errorCode { try dictionary.updateValue("c", forKey: "c") } == .closed)
        #expect(errorCode { try dictionary.modify("c") { $0 = "c" } } == .closed)
        #expect(errorCode { try dictionary.removeAll() } == .closed)
        #expect(try again.isEmpty)
    }

    @Test func changesAreAPartOfATransaction() throws {
        struct Undo: Error {}
        let dictionary = try namespace.dictionary("d", of: Int.self)
        try dictionary.merge(["a": 1, "b": 2]) { _, new in new }
        var kept: SharedDictionary<Int>?
        try namespace.transaction { t in
            let inner = try t.dictionary(dictionary)
            kept = inner
            try inner.updateValue(5, forKey: "a")
            try inner.modify("b") { $0 = nil }
            #expect(try inner.snapshot() == ["a": 5])
            // The call is refused, and the transaction goes on.
            #expect(throws: Undo.self) { try inner.merge(["c": 1, "a": 2]) { _, _ in throw Undo() } }
            #expect(errorCode { try dictionary.updateValue(1, forKey: "x") } == .invalidArgument)
            try t.write("done")
        }
        #expect(try dictionary.snapshot() == ["a": 5])
        #expect(errorCode { _ = try kept?["a"] } == .invalidArgument)
        #expect(throws: Undo.self) {
            try namespace.transaction { t in
                try t.dictionary(dictionary).removeAll()
                throw Undo()
            }
        }
        #expect(try dictionary.snapshot() == ["a": 5])
        let other = try root.space.namespace("other")
        #expect(errorCode { try other.transaction { t in _ = try t.dictionary(dictionary) } } == .invalidArgument)
        #expect(try namespace.verify() == [] && other.verify() == [])
    }
}
