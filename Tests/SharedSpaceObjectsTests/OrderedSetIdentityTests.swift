import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceRecipes
@testable import TupleSpace

private struct Friend: Codable, Hashable, Sendable {
    var id: Int
    var name: String
}

private class Animal: Codable, @unchecked Sendable {
    var name: String
    init(_ name: String) { self.name = name }
}

private final class Dog: Animal, @unchecked Sendable {}

/// Ordered sets that identify their elements by a key.
@Suite(.spaceTest) struct OrderedSetIdentityTests {
    let namespace: Namespace

    init() throws { namespace = try SpaceTest.namespace("n") }

    private func friends() throws -> SharedOrderedSet<Friend> {
        let names = ["Ada", "Bob", "Cid"].enumerated().map { Friend(id: $0.offset, name: $0.element) }
        return try namespace.orderedSet("friends", id: \.id, initial: names)
    }

    private func names(_ set: SharedOrderedSet<Friend>) throws -> String {
        try set.elements().map(\.name).joined(separator: " ")
    }

    @Test func anElementWithTheSameKeyIsUpdatedInItsPlace() async throws {
        let set = try friends()
        var changes = try set.changes(options: []).makeAsyncIterator()
        #expect(try set.append(Friend(id: 1, name: "Bo")) == (false, 1))
        guard case .edits(let edits)? = try await changes.next()?.event else { throw CancellationError() }
        #expect(edits == [.replace(Friend(id: 1, name: "Bob"), with: Friend(id: 1, name: "Bo"), at: 1)])
        // The same value again changes nothing.
        let before = try namespace.status().sequence
        #expect(try set.append(Friend(id: 1, name: "Bo")) == (false, 1))
        #expect(try namespace.status().sequence == before)
        #expect(try set.insert(Friend(id: 0, name: "A"), at: 3) == (false, 0))
        let more = [
            Friend(id: 2, name: "C"), Friend(id: 3, name: "x"), Friend(id: 3, name: "D"), Friend(id: 1, name: "B"),
        ]
        #expect(try set.append(contentsOf: more) == 1)
        #expect(try names(set) == "A B C D")
    }

    @Test func elementsAreFoundByKeyAlone() throws {
        let set = try friends()
        let bob = Friend(id: 1, name: "?")
        #expect(try set.contains(bob) && set.firstIndex(of: bob) == 1)
        try set.move(bob, before: Friend(id: 0, name: "?"))
        #expect(try names(set) == "Bob Ada Cid")
        try set.exchange(bob, with: Friend(id: 2, name: ""))
        #expect(try names(set) == "Cid Ada Bob")
        try set.replace(bob, with: Friend(id: 7, name: "Eve"))
        #expect(try names(set) == "Cid Ada Eve" && !set.contains(bob))
        #expect(errorCode { try set.replace(at: 0, with: Friend(id: 7, name: "Fay")) } == .invalidArgument)
        try set.replace(at: [0, 2], with: [Friend(id: 7, name: "E"), Friend(id: 2, name: "C")])
        #expect(try names(set) == "E Ada C")
        #expect(try set.isSubset(of: [7, 0, 2].map { Friend(id: $0, name: "") }))
        #expect(try set.formIntersection([Friend(id: 0, name: ""), Friend(id: 2, name: "")]) == 1)
        #expect(try set.remove(Friend(id: 0, name: "")) == 0)
        #expect(try names(set) == "C")
        #expect(try set.copy(as: "copy").append(Friend(id: 2, name: "c")) == (false, 0))
    }

    /// Many elements, whose rows move between chunks, keep their keys.
    @Test func keysStayWithTheirElements() throws {
        let set = try namespace.orderedSet("friends", of: Friend.self, id: \.id)
        try set.append(contentsOf: (0..<1000).map { Friend(id: $0, name: "\($0)") })
        try set.sort { $0.id > $1.id }
        try set.remove(at: 0..<200)
        try set.insert(contentsOf: (2000..<2300).map { Friend(id: $0, name: "") }, at: 100)
        for id in [0, 500, 700, 799] { #expect(try set.append(Friend(id: id, name: "new")).inserted == false) }
        #expect(try set.count == 1100 && set.elements().count { $0.name == "new" } == 4)
        #expect(try namespace.verify() == [])
    }

    @Test func identitiesDoNotMix() throws {
        _ = try friends()
        #expect(errorCode { _ = try namespace.orderedSet("friends", of: Friend.self) } == .typeMismatch)
        #expect(errorCode { _ = try namespace.orderedSet("friends", of: Friend.self, id: \.name) } == .typeMismatch)
        _ = try namespace.orderedSet("values", of: Friend.self)
        #expect(errorCode { _ = try namespace.orderedSet("values", of: Friend.self, id: \.id) } == .typeMismatch)
    }

    /// A directory that contradicts the details, and a row whose key is another, are found by the check.
    @Test func theCheckKnowsTheKeys() throws {
        let set = try friends()
        let row = try set.read { list throws(SpaceError) in
            let reference = try list.reference(at: 1)
            return (reference, Array(try list.row(reference).bytes))
        }
        var bytes = row.1
        let last = 4 + 4 + Int(bytes[4]) - 1
        bytes[last] ^= 1
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            try scope.elements.put(ElementKey(set.number, .element(row.0)), bytes)
            scope.noteUpkeep()
        }
        let findings = try namespace.verify()
        #expect(findings.contains { $0.contains("another hash") }, "\(findings) \(row.1)")
        try namespace.core.write(.adding) { (scope) throws(SpaceError) in
            try scope.elements.put(ElementKey(set.number, .element(row.0)), row.1)
            scope.noteUpkeep()
        }
        #expect(try namespace.verify() == [])
    }

    /// An object of a class that inherits from the declared one would be read back as its base, so it is refused.
    @Test func aClassHierarchyIsRefused() throws {
        let animals = try namespace.orderedSet("animals", of: Animal.self)
        try animals.append(Animal("cat"))
        #expect(errorCode { try animals.append(Dog("Rex")) } == .badData)
        #expect(errorCode { _ = try namespace.orderedSet("more", of: Animal.self, initial: [Dog("Rex")]) } == .badData)
        #expect(
            errorCode { try namespace.dictionary("pets", of: Animal.self).updateValue(Dog("Rex"), forKey: "a") }
                == .badData
        )
        #expect(try animals.count == 1 && !namespace.objects.contains { $0.name == "more" })
        try namespace.orderedSet("dogs", of: Dog.self).append(Dog("Rex"))
    }
}
