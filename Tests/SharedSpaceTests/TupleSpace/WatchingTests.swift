import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

@Suite(.spaceTest, .timeLimit(.minutes(5))) struct WatchingTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test func aTupleTakenAtOnceGivesBothChanges() async throws {
        let jobs = try SpaceTest.namespace("jobs")
        let changes = try jobs.changes()
        try jobs.write("a", 1)
        _ = try jobs.takeIfExists("a", any(Int.self))
        try jobs.set("k", 1)
        try jobs.set("k", 2)
        try jobs.unset("k")
        try jobs.post("hello", "you")
        var seen: [Change] = []
        for try await change in changes {
            seen.append(change)
            if seen.count == 6 { break }
        }
        #expect(seen.map(\.kind) == [.write, .take, .set, .set, .unset, .post])
        #expect(seen.map(\.sequence) == Array(seen[0].sequence..<seen[0].sequence + 6))
        #expect(seen[1].tuple == ["a", 1] && seen[3].old == 1 && seen[3].new == 2 && seen[4].old == 2)
    }

    @Test func aWatcherIsWokenByALaterWrite() async throws {
        let jobs = try root.space.namespace("jobs")
        let changes = try jobs.changes(.tuples(["a", .any]))
        async let first = changes.next(timeout: .seconds(30))
        try jobs.write("b", 1)
        try jobs.write("a", 7)
        let change = try #require(try await first)
        #expect(change.tuple == ["a", 7])
    }

    @Test func nothingIsReadAfterAPlaceThatNoChangeCanHave() throws {
        let jobs = try SpaceTest.namespace("jobs")
        let changes = try jobs.changes()
        try jobs.write("a", 1)
        // A damaged row of a subscription may have such positions.
        for place in [UInt64.max - 1, .max] {
            let (read, reached) = try jobs.core.journal.readJournal(after: place) { _ in true }
            #expect(read.isEmpty && reached == place)
        }
        withExtendedLifetime(changes) {}
    }

    @Test func theEndOfTheNamespaceEndsTheSequence() async throws {
        let jobs = try root.space.namespace("jobs")
        let changes = try jobs.changes()
        try root.space.delete("jobs")
        let kinds = try await changes.reduce(into: []) { $0.append($1.kind) }
        #expect(kinds == [.gone])
    }

    @Test func whatIsBehindTheBoundIsAGap() async throws {
        let jobs = try SpaceTest.namespace("jobs")
        let changes = try jobs.changes()
        let payload = String(repeating: "x", count: 1 << 20)
        for number in 0..<40 { try jobs.set("k", Value.array([.int(number), .string(payload)])) }
        var next = changes.resumePoint.sequence + 1
        var gaps = 0
        while let change = try await changes.next(timeout: .zero) {
            #expect(change.sequence == next)
            if change.kind == .gap { gaps += 1 }
            next = change.lastSequence + 1
        }
        #expect(gaps == 1 && next == changes.resumePoint.sequence + 41)
    }

    @Test func aSubscriptionGoesOnWhereItAcknowledged() async throws {
        let jobs = try root.space.namespace("jobs")
        do {
            let changes = try jobs.changes(from: .subscription("log"))
            for number in 0..<5 { try jobs.write("a", number) }
            for _ in 0..<3 {
                let change = try #require(try await changes.next(timeout: .seconds(30)))
                try changes.acknowledge(through: change.sequence)
            }
        }
        for number in 5..<7 { try jobs.write("a", number) }
        let changes = try jobs.changes(from: .subscription("log"))
        var numbers: [Value] = []
        while let change = try await changes.next(timeout: .zero) { numbers.append(try #require(change.tuple)[1]) }
        #expect(numbers == [3, 4, 5, 6])
        #expect(try jobs.endSubscription("log"))
    }

    /// A narrow subscription can't miss changes that it did not want and that its watcher has read past.
    @Test func acknowledgingTheLastCoversWhatWasNotWanted() throws {
        let jobs = try SpaceTest.namespace("jobs")
        func position() throws -> UInt64? { try jobs.status().watchers.first?.position }
        let changes = try jobs.changes(ChangeFilter(tuples: ["a", .any]), from: .subscription("log"))
        let start = changes.resumePoint.sequence
        for number in 0..<3 {
            try jobs.write("a", number)
            for _ in 0..<4 { try jobs.write("b") }
        }
        #expect(try changes.now().count == 3)
        // Of the three changes that were handed out, only the first is acknowledged: the second may have to come again.
        try changes.acknowledge(through: start + 1)
        #expect(try position() == start + 1)
        try changes.acknowledge(through: start + 11)
        #expect(try position() == start + 15)
        // Changes that were not handed out yet stay ahead, whatever number is acknowledged.
        for number in 3..<5 { try jobs.write("a", number) }
        #expect(try changes.nextBlocking(timeout: .zero, interruption: nil)?.tuple == ["a", 3])
        try changes.acknowledge(through: start + 16)
        #expect(try position() == start + 16)
        try changes.acknowledge(through: 1 << 40)
        #expect(try position() == start + 17)
    }

    /// A subscription's position follows the unwanted changes that its watcher reads past, so that the next watcher
    /// need not read them either.
    @Test(arguments: [(9000, 10), (40, 60_000)])
    func aSubscriptionFollowsWhatItDoesNotWant(count: Int, size: Int) throws {
        let jobs = try SpaceTest.namespace("jobs")
        let filter = ChangeFilter(tuples: ["a", .any])
        let changes = try jobs.changes(filter, from: .subscription("log"))
        let payload = Value.bytes([UInt8](repeating: 0x78, count: size))
        for _ in 0..<count { try jobs.post("other", payload) }
        #expect(try changes.now().isEmpty)
        let position = try #require(try jobs.status().watchers.first?.position)
        #expect(position > changes.resumePoint.sequence + UInt64(count) / 2)
        // The position stops before a change that was handed out and not acknowledged.
        try jobs.write("a", 1)
        let wanted = try #require(try changes.nextBlocking(timeout: .zero, interruption: nil)).sequence
        for _ in 0..<count { try jobs.post("other", payload) }
        #expect(try changes.now().isEmpty)
        #expect(try #require(try jobs.status().watchers.first?.position) < wanted)
    }

    /// When a watch ends, its position moves past the unwanted changes that were read, and no further.
    @Test func theEndOfAWatchKeepsItsPosition() throws {
        let jobs = try SpaceTest.namespace("jobs")
        let filter = ChangeFilter(tuples: ["a", .any])
        for isTold in [false, true] {
            var last = try jobs.status().sequence
            do {
                let changes = try jobs.changes(filter, from: .subscription("log"))
                if isTold { try jobs.write("a", 1) }
                for _ in 0..<10 { try jobs.post("other") }
                #expect(try changes.now().count == (isTold ? 1 : 0))
                if !isTold { last += 10 }
            }
            #expect(try jobs.status().watchers.map(\.position) == [last])
        }
        #expect(try jobs.endSubscription("log"))
    }

    @Test func aSubscriptionHasOneWatcher() async throws {
        let jobs = try root.space.namespace("jobs")
        do {
            let first = try jobs.changes(from: .subscription("log"))
            #expect(throws: SpaceError.self) { try jobs.changes(from: .subscription("log")) }
            try jobs.write("a", 1)
            #expect(try await first.next(timeout: .seconds(30))?.tuple == ["a", 1])
        }
        // The change was not acknowledged, so it comes again.
        let second = try jobs.changes(from: .subscription("log"))
        #expect(try await second.next(timeout: .zero)?.tuple == ["a", 1])
    }

    @Test func aPathIntoACellIsToldOnlyOfItsPart() async throws {
        let jobs = try root.space.namespace("jobs")
        let changes = try jobs.changes(ChangeFilter(cells: .key("user.name")))
        try jobs.set("user", ["name": "Ada", "age": 36] as Value)
        try jobs.set("user", ["name": "Ada", "age": 37] as Value)
        try jobs.set("user", ["name": "Grace", "age": 37] as Value)
        var count = 0
        while try await changes.next(timeout: .zero) != nil { count += 1 }
        #expect(count == 2)
    }

    @Test func nobodyWatchingMeansNoJournal() async throws {
        let jobs = try root.space.namespace("jobs")
        do {
            let changes = try jobs.changes()
            try jobs.write("a")
            _ = try await changes.next(timeout: .seconds(30))
        }
        try jobs.write("b")
        let late = try jobs.changes(from: .after(0))
        let change = try #require(try await late.next(timeout: .zero))
        #expect(change.kind == .gap && change.sequence == 1 && change.lastSequence == 2)
    }
}
