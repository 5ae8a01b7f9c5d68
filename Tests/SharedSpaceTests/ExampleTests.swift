import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import Synchronization
import Testing

/// The examples of two articles, compiled, and compared with what the articles say.
@Suite struct ExampleTests {
    @Test("An article shows the examples that are compiled here", arguments: ["Recipes", "Collections"])
    func examples(_ article: String) throws { try Self.check(article, against: #filePath) }

    /// Checks that a source file contains every example of an article.
    static func check(_ article: String, against path: String) throws {
        let folder = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
        let compiled = try Self.text(path).filter { !$0.isWhitespace }
        let lines = try Self.text("\(folder)/Sources/SharedSpace/SharedSpace.docc/\(article).md")
            .split(separator: "\n", omittingEmptySubsequences: false)
        var example: String?
        var count = 0
        for line in lines {
            if let shown = example, line == "```" {
                #expect(compiled.contains(shown), "\(shown)")
                count += 1
                example = nil
            } else if example != nil, !line.hasPrefix("import ") {
                example? += line.filter { !$0.isWhitespace }
            } else if line == "```swift" {
                example = ""
            }
        }
        #expect(count > 0)
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try FileBytes.read(at: AT_FDCWD, path, limit: 1 << 20), as: UTF8.self)
    }
}

private func deploy(fencing: UInt64) async throws {}
private func download(_ file: String) async throws {}
private func schedule(until isOver: @Sendable () -> Bool, fencing: UInt64) async throws {}
private func send(_ value: Value) async throws {}
private func transfer() async throws {}
private func listen() async throws -> String { "localhost:80" }
private func serve(fencing: UInt64) async throws {}

private struct Friend: Codable {
    var id: Int
    var name: String
}

/// A copy of a collection that an observer keeps.
private final class Copy: Sendable {
    private let elements = Mutex<[String]>([])
    func withLock(_ body: (inout [String]) -> Void) { elements.withLock { body(&$0) } }
}

/// Examples that are never run; it is enough that they compile.
private final class Examples {
    var token: ObservationToken?

    func holding(_ jobs: Namespace, _ cluster: Namespace, _ file: String) async throws {
        try await jobs.lock("deploy").withLock { fencing in try await deploy(fencing: fencing) }
        try await jobs.semaphore("downloads", permits: 4).withPermits { _ in try await download(file) }
        try await cluster.election("scheduler").lead { term in
            try await schedule(until: { Task.isCancelled }, fencing: term)
        }
    }

    func holdingMore(_ jobs: Namespace, _ bank: Namespace, _ cluster: Namespace) async throws {
        try await bank.withLocks(["account/7", "account/9"], timeout: .seconds(5)) { _ in try await transfer() }
        try jobs.semaphore("downloads", permits: 4).setPermits(8)
        token = try cluster.observe(.object("scheduler")) { change in
            if change.kind == .hold { print("leads:", change.new ?? .null) }
        }
        try await cluster.election("scheduler").lead(as: "starting") { term in
            let address = try await listen()
            try cluster.election("scheduler").proclaim(address, term: term)
            try await serve(fencing: term)
        }
    }

    func counting(_ jobs: Namespace) async throws {
        let ready = jobs.latch("ready", count: 3)
        try ready.countDown()
        try await ready.wait()
    }

    func queueing(_ jobs: Namespace) async throws {
        let mail = jobs.queue("mail", deliveries: 5)
        try mail.put(["to": "ada@example.org"], priority: 1, group: "ada")
        try mail.put("newsletter", delay: .seconds(3600))
        try mail.put(contentsOf: [["to": "bob@example.org"], ["to": "eve@example.org"]])
        try mail.put(["report": "today"], unique: "report")
        try await mail.work(ttr: .seconds(60)) { item in
            try await send(item.value)
        } onFailure: { error, item in
            error is BadAddress ? .setAside(reason: "no such address") : .retry()
        }
    }

    private struct BadAddress: Error {}

    func finishing(_ jobs: Namespace) async throws {
        guard let item = try await jobs.queue("mail").take() else { return }
        let report = jobs.queue("report")
        try item.complete { t in
            try t.set("sent/\(item.id)", true)
            try t.queue(report).put(["sent": item.value])
        }
    }

    func resting(_ jobs: Namespace) async throws {
        let claim = try await jobs.claim("resize", any(Int.self), any(String.self))
        try claim.release(delay: .seconds(30))
    }

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

    func copying(_ songs: SharedOrderedSet<String>) async throws {
        var copy: [String] = []
        for try await change in try songs.changes() { change.apply(to: &copy) }
    }

    func settling(_ space: Space, _ defaults: [String: Int]) async throws {
        let settings = try space.namespace("app").dictionary("settings", of: Int.self)

        try settings.updateValue(3, forKey: "retries")  // the old value, or nil
        try settings.modify("retries") { $0 = ($0 ?? 0) + 1 }  // nobody sets it in between
        try settings.merge(defaults) { current, _ in current }
        print(try settings["retries"] ?? 0, try settings.snapshot())
    }

    func mirroring(_ settings: SharedDictionary<Int>) async throws {
        var copy: [String: Int] = [:]
        for try await change in try settings.changes() { change.apply(to: &copy) }
    }
}
