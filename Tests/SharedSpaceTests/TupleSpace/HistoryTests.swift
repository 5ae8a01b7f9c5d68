import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The history that a namespace keeps of changes while no watcher is registered.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct HistoryTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func namespace(_ history: History?, byteLimit: Int? = nil) throws -> Namespace {
        try SpaceTest.namespace("jobs", options: NamespaceOptions(byteLimit: byteLimit, history: history))
    }

    @Test func whatHappenedUnwatchedIsTold() throws {
        let jobs = try namespace(History(changes: 100))
        #expect(try jobs.history == History(changes: 100, bytes: 16 << 20))
        try jobs.write("a", 1)
        try jobs.set("k", 1)
        try jobs.set("k", 2)
        #expect(try jobs.takeIfExists("a", any(Int.self)) != nil)
        let seen = try jobs.changes(from: .after(0)).now()
        #expect(seen.map(\.kind) == [.write, .set, .set, .take] && seen.map(\.sequence) == [1, 2, 3, 4])
        #expect(seen[2].old == 1 && seen[3].tuple == ["a", 1])
        // The end of a watcher removes nothing from the history.
        #expect(try jobs.changes(from: .after(2)).now().map(\.sequence) == [3, 4])
    }

    @Test func whatIsBehindTheHistoryIsAGap() throws {
        let jobs = try namespace(History(changes: 10))
        for number in 0..<25 { try jobs.write("a", number) }
        let seen = try jobs.changes(from: .after(3)).now()
        #expect(seen.first?.kind == .gap && seen.first?.sequence == 4 && seen.first?.lastSequence == 15)
        #expect(seen.dropFirst().map(\.sequence) == Array(16...25))
    }

    @Test func bytesBoundAHistoryToo() throws {
        let jobs = try namespace(History(bytes: 100_000))
        #expect(try jobs.history == History(changes: 65_536, bytes: 100_000))
        let payload = String(repeating: "x", count: 10_000)
        for number in 0..<30 { try jobs.set("k", Value.array([.int(number), .string(payload)])) }
        let seen = try jobs.changes(from: .after(0)).now()
        // Each change also holds the old value.
        #expect(seen.first?.kind == .gap && (3...5).contains(seen.count - 1) && seen.last?.sequence == 30)
    }

    /// A history may be longer than the journal's bound for watchers, if its options ask for that.
    @Test func aHistoryCanBeLongerThanTheJournalsOwnBound() throws {
        let jobs = try namespace(History(changes: 70_000))
        for _ in 0..<67 { try jobs.write(contentsOf: (0..<1000).map { Tuple("a", $0) }) }
        let seen = try jobs.changes(from: .after(0)).now()
        #expect(seen.count == 67_000 && seen.first?.kind == .write && seen.last?.sequence == 67_000)
    }

    @Test func aHistoryIsChangedAndEnded() throws {
        let jobs = try namespace(nil)
        #expect(try jobs.history == nil)
        try jobs.write("a", 0)
        try jobs.setHistory(History(changes: 50))
        for number in 1...40 { try jobs.write("a", number) }
        #expect(try jobs.changes(from: .after(0)).now().map(\.kind).prefix(2) == [.gap, .write])
        #expect(try jobs.changes(from: .after(1)).now().count == 40)
        try jobs.setHistory(History(changes: 5))
        #expect(try jobs.history?.changes == 5)
        // Each change removes a few old rows.
        for number in 41...60 { try jobs.write("a", number) }
        #expect(try jobs.changes(from: .after(1)).now().dropFirst().map(\.sequence) == Array(57...61))
        try jobs.setHistory(nil)
        #expect(try jobs.history == nil && jobs.status().history == nil)
        #expect(try jobs.changes(from: .after(0)).now().map(\.kind) == [.gap])
    }

    /// While a watcher is registered, the end of the history removes no change that the watcher has still to read.
    @Test func aWatcherOutlivesTheHistory() throws {
        let jobs = try namespace(History(changes: 5))
        let watcher = try jobs.changes()
        for number in 0..<10 { try jobs.write("a", number) }
        try jobs.setHistory(nil)
        #expect(try watcher.now().map(\.kind) == Array(repeating: .write, count: 10))
    }

    @Test(arguments: [
        History(changes: 0), History(changes: -1), History(changes: 1 << 25), History(bytes: 0),
        History(bytes: 5 << 20),
    ])
    func whatIsOutOfRangeIsRefused(_ history: History) throws {
        let refused = #expect(throws: SpaceError.self) { try namespace(history, byteLimit: 16 << 20) }
        #expect(refused?.code == .invalidArgument)
        #expect(root.leftovers == [])
        let jobs = try namespace(nil, byteLimit: 16 << 20)
        #expect(throws: SpaceError.self) { try jobs.setHistory(history) }
        #expect(try jobs.history == nil)
    }

    /// The journal of a small namespace leaves space for the namespace's contents.
    @Test(arguments: [false, true]) func aJournalNeverFillsItsNamespace(isWatched: Bool) throws {
        let jobs = try namespace(History(), byteLimit: 16 << 20)
        let watcher = isWatched ? try jobs.changes() : nil
        let payload = [UInt8](repeating: 0x78, count: 30_000)
        for _ in 0..<1000 {
            try jobs.write("a", payload)
            #expect(try jobs.takeIfExists("a", any([UInt8].self)) != nil)
        }
        #expect(try jobs.verify() == [])
        withExtendedLifetime(watcher) {}
    }

    /// When few large changes follow many small ones, the journal drops as many bytes as it gets.
    @Test func largeChangesMakeTheRoomOfSmallOnes() throws {
        let jobs = try namespace(History(changes: 60_000, bytes: 4 << 20), byteLimit: 64 << 20)
        for _ in 0..<50 { try jobs.write(contentsOf: (0..<1000).map { Tuple("a", $0) }) }
        let payload = [UInt8](repeating: 0x78, count: 1 << 20)
        for _ in 0..<40 { try jobs.post("large", payload) }
        #expect(try jobs.status().bytes < 32 << 20)
        #expect(try jobs.changes(from: .after(0)).now().last?.key == "large")
    }
}

extension Changes {
    /// The changes that can be told at this moment.
    func now() throws -> [Change] {
        var changes: [Change] = []
        while let change = try nextBlocking(timeout: .zero, interruption: nil) { changes.append(change) }
        return changes
    }
}
