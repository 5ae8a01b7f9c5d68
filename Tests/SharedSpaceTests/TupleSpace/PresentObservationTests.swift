import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Observers that are told the present state first.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct PresentObservationTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    @Test func tuplesAndCellsComeFirst() async throws {
        for number in 0..<3 { try jobs.write("a", number) }
        try jobs.write("b", 0)
        try jobs.set("k", 1)
        let (all, some) = (Told(), Told())
        let bag = ObservationBag()
        bag.add(try jobs.observe(.everything, options: [.initial, .new]) { all.note($0) })
        bag.add(try jobs.observe(.tuples(["a", .any]), options: .initial) { some.note($0) })
        let start = try jobs.status().sequence
        _ = try jobs.takeIfExists("a", 1)
        try jobs.set("k", 2)
        #expect(try await eventually { all.count == 7 && some.count == 4 })
        #expect(all.changes.map(\.isPresent) == Array(repeating: true, count: 5) + [false, false])
        #expect(
            all.changes.map { $0.tuple?.json ?? $0.key } == [
                #"["a",0]"#, #"["a",1]"#, #"["a",2]"#, #"["b",0]"#, "k", #"["a",1]"#, "k",
            ]
        )
        #expect(all.kinds == [.write, .write, .write, .write, .set, .take, .set])
        #expect(all.changes[4].new == 1 && all.changes[6].new == 2)
        #expect(all.changes.prefix(5).allSatisfy { $0.sequence == start && $0.pid == 0 })
        #expect(some.changes.map { $0.tuple?[1] } == [0, 1, 2, 1])
        #expect(some.kinds == [.write, .write, .write, .take])
        bag.stopObserving()
    }

    /// An observer of a part of a cell is told the value at the end of its path, or that the path leads nowhere.
    @Test func aPathIsToldOfWhereItEnds() async throws {
        try jobs.set("user", ["name": "Ada"] as Value)
        try jobs.set("users", 1)
        try jobs.set("a.b", 2)
        let longest = String(repeating: "k", count: 600)
        let filters: [(ChangeFilter, [String])] = [
            (.cell("user.name"), ["set user \"Ada\""]), (.cell("user.age"), ["unset user.age nil"]),
            (.cell("a.b"), ["set a.b 2"]), (.cell("nobody"), ["unset nobody nil"]),
            (.cell(longest), ["unset \(longest) nil"]), (.cell(""), ["unset  nil"]), (.cell("."), ["unset . nil"]),
            (ChangeFilter(cells: .key("nobody"), kinds: [.set]), []),
            (ChangeFilter(cells: .key("user"), kinds: [.unset]), []),
        ]
        for (filter, expected) in filters {
            let told = Told()
            let token = try jobs.observe(filter, options: [.initial, .new]) { told.note($0) }
            let mark = Told()
            let second = try jobs.observe(.notification("mark")) { mark.note($0) }
            try jobs.post("mark")
            #expect(try await eventually { mark.count == 1 && told.count >= expected.count })
            let lines = told.changes.map { "\($0.kind) \($0.key ?? "") \($0.new?.json ?? "nil")" }
            #expect(lines == expected)
            #expect(told.changes.allSatisfy { $0.isPresent })
            token.cancel()
            second.cancel()
        }
    }

    /// A present state of more than one slice is of one moment, although the handler changes it behind, at and before
    /// the current slice.
    @Test(arguments: [false, true]) func aLongPresentIsOfOneMoment(inTask: Bool) async throws {
        let jobs = jobs
        let count = 6000
        try jobs.write(contentsOf: (0..<count).map { Tuple("a", $0) })
        for number in 0..<300 { try jobs.set("k\(number)", number) }
        let told = Told()
        @Sendable func hear(_ change: Change) throws {
            told.note(change)
            let number = told.count
            guard change.isPresent, number % 10 == 0 else { return }
            let other = number * 12_347 % count
            _ = try jobs.takeIfExists("a", other)
            if other % 3 == 0 { try jobs.unset("k\(other % 300)") } else { try jobs.set("k\(other % 300)", -1) }
            try jobs.write("a", count + other)
        }
        let errors = Count()
        let token =
            inTask
            ? try jobs.observe(.everything, options: [.initial, .old, .new], onError: { _ in errors.add() }) {
                (change: Change) async throws in try hear(change)
            }
            : try jobs.observe(.everything, options: [.initial, .old, .new], onError: { _ in errors.add() }) {
                try hear($0)
            }
        #expect(
            try await eventually {
                try told.last.map { try !$0.isPresent && $0.sequence == jobs.status().sequence } ?? false
            }
        )
        let seen = told.changes
        let present = seen.filter(\.isPresent)
        #expect(present.count == count + 300 && errors.value == 0)
        #expect(present.prefix(count).map { $0.tuple?[1] } == (0..<count).map { .int($0) })
        #expect(present.suffix(300).allSatisfy { change in change.key == change.new.map { "k\($0.json)" } })
        #expect(
            seen.dropFirst(present.count).map(\.sequence)
                == (present.count..<seen.count).map { seen[0].sequence + UInt64($0 - present.count + 1) }
        )
        #expect(try Replica(seen) == Replica(of: jobs))
        token.cancel()
        #expect(try await eventually { try jobs.status().watchers == [] })
    }

    /// If the journal drops changes from before the rest of the present state was read, the observer is told a gap,
    /// even if none of the changes concerned it.
    @Test func aPresentThatCouldNotBeKeptIsFollowedByAGap() async throws {
        try jobs.write(contentsOf: (0..<1000).map { Tuple("a", $0) })
        let (told, barrier) = (Told(), Barrier())
        let token = try jobs.observe(ChangeFilter(tuples: .any, kinds: [.write]), options: .initial) { change in
            told.note(change)
            barrier.wait()
        }
        let start = try jobs.status().sequence
        #expect(try await eventually { barrier.arrivals.value == 1 })
        _ = try jobs.takeIfExists("a", 900)
        let payload = String(repeating: "x", count: 1 << 20)
        for _ in 0..<20 { try jobs.post("large", payload) }
        barrier.open()
        #expect(try await eventually { told.last?.kind == .gap })
        #expect(told.count == 1000 && told.kinds.prefix(999).allSatisfy { $0 == .write })
        #expect(told.last?.sequence == start + 1)
        token.cancel()
    }

    /// The namespace ends while the first part is told.
    @Test func theEndComesAfterWhatWasThere() async throws {
        try jobs.write(contentsOf: (0..<1000).map { Tuple("a", $0) })
        let (told, barrier) = (Told(), Barrier())
        let token = try jobs.observe(.tuples(.any), options: .initial) { change in
            told.note(change)
            barrier.wait()
        }
        #expect(try await eventually { barrier.arrivals.value == 1 })
        try jobs.write("a", 1000)
        try root.space.delete("jobs")
        barrier.open()
        #expect(try await eventually { told.last?.kind == .gone })
        #expect(told.changes.prefix(1001).map { $0.tuple?[1] } == (0...1000).map { .int($0) })
        #expect(told.changes.map(\.isPresent) == Array(repeating: true, count: 1000) + [false, false])
        #expect(try await eventually { !token.isActive })
    }
}
