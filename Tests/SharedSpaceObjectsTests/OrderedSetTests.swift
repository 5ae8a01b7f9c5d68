import OrderedCollections
import SeededRandom
import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Edits of ordered sets, and edits that are refused.
@Suite(.spaceTest) struct OrderedSetTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("n") }

    private func set(_ elements: String = "") throws -> SharedOrderedSet<String> {
        let set = try namespace.orderedSet("s", of: String.self)
        try set.append(contentsOf: elements.map(String.init))
        return set
    }

    @Test(arguments: StorageMode.allCases) func elementsAreKeptInOrder(mode: StorageMode) throws {
        let namespace = try SpaceTest.namespace(mode, "\(mode)")
        let set = try namespace.orderedSet("s", of: String.self)
        #expect(try set.isEmpty && set.first == nil && set.last == nil)
        #expect(try set.append("b") == (true, 0))
        #expect(try set.insert("a", at: 0) == (true, 0))
        #expect(try set.append(contentsOf: ["c", "a", "d", "c"]) == 2)
        #expect(try set.append("a") == (false, 0))
        #expect(try set.elements() == ["a", "b", "c", "d"])
        #expect(try set.snapshot() == OrderedSet(["a", "b", "c", "d"]))
        #expect(try set[2] == "c" && set.first == "a" && set.last == "d" && set.count == 4)
        #expect(try set.firstIndex(of: "c") == 2 && set.firstIndex(of: "x") == nil && set.contains("d"))
        #expect(try set.elements(in: 1..<3) == ["b", "c"] && set.elements(in: 3..<9) == ["d"])
        #expect(try set.remove("b") == 1 && set.remove("b") == nil)
        #expect(try set.remove(at: 0) == "a")
        #expect(try set.removeLast() == "d" && set.removeFirst() == "c" && set.removeFirst() == nil)
    }

    @Test func severalMoveTogether() throws {
        let set = try set("abcd")
        try set.move(fromOffsets: [0, 2], to: 2)
        #expect(try set.elements().joined() == "bdac")
        #expect(errorCode { try set.move(fromOffsets: [0, 2], to: 4) } == .invalidArgument)
        #expect(errorCode { try set.move(fromOffsets: [0, 2], to: 3) } == .invalidArgument)
        #expect(errorCode { try set.move(fromOffsets: [0, 4], to: 0) } == .invalidArgument)
        #expect(errorCode { try set.move(fromOffsets: [0, 2], to: -1) } == .invalidArgument)
        #expect(try set.elements().joined() == "bdac")
        try set.move(from: 3, to: 0)
        #expect(try set.elements().joined() == "cbda")
        try set.swapAt(0, 3)
        #expect(try set.elements().joined() == "abdc")
    }

    @Test func editsNameTheElementsTheyMean() throws {
        let set = try set("abcd")
        #expect(try set.insert("x", after: "a") == (true, 1))
        #expect(try set.insert("y", before: "a") == (true, 0))
        #expect(try set.insert("x", before: "d") == (false, 2))
        #expect(try set.elements().joined() == "yaxbcd")
        try set.move("d", before: "x")
        try set.move("y", after: "c")
        #expect(try set.elements().joined() == "adxbcy")
        try set.move(contentsOf: ["c", "a"], after: "x")
        #expect(try set.elements().joined() == "dxcaby")
        try set.move(contentsOf: ["b", "d"], before: "c")
        #expect(try set.elements().joined() == "xbdcay")
        try set.exchange("x", with: "y")
        try set.replace("c", with: "z")
        try set.move("a", before: "a")
        #expect(try set.elements().joined() == "ybdzax")
        #expect(errorCode { try set.insert("n", before: "m") } == .invalidArgument)
        #expect(errorCode { try set.move("m", after: "a") } == .invalidArgument)
        #expect(errorCode { try set.move(contentsOf: ["a", "b"], after: "a") } == .invalidArgument)
        #expect(errorCode { try set.replace("a", with: "b") } == .invalidArgument)
        #expect(errorCode { _ = try set.replace(at: 0, with: "b") } == .invalidArgument)
        #expect(try set.replace(at: 0, with: "y") == "y")
        #expect(try set.elements().joined() == "ybdzax")
    }

    @Test func setsAreCombined() throws {
        let set = try set("fbadce")
        try set.sort()
        #expect(try set.elements().joined() == "abcdef")
        try set.sort { $0 > $1 }
        try set.reverse()
        #expect(try set.append(contentsOf: ["c", "g"]) == 1)
        #expect(try set.subtract(["a", "x", "g"]) == 2)
        #expect(try set.formIntersection(["f", "b", "e", "d"]) == 1)
        #expect(try set.elements().joined() == "bdef")
        try set.formSymmetricDifference(["b", "z"])
        #expect(try set.elements().joined() == "defz")
        #expect(try set.isSuperset(of: ["z", "d"]) && set.isSubset(of: ["d", "e", "f", "z", "y"]))
        #expect(try set.isDisjoint(with: ["a", "b"]) && !set.isDisjoint(with: ["a", "e"]))
        #expect(try set.removeAll { $0 < "f" } == 2)
        try set.shuffle()
        #expect(try set.snapshot() == ["f", "z"] || set.snapshot() == ["z", "f"])
        try set.removeAll()
        #expect(try set.isEmpty)
    }

    /// Compares the set with an array, at sizes at which chunks are split, emptied and joined.
    @Test(arguments: 1...3) func randomEditsGiveWhatAnArrayGives(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let set = try namespace.orderedSet("numbers", of: Int.self)
        var model: [Int] = []
        var next = 0
        for round in 0..<200 {
            let index = Int.random(in: 0...model.count, using: &random)
            switch Int.random(in: 0..<9, using: &random) {
            case 0, 1:
                // The set tends to grow at first, and to shrink later.
                let new = Array(next..<next + Int.random(in: 1...(round < 100 ? 300 : 20), using: &random))
                next += new.count
                #expect(try set.insert(contentsOf: new, at: index) == new.count)
                model.insert(contentsOf: new, at: index)
            case 2:
                #expect(try set.insert(next, at: index) == (true, index))
                model.insert(next, at: index)
                next += 1
            case 3 where index < model.count:
                #expect(try set.remove(at: index) == model.remove(at: index))
            case 4:
                let count = Int.random(in: 0...(round < 100 ? 20 : 300), using: &random)
                let unwanted = Set(model.indices.shuffled(using: &random).prefix(count))
                try set.remove(at: unwanted)
                model = model.indices.filter { !unwanted.contains($0) }.map { model[$0] }
            case 5 where !model.isEmpty:
                let count = Int.random(in: 1...min(model.count, 40), using: &random)
                let indices = model.indices.shuffled(using: &random).prefix(count).sorted()
                let target = Int.random(in: 0...model.count - count, using: &random)
                try set.move(fromOffsets: indices, to: target)
                let moved = indices.map { model[$0] }
                for index in indices.reversed() { model.remove(at: index) }
                model.insert(contentsOf: moved, at: target)
            case 6 where index < model.count:
                #expect(try set.replace(at: index, with: next) == model[index])
                model[index] = next
                next += 1
            case 7 where index < model.count:
                let other = Int.random(in: 0..<model.count, using: &random)
                try set.swapAt(index, other)
                model.swapAt(index, other)
            case 8 where round % 5 == 0:
                try set.sort()
                model.sort()
            default: break
            }
            if let some = model.indices.randomElement(using: &random) {
                #expect(try set.firstIndex(of: model[some]) == some && set[some] == model[some])
            }
            if round % 50 == 0 { #expect(try set.elements() == model && namespace.verify() == []) }
        }
        #expect(try set.elements() == model)
    }

    @Test func whatIsRefusedChangesNothing() throws {
        let set = try set("ab")
        #expect(errorCode { _ = try namespace.orderedSet("s", of: Int.self) } == .typeMismatch)
        #expect(errorCode { _ = try namespace.orderedSet("s", of: String.self, schema: "song/2") } == .typeMismatch)
        #expect(errorCode { _ = try namespace.orderedSet("", of: String.self) } == .invalidArgument)
        #expect(errorCode { _ = try set[2] } == .invalidArgument)
        #expect(errorCode { _ = try set[-1] } == .invalidArgument)
        #expect(errorCode { try set.insert("x", at: 3) } == .invalidArgument)
        #expect(errorCode { try set.remove(at: [0, 2]) } == .invalidArgument)
        let even = try namespace.orderedSet("even", of: Even.self)
        try even.append(Even(number: 2))
        #expect(errorCode { try even.append(Even(number: 3)) } == .badData)
        #expect(errorCode { try even.append(contentsOf: [Even(number: 4), Even(number: 5)]) } == .badData)
        #expect(try even.elements().map(\.number) == [2] && set.elements() == ["a", "b"])
        // A tuple that is claimed and comes back keeps its expiry.
        let words = try namespace.orderedSet("even", of: String.self, schema: "Even")
        try words.append("four")
        #expect(errorCode { _ = try even.elements() } == .badData)
        #expect(errorCode { _ = try even[1] } == .badData)
        #expect(try even[0].number == 2)
        #expect(errorCode { _ = try even.remove(at: 1) } == .badData)
        #expect(try even.elements().map(\.number) == [2])
    }

    @Test func aRemovedSetsHandlesAreOfNoUse() throws {
        let set = try set("ab")
        #expect(try namespace.objects.map(\.name) == ["s"])
        #expect(try namespace.objects.first?.count == 2 && namespace.objects.first?.elementType == "String")
        #expect(try set.remove())
        #expect(try !set.remove() && namespace.objects == [])
        #expect(errorCode { _ = try set.elements() } == .closed)
        let again = try namespace.orderedSet("s", of: Int.self)
        try again.append(1)
        #expect(errorCode { try set.append("c") } == .closed)
        #expect(try !set.remove())
        #expect(try again.elements() == [1])
    }

    @Test func editsAreAPartOfATransaction() throws {
        let set = try set("ab")
        let other = try namespace.orderedSet("other", of: Int.self)
        try namespace.transaction { t in
            let inner = try t.orderedSet(set)
            try inner.append("c")
            try inner.move("c", before: "a")
            // The call is refused, and the transaction goes on.
            #expect(errorCode { try inner.insert("x", at: 9) } == .invalidArgument)
            #expect(errorCode { try set.append("x") } == .invalidArgument)
            try t.orderedSet(other).append(try inner.count)
            try t.write("done")
        }
        #expect(try set.elements() == ["c", "a", "b"] && other.elements() == [3])
        struct Undo: Error {}
        var kept: SharedOrderedSet<String>?
        #expect(throws: Undo.self) {
            try namespace.transaction { t in
                kept = try t.orderedSet(set)
                try kept?.removeAll()
                throw Undo()
            }
        }
        #expect(try set.count == 3)
        #expect(errorCode { _ = try kept?.count } == .invalidArgument)
    }
}

/// A type that decodes fewer values than it encodes.
private struct Even: Codable, Equatable {
    var number: Int

    init(number: Int) { self.number = number }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
        guard number % 2 == 0 else {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "odd"))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }
}
