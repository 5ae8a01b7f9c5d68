import ClusterStore
import ClusterStoreTesting
import Glibc
import SharedSpace
import SpaceCluster
import SpaceEngine
import SpaceMachines
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The pen goes to a waiting taker's machine with the tuple, in one transaction.
///
/// The store's revision counts the transactions that change it, and so the round trips between a write and its take.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct PenWithEntryTests {
    let cluster: TestCluster
    let n: [Namespace]

    init() throws {
        cluster = try TestCluster()
        n = try cluster.namespaces()
    }

    private static let template = "[\"job\", \"?int\"]"

    /// Starts a process that waits to take a job, and returns when its machine has published the interest.
    private func taker(on number: Int, _ template: String = PenWithEntryTests.template) throws -> Agent {
        let agent = try Agent(cluster[number].root, "n", "owning=0")
        try agent.block("take-wait 60000 \(template)", in: n[number])
        #expect(try eventually { try cluster.ask("keys /interests/") == 1 })
        return agent
    }

    private func roundTrips(_ body: () throws -> Void) throws -> Int {
        let before = try cluster.ask("revision")
        try body()
        return try cluster.ask("revision") - before
    }

    /// A take on another machine: the write and the take, if the writer's machine has the pen; if the taker's has it, the
    /// writer's asks for it and gets it before that.
    @Test(arguments: [(0, 2), (1, 4)])
    func aTakeElsewhereCostsFewRoundTrips(penOn machine: Int, _ expected: Int) throws {
        let agent = try taker(on: 1)
        try n[machine].write("the", "pen")
        let count = try roundTrips {
            try n[0].write("job", 7)
            #expect(try agent.line()?.contains("7") == true)
        }
        #expect(count == expected)
        try cluster.expectSame(n)
    }

    /// A machine keeps the pen when it writes a tuple for which no process of another machine waits.
    @Test func anotherTupleKeepsThePen() throws {
        let agent = try taker(on: 1)
        try n[0].write("the", "pen")
        let count = try roundTrips {
            try n[0].write("jobs", 7)
            try n[0].write("job", "seven", 7)
            try n[0].write("the", 7)
        }
        #expect(count == 3)
        try n[0].write("job", 8)
        #expect(try agent.line()?.contains("8") == true)
        try cluster.expectSame(n)
    }

    /// A store that refuses the pen's new lease, because the taker's machine has ended, still takes the entry.
    @Test func anEntryGoesWithoutThePenIfItMust() throws {
        let agent = try taker(on: 1)
        try n[0].write("the", "pen")
        try cluster.tell("refuse 1")
        try n[0].write("job", 7)
        #expect(try agent.line()?.contains("7") == true)
        try cluster.expectSame(n)
    }

    /// An entry whose answer is lost is in the log once, though it took the pen away.
    @Test(arguments: ["lose", "drop", "twice"])
    func aFaultyEntryThatGivesThePenCountsOnce(_ fault: String) throws {
        for number in 0..<4 {
            let agent = try taker(on: 1)
            try n[0].write("the", "pen")
            try cluster.tell("\(fault) 1")
            try n[0].write("job", number)
            #expect(try agent.line()?.contains("\(number)") == true)
        }
        try n[0].synchronize()
        #expect(try n[0].count(matching: ["job", .any]) == 0)
        #expect(try n[0].count(matching: ["the", "pen"]) == 4)
        try cluster.expectSame(n)
    }

    /// The taker's machine ends right after it got the pen: the others get the pen when its lease has ended.
    @Test func thePenOfADeadMachineComesBack() throws {
        let agent = try taker(on: 1)
        try n[0].write("the", "pen")
        try agent.stop()
        try n[0].write("job", 7)
        try agent.kill()
        try cluster.end(1, by: SIGKILL)
        #expect(try eventually { errorCode { try n[0].write("later", 1) } == nil })
        #expect(try n[0].takeIfExists("job", 7) != nil)
        #expect(try eventually { try cluster.ask("keys /interests/") == 0 })
    }

    /// A machine withdraws an interest when no process waits any more, and publishes the next one.
    @Test func interestsChange() throws {
        let agent = try taker(on: 1)
        try n[0].write("job", 1)
        #expect(try agent.line()?.contains("1") == true)
        #expect(try eventually { try cluster.ask("keys /interests/") == 0 })
        let other = try taker(on: 1, "[\"other\", \"?int\"]")
        try n[0].write("the", "pen")
        let count = try roundTrips {
            try n[0].write("other", 2)
            #expect(try other.line()?.contains("2") == true)
        }
        #expect(count == 2)
    }
}

/// A machine gets the pen with a tuple, and its daemon is stopped.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct UnansweredPenTests {
    /// The machine that gave the pen hands it to a machine that asks, itself or a third, long before the stopped one's lease
    /// ends, also if the giver did not hear that its entry was taken; and it gives the stopped machine no pen again.
    @Test(arguments: [0, 2], [true, false])
    func theGiverHandsItOver(to machine: Int, isHeard: Bool) throws {
        let cluster = try TestCluster(machines: 3)
        let n = try cluster.namespaces()
        let agent = try Agent(cluster[1].root, "n", "owning=0")
        try agent.block("take-wait 60000 [\"job\", \"?int\"]", in: n[1])
        #expect(try eventually { try cluster.ask("keys /interests/") == 1 })
        try n[0].write("the", "pen")
        let daemon = try #require(cluster[1].daemon)
        try daemon.stop()
        if !isHeard { try cluster.tell("lose 1") }
        try n[0].write("job", 7)
        #expect(try eventually { errorCode { try n[machine].write("later", 1) } == nil })
        #expect(try eventually { errorCode { try n[0].write("the", "pen") } == nil })
        let before = try cluster.ask("revision")
        try n[0].write("job", 8)
        try n[0].write("later", 2)
        #expect(try cluster.ask("revision") - before == 2)
        daemon.signal(SIGCONT)
        #expect(try agent.line()?.contains("7") == true)
        try cluster.expectSame(n)
    }

    /// A write that waited for the pen in vain says which machine has it.
    @Test func theReasonNamesTheMachine() throws {
        let cluster = try TestCluster()
        let n = try cluster.namespaces()
        try n[1].write("the", "pen")
        let daemon = try #require(cluster[1].daemon)
        try daemon.stop()
        let error = try refusal { try n[0].write("job", 1) }
        #expect(error.code == .clusterUnavailable)
        #expect(error.reason.contains("the machine m1 (member 2) did not hand over the pen in time"), "\(error.reason)")
        daemon.signal(SIGCONT)
        #expect(try eventually { errorCode { try n[0].write("job", 2) } == nil })
    }
}

/// Whether a machine gives the pen away with its entries.
@Suite(.timeLimit(.minutes(5)))
struct WritingOnTests {
    /// A machine that asks for the pen soon after it has used it gives it by turns only; one that asks later does not.
    @Test(arguments: [true, false])
    func theNextRequestTells(isSoon: Bool) async throws {
        let store = MemoryStore()
        let keys = try ClusterKeys(prefix: "p", space: "s").namespace(NamespaceName("n"), NamespaceLife(number: 1))
        var settings = ClusterSettings()
        settings.answerTime = .milliseconds(1)
        // The last use is the appender's beginning.
        settings.penKeep = isSoon ? .seconds(3600) : .zero
        let appender = Appender(store: store, keys: keys, settings: settings)
        let lease = try await store.makeLease(seconds: 10)
        await appender.stand(.present(Appender.Identity(number: 1, lease: lease)))
        guard case .unavailable = await appender.fetchPen(for: .connection(1)) else {
            throw TestFailure("there is a pen")
        }
        #expect(await appender.writesOn == isSoon)
    }
}

/// What the daemon does with an entry, on a store whose keys the test puts.
@Suite(.timeLimit(.minutes(5)))
struct AppendTests {
    private let store = MemoryStore()
    private let keys: NamespaceKeys
    private var pen: String { keys.key(.pen) }
    private var want: String { keys.key(.want(2)) }

    init() throws {
        keys = try ClusterKeys(prefix: "p", space: "s").namespace(NamespaceName("n"), NamespaceLife(number: 1))
    }

    /// An appender of member 1, which has the pen since a revision, and what the store says of the wish of member 2.
    private func appender(
        _ settings: ClusterSettings = ClusterSettings()
    ) async throws -> (Appender, revision: Int64, want: StoreRow) {
        let mine = try await store.makeLease(seconds: 600)
        let theirs = try await store.makeLease(seconds: 600)
        let made = try await store.transact(
            StoreTransaction(then: [
                .put(keys.id, NumberValue(keys.life.number).encoded, .none),
                .put(keys.key(.head), NumberValue(0).encoded, .none),
                .put(pen, NumberValue(1).encoded, mine), .put(want, NumberValue(2).encoded, theirs),
                .read(.key(pen)), .read(.key(want)),
            ])
        )
        let row = try #require(made.readings[0].first)
        let wish = try #require(made.readings[1].first)
        let appender = Appender(store: store, keys: keys, settings: settings)
        await appender.begin(head: 0, pen: row, wants: [:], interests: [:], revision: made.revision - 1)
        await appender.stand(.present(Appender.Identity(number: 1, lease: mine)))
        return (appender, made.revision, wish)
    }

    private func append(_ appender: Appender, pen revision: Int64, _ entry: [UInt8] = [1, 2, 3]) async -> DaemonAnswer {
        await appender.append(for: .connection(1), behind: 0, pen: revision, absentMember: 0, entry: entry)
    }

    enum Other: CaseIterable {
        case none, isExecuted, isNotExecutedYet
    }

    /// The last entry of a turn gives the pen to the machine that asks for it, unless another process here has the pen and is
    /// not in the entry.
    @Test(arguments: Other.allCases)
    func theLastEntryOfATurnGivesThePen(_ other: Other) async throws {
        var settings = ClusterSettings()
        settings.penTurn = .zero
        // Only the entry gives the pen.
        settings.penPatience = .seconds(3600)
        let (appender, revision, wish) = try await appender(settings)
        let driver = Task { await appender.drive() }
        defer { driver.cancel() }
        guard case .pen(revision, _) = await appender.fetchPen(for: .connection(1)) else {
            throw TestFailure("the pen is not there")
        }
        if other != .none { _ = await appender.fetchPen(for: .connection(2)) }
        if other == .isExecuted { appender.noteBegun(.connection(2)) }
        await appender.learn([(.want(2), .put(wish))])
        while await !appender.isInTurn { await Task.yield() }
        #expect(await append(appender, pen: revision) == .done)
        let found = try await store.transact(StoreTransaction(then: [.read(.key(pen)), .read(.key(want))]))
        let row = try #require(found.readings[0].first)
        let holder = try NumberValue(decoding: row.value).member
        let isGiven = other != .isNotExecutedYet
        #expect(holder == (isGiven ? 2 : 1))
        #expect(found.readings[1].isEmpty == isGiven)
        #expect(await appender.penHolder == holder)
        if isGiven { #expect(row.modified == revision + 1) }
    }

    /// Who asks for entries of a namespace that was deleted is told that, not that the log lacks them.
    @Test func theEntriesOfADeletedNamespaceAreGone() async throws {
        let (appender, _, _) = try await appender()
        _ = try await store.transact(
            StoreTransaction(then: [.put(keys.key(.head), NumberValue(1).encoded, .none)])
        )
        #expect(try await appender.readHead() == 1)
        let early = await appender.answer(.entries(behind: 0), of: .connection(1))
        guard case .unavailable(let why)? = early else { throw TestFailure("\(early as Any)") }
        #expect(why.contains("entry 1 is not in the log"))
        _ = try await store.transact(StoreTransaction(then: [.delete(.key(keys.id))]))
        #expect(await appender.answer(.entries(behind: 0), of: .connection(1)) == .gone)
    }

    /// A machine that gets the pen with a tuple for which it waits wishes for it no more, also if the giver has not heard of
    /// its wish yet.
    ///
    /// Otherwise the wish stays in the store: the giver takes it for answered, and its owner counts on it.
    @Test func aWishThatIsNotHeardYetIsAnsweredWithThePen() async throws {
        let cluster = try TestCluster(machines: 1)
        let n = try cluster.namespaceOfFirst()
        try n.write("job", 7)
        let answer = try DaemonSocket.ask(
            .entries(behind: 1),
            in: n.core.root,
            life: n.life.number,
            name: "n",
            patience: watchdog
        )
        guard case .entries(let entries) = answer else { throw TestFailure("\(answer)") }
        let entry = try #require(entries.last)
        let (appender, revision, wish) = try await appender()
        let interests = InterestsValue([Interest((["job", .any] as Template).form, isTaking: true)])
        let key = keys.key(.interests(2))
        let put = try await store.transact(
            StoreTransaction(then: [.put(key, interests.encoded, wish.lease), .read(.key(key))])
        )
        await appender.learn([(.interests(2), .put(try #require(put.readings[0].first)))])
        #expect(await append(appender, pen: revision, entry) == .done)
        #expect(await appender.penHolder == 2)
        #expect(try await store.read(.key(want), limit: nil, keysOnly: true).rows.isEmpty)
    }

    /// A hand-over that the store refuses for a while, because it is full, comes later.
    @Test func aRefusedHandOverComesLater() async throws {
        var settings = ClusterSettings()
        settings.penTurn = .zero
        settings.shortestPause = .milliseconds(1)
        let (appender, _, wish) = try await appender(settings)
        let isRefused = Mutex(true)
        store.setFault { [pen] call in
            guard case .transact(let transaction) = call, transaction.then.contains(where: { $0.puts(pen) }) else {
                return .none
            }
            return isRefused.withLock { isRefused in
                defer { isRefused = false }
                return isRefused ? .fails(.refused("it is full")) : .none
            }
        }
        let driver = Task { await appender.drive() }
        defer { driver.cancel() }
        await appender.learn([(.want(2), .put(wish))])
        while await appender.penHolder != 2 { await Task.yield() }
        #expect(try await store.read(.key(want), limit: nil, keysOnly: true).rows.isEmpty)
    }

    /// While the answer to a hand-over is on its way, no process gets the pen: the other machine may have written since.
    @Test func thePenThatMayBeGoneIsNotGivenOut() async throws {
        var settings = ClusterSettings()
        settings.penTurn = .seconds(3600)
        settings.answerTime = .milliseconds(50)
        let (appender, revision, wish) = try await appender(settings)
        let gate = MemoryGate()
        store.setFault { [pen] call in
            guard case .transact(let transaction) = call, transaction.then.contains(where: { $0.puts(pen) }) else {
                return .none
            }
            return .heldAfter(gate)
        }
        let driver = Task { await appender.drive() }
        defer { driver.cancel() }
        #expect(await appender.fetchPen(for: .connection(1)) == .pen(revision, head: 0))
        await appender.endUse(.connection(1))
        await appender.learn([(.want(2), .put(wish))])
        while store.value(of: want) != nil { await Task.yield() }
        #expect(await appender.penHolder == 1)
        let answer = await appender.fetchPen(for: .connection(2))
        guard case .unavailable(let why) = answer else { throw TestFailure("\(answer)") }
        #expect(why.contains("has handed over the pen"))
        gate.open()
        while await appender.penHolder != 2 { await Task.yield() }
    }

    /// A namespace that the store does not have gets no pen: its key would stay.
    @Test func aDeletedNamespaceGetsNoPen() async throws {
        var settings = ClusterSettings()
        settings.answerTime = .milliseconds(50)
        let lease = try await store.makeLease(seconds: 600)
        let appender = Appender(store: store, keys: keys, settings: settings)
        await appender.stand(.present(Appender.Identity(number: 1, lease: lease)))
        let driver = Task { await appender.drive() }
        defer { driver.cancel() }
        let answer = await appender.fetchPen(for: .connection(1))
        guard case .unavailable = answer else { throw TestFailure("\(answer)") }
        #expect(try await store.read(.key(pen), limit: nil, keysOnly: true).rows.isEmpty)
    }

    /// An entry for a namespace that was deleted meanwhile is answered so; a lost head alone is no deletion.
    @Test(arguments: [true, false])
    func aDeletionIsTold(isDeleted: Bool) async throws {
        let (appender, revision, _) = try await appender()
        let lost = [keys.key(.head), pen] + (isDeleted ? [keys.id] : [])
        _ = try await store.transact(StoreTransaction(then: lost.map { .delete(.key($0)) }))
        let answer = await append(appender, pen: revision)
        if isDeleted {
            #expect(answer == .gone)
        } else {
            guard case .unavailable = answer else { throw TestFailure("\(answer)") }
        }
    }
}

extension StoreOperation {
    fileprivate func puts(_ other: String) -> Bool {
        guard case .put(let key, _, _) = self else { return false }
        return key == other
    }
}
