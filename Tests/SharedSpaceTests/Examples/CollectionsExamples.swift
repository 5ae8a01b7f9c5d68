import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The examples of "Collections", each of them run.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct CollectionsExamples {
    private let examples: Examples
    let party: Namespace

    init() throws {
        party = try SpaceTest.namespace("party")
        examples = Examples(try SpaceTest.root().space)
    }

    @Test func collecting() async throws {
        try await examples.collecting()
        let songs = try party.orderedSet("songs", of: String.self)
        #expect(try songs.elements() == ["Red", "Blue", "Green", "Grey"])
        let played = try party.orderedSet("played", of: String.self)
        try examples.moving(party, songs, played)
        #expect(try songs.elements() == ["Blue", "Green", "Grey"] && played.elements() == ["Red"])
    }

    @Test func observing() async throws {
        let (songs, copy) = (try party.orderedSet("songs", initial: ["Blue"]), Copy())
        try examples.observing(songs, copy)
        try songs.append("Red")
        try await party.settled()
        #expect(copy.all == ["Blue", "Red"])
        let other = Copy()
        try examples.listing(songs, other)
        try songs.insert("Green", at: 0)
        try await party.settled()
        #expect(other.all == ["Green", "Blue", "Red"])
        examples.token?.cancel()
    }

    @Test func editingSeveral() throws {
        try examples.editingSeveral(party)
        #expect(try party.orderedSet("songs", of: String.self).elements() == ["Gold", "Green", "Grey", "Teal"])
        #expect(try party.orderedSet("songs of yesterday", of: String.self).count == 4)
    }

    @Test func identifying() throws {
        try examples.identifying(party)
        #expect(try party.orderedSet("friends", of: Friend.self, id: \.id).elements().map(\.name) == ["Ada L."])
    }

    @Test func copying() async throws {
        let (examples, songs) = (examples, try party.orderedSet("songs", initial: ["Blue"]))
        let observed = Observed { try songs.changes() }
        async let ended: Void = examples.copying(observed)
        #expect(try await eventually { observed.hasBegun })
        try songs.remove()
        try await ended
    }

    @Test func settling() async throws {
        let app = try SpaceTest.namespace("app")
        try await examples.settling(try SpaceTest.root().space, ["retries": 9, "width": 80])
        let settings = try app.dictionary("settings", of: Int.self)
        #expect(try settings.snapshot() == ["retries": 4, "width": 80])
        let (examples, observed) = (examples, Observed { try settings.changes() })
        async let ended: Void = examples.mirroring(observed)
        #expect(try await eventually { observed.hasBegun })
        try settings.remove()
        try await ended
    }
}

private struct Friend: Codable {
    var id: Int
    var name: String
}

/// A copy of a collection that an observer keeps.
private final class Copy: Sendable {
    private let elements = Mutex<[String]>([])
    var all: [String] { elements.withLock { $0 } }
    func withLock(_ body: (inout [String]) -> Void) { elements.withLock { body(&$0) } }
}

/// A collection that tells when an observation of it has begun, from which on a removal ends it.
///
/// The watcher is seen before that: the first look at the collection comes after it.
private final class Observed<Changes>: Sendable {
    private let begin: @Sendable () throws -> Changes
    private let begun = Atomic(false)
    var hasBegun: Bool { begun.load(ordering: .acquiring) }

    init(_ begin: @escaping @Sendable () throws -> Changes) { self.begin = begin }

    func changes() throws -> Changes {
        defer { begun.store(true, ordering: .releasing) }
        return try begin()
    }
}

private final class Examples: @unchecked Sendable {
    private let space: SharedSpace.Space
    var token: ObservationToken?

    init(_ space: SharedSpace.Space) { self.space = space }

    /// Stands for the space's default root.
    private func Space() throws -> SharedSpace.Space { space }

    func collecting() async throws {
        let party = try Space().namespace("party")
        let songs = try party.orderedSet("songs", of: String.self)  // made by whoever comes first

        try songs.append(contentsOf: ["Blue", "Green", "Red"])
        try songs.append("Blue")  // is there: nothing happens, nobody is told
        try songs.insert("Grey", after: "Green")
        try songs.move("Red", before: "Blue")
        print(try songs.elements())  // ["Red", "Blue", "Green", "Grey"]
    }

    func moving(_ party: Namespace, _ songs: SharedOrderedSet<String>, _ played: SharedOrderedSet<String>) throws {
        try party.transaction { t in
            let songs = try t.orderedSet(songs)
            guard let next = try songs.removeFirst() else { return }
            try t.orderedSet(played).append(next)
        }
    }

    func observing(_ songs: SharedOrderedSet<String>, _ copy: Copy) throws {
        self.token = try songs.observe(options: .initial) { [copy] change in
            copy.withLock { elements in change.apply(to: &elements) }
        }
    }

    func editingSeveral(_ party: Namespace) throws {
        let songs = try party.orderedSet("songs", initial: ["Blue", "Green", "Red"])
        try songs.insert(contentsOf: ["Grey", "Pink"], at: [0, 2])  // ["Grey", "Blue", "Pink", "Green", "Red"]
        try songs.replace(at: [0, 4], with: ["Gold", "Grey"])  // ["Gold", "Blue", "Pink", "Green", "Grey"]
        try songs.replaceSubrange(1..<3, with: ["Teal"])  // ["Gold", "Teal", "Green", "Grey"]
        try songs.sort(1..<4)  // ["Gold", "Green", "Grey", "Teal"]
        print(try songs.elements(at: [0, 3]))  // ["Gold", "Teal"]
        print(try songs.binarySearch(for: "Grey", by: <))  // (isPresent: true, index: 2)
        let copy = try songs.copy(as: "songs of yesterday")
        print(copy)  // ordered set "songs of yesterday" of String in namespace "party"
    }

    func identifying(_ party: Namespace) throws {
        let friends = try party.orderedSet("friends", of: Friend.self, id: \.id)
        try friends.append(Friend(id: 1, name: "Ada"))
        try friends.append(Friend(id: 1, name: "Ada L."))  // replaces the first, in its place
        print(try friends.count)  // 1
    }

    func listing(_ songs: SharedOrderedSet<String>, _ copy: Copy) throws {
        self.token = try songs.observe(options: .initial) { [copy] change in
            copy.withLock { elements in
                change.apply(
                    to: &elements,
                    removed: { song, index in print("\(song) left \(index)") },
                    inserted: { song, index in print("\(song) is at \(index) of \(change.set.name)") }
                )
            }
        }
    }

    func copying(_ songs: Observed<CollectionChanges<String>>) async throws {
        var copy: [String] = []
        for try await change in try songs.changes() { change.apply(to: &copy) }
    }

    func settling(_ space: SharedSpace.Space, _ defaults: [String: Int]) async throws {
        let settings = try space.namespace("app").dictionary("settings", of: Int.self)

        try settings.updateValue(3, forKey: "retries")  // the old value, or nil
        try settings.modify("retries") { $0 = ($0 ?? 0) + 1 }  // nobody sets it in between
        try settings.merge(defaults) { current, _ in current }
        print(try settings["retries"] ?? 0, try settings.snapshot())
    }

    func mirroring(_ settings: Observed<DictionaryChanges<Int>>) async throws {
        var copy: [String: Int] = [:]
        for try await change in try settings.changes() { change.apply(to: &copy) }
    }
}
