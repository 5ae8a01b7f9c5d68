import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// Objects that are told that something has changed, and look for themselves.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct CoarseObserverTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    /// A view that equals every other view.
    private final class View: BriefSpaceObserver, Hashable {
        let seen = Mutex<[String: [UInt64]]>([:])
        let barrier: Barrier?
        init(_ barrier: Barrier? = nil) { self.barrier = barrier }
        static func == (left: View, right: View) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
        func spaceDidChange(_ namespace: String, generation: UInt64) async {
            seen.withLock { $0[namespace, default: []].append(generation) }
            barrier?.wait()
        }
        func generations(_ name: String) -> [UInt64] { seen.withLock { $0[name] ?? [] } }
    }

    @Test func observersAreToldApartByIdentity() async throws {
        let other = try root.space.namespace("other")
        let (first, second) = (View(), View())
        try jobs.addObserver(first)
        try jobs.addObserver(first)
        try jobs.addObserver(second)
        try other.addObserver(first, for: .cell("k"))
        #expect(jobs.observations.count == 2)
        try jobs.set("k", 1)
        try other.set("l", 1)
        try other.set("k", 1)
        let (last, otherLast) = (try jobs.status().sequence, try other.status().sequence)
        #expect(try await eventually { second.generations("jobs") == [last] })
        #expect(try await eventually { first.generations("jobs") == [last] })
        #expect(try await eventually { first.generations("other") == [otherLast] })
        jobs.removeObserver(second)
        try jobs.set("k", 2)
        #expect(try await eventually { first.generations("jobs") == [last, last + 1] })
        #expect(second.generations("jobs") == [last])
        jobs.removeObserver(first)
        other.removeObserver(first)
        #expect(try await eventually { try jobs.status().watchers == [] && other.status().watchers == [] })
        #expect(try jobs.verify() == [] && other.verify() == [])
    }

    /// An observer that looks at what it is told in the long form.
    private final class Index: SpaceObserver {
        let seen = Mutex<[String]>([])
        func spaceDidChange(
            _ namespace: Namespace,
            for filter: ChangeFilter,
            keys: Set<String>?,
            generation: UInt64
        ) async {
            let keys = keys?.sorted().joined(separator: ",") ?? "?"
            seen.withLock { $0.append("\(namespace.root) \(namespace.name) \(filter.text): \(keys)") }
        }
    }

    @Test func anObserverLearnsWhatHasChanged() async throws {
        let index = Index()
        try jobs.addObserver(index, for: .cells())
        try jobs.addObserver(index, for: .notification("n"))
        try jobs.transaction { t in
            try t.set("k", 1)
            try t.set("l", 1)
        }
        let path = root.space.root
        #expect(try await eventually { index.seen.withLock { $0 } == ["\(path) jobs all keys: k,l"] })
        try jobs.post("n")
        #expect(try await eventually { index.seen.withLock { $0 }.last == "\(path) jobs post n: n" })
        jobs.removeObserver(index, for: .cells())
        #expect(jobs.observations.map(\.filter.text) == ["post n"])
        jobs.removeObserver(index)
        #expect(jobs.observations.isEmpty)
    }

    @Test func aBurstIsOneCall() async throws {
        let barrier = Barrier()
        let view = View(barrier)
        try jobs.addObserver(view, for: .cells())
        try jobs.set("k", 0)
        #expect(try await eventually { barrier.arrivals.value == 1 })
        for number in 1...100 { try jobs.set("k", number) }
        let last = try jobs.status().sequence
        barrier.open()
        #expect(try await eventually { view.generations("jobs").last == last })
        #expect(view.generations("jobs") == [last - 100, last])
        jobs.removeObserver(view)
    }
}
