import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// What watchers are told of locks, permits, leadership, counters and latches.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct HeldChangesTests {
    let root: TemporaryRoot
    let namespace: Namespace

    init() throws {
        root = try SpaceTest.root()
        namespace = try SpaceTest.namespace("held")
    }

    private func agent(holding command: String) throws -> Agent {
        let agent = try Agent(root, "held")
        try agent.send(command)
        #expect(try agent.line() == "waiting")
        return agent
    }

    /// The next changes: kind, name, and the process of the old and of the new holder.
    private func told(_ count: Int, _ changes: Changes) throws -> [String] {
        func pid(_ value: Value?) -> String {
            guard case .object(let record)? = value, case .int(let pid)? = record["pid"] else { return "-" }
            return "\(pid)"
        }
        var told: [String] = []
        while told.count < count, let change = try changes.nextBlocking(timeout: .seconds(60), interruption: nil) {
            told.append("\(change.kind) \(change.key ?? "-") \(pid(change.old)) \(pid(change.new))")
        }
        return told
    }

    @Test(arguments: ["lock x 60000", "semaphore x 60000 1 1", "elect x 60000"])
    func eachHolderIsTold(_ command: String) throws {
        let changes = try namespace.changes(.object("x"))
        let first = try agent(holding: command)
        #expect(try first.line()?.hasPrefix("ok") == true)
        let second = try agent(holding: command)
        #expect(try eventually { try namespace.status().holds.count == 2 })
        // A waiter is no change. No process says that a killed holder has gone: a living one finds that out.
        try first.kill()
        #expect(try second.line()?.hasPrefix("ok") == true)
        #expect(
            try told(3, changes) == [
                "hold x - \(first.pid)", "release x \(first.pid) -", "hold x - \(second.pid)",
            ]
        )
        try second.run(command.hasPrefix("elect") ? "resign x" : "unlock x")
        #expect(try told(1, changes) == ["release x \(second.pid) -"])
        #expect(try namespace.verify() == [])
    }

    @Test func aFilterChoosesTheName() throws {
        let changes = try namespace.changes(.object("b"))
        let everything = try namespace.changes()
        try namespace.counter("a").add(2)
        try namespace.counter("b").add(3)
        try namespace.latch("c", count: 2).countDown()
        try namespace.counter("b").remove()
        let pairs = try (0..<2).map { _ in
            let change = try #require(try changes.nextBlocking(timeout: .seconds(60), interruption: nil))
            return "\(change.kind) \(change.old?.json ?? "-") \(change.new?.json ?? "-")"
        }
        #expect(pairs == ["count - 3", "count 3 -"])
        #expect(try told(4, everything) == ["a", "b", "c", "b"].map { "count \($0) - -" })
    }

    /// A change of a value that stays the same is none.
    @Test func aLatchTellsWhatRemains() throws {
        let changes = try namespace.changes(.object())
        let latch = namespace.latch("c", count: 2)
        for _ in 0..<3 { try latch.countDown() }
        try namespace.counter("end").add()
        let told = try (0..<3).map { _ in
            let change = try #require(try changes.nextBlocking(timeout: .seconds(60), interruption: nil))
            return "\(change.key ?? "-") \(change.old?.json ?? "-") \(change.new?.json ?? "-")"
        }
        #expect(told == ["c - 1", "c 1 0", "end - 1"])
    }

    @Test func aLeaderProclaimsAValue() async throws {
        let changes = try namespace.changes(.object("e"))
        let election = namespace.election("e")
        let leadership = try await election.stand(as: "starting")
        try election.proclaim(["port": 80], term: leadership.fencing)
        let leader = try #require(try election.leader())
        #expect(leader.value == ["port": 80] && leader.term == leadership.fencing)
        try leadership.release()
        var kinds: [String] = []
        for _ in 0..<3 {
            let change = try #require(try await changes.next(timeout: .seconds(60)))
            func value(_ value: Value?) -> String {
                if case .object(let record)? = value, let value = record["value"] { value.json } else { "-" }
            }
            kinds.append("\(change.kind) \(value(change.old)) \(value(change.new))")
        }
        #expect(
            kinds == [
                #"hold - "starting""#, #"proclaim "starting" {"port":80}"#, #"release {"port":80} -"#,
            ]
        )
        let late = #expect(throws: SpaceError.self) { try election.proclaim("late", term: leadership.fencing) }
        #expect(late?.code == .holdLost)
        let large = #expect(throws: SpaceError.self) {
            try election.proclaim(String(repeating: "x", count: 300), term: 1)
        }
        #expect(large?.code == .tooLarge)
    }

    /// An observer of this process is told, too, and nothing is journaled while no process watches.
    @Test func anObserverIsTold() async throws {
        try namespace.counter("n").add()
        let (values, continuation) = AsyncStream.makeStream(of: String.self)
        let token = try namespace.observe(.object("n")) { change in
            continuation.yield("\(change.old?.json ?? "-") \(change.new?.json ?? "-")")
        }
        try namespace.counter("n").add(4)
        var iterator = values.makeAsyncIterator()
        #expect(await iterator.next() == "1 5")
        token.cancel()
    }

    // MARK: Permits

    @Test func permitsAreSetInUse() throws {
        let one = namespace.semaphore("s", permits: 1)
        let first = try agent(holding: "semaphore s 60000 1 1")
        #expect(try first.line()?.hasPrefix("ok") == true)
        let second = try agent(holding: "semaphore s 60000 1 1")
        #expect(try eventually { try namespace.status().holds.count == 2 })
        #expect(try !one.setPermits(2))
        #expect(try second.line()?.hasPrefix("ok") == true)
        #expect(try one.tryAcquire() == nil)
        #expect(try namespace.verify() == [])
        // Fewer: both keep theirs, and the next holds once only one is left.
        #expect(try one.setPermits(1))
        #expect(try namespace.verify() == [])
        let third = try agent(holding: "semaphore s 60000 7 1")
        #expect(try eventually { try namespace.status().holds.count == 3 })
        try first.run("unlock s")
        #expect(try namespace.status().holds.map(\.isHeld) == [true, false])
        try second.kill()
        #expect(try third.line()?.hasPrefix("ok") == true)
        let tooMany = #expect(throws: SpaceError.self) { _ = try namespace.semaphore("s", permits: 7).tryAcquire(2) }
        #expect(tooMany?.code == .invalidArgument)
        try third.run("unlock s")
        // Taken back, the callers' number counts.
        #expect(try one.remove())
        #expect(try !one.remove())
        #expect(try namespace.semaphore("s", permits: 7).tryAcquire(7) != nil)
        let none = #expect(throws: SpaceError.self) { try one.setPermits(0) }
        #expect(none?.code == .invalidArgument)
        let other = #expect(throws: SpaceError.self) {
            try namespace.counter("n").add()
            try namespace.semaphore("n", permits: 1).setPermits(2)
        }
        #expect(other?.code == .typeMismatch)
        #expect(try namespace.verify() == [])
    }

    // MARK: Several locks

    /// Many processes' worth of tasks that take the same locks in different orders all come to an end.
    @Test func severalLocksMakeNoCircle() async throws {
        let namespace = namespace
        let total = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let names = ["a", "b", "c"].shuffled()
                    for _ in 0..<20 {
                        _ = try await namespace.withLocks(names, timeout: .seconds(60)) { fencing in
                            if fencing.count != 3 { throw TestFailure("\(fencing)") }
                            try namespace.set("holder", task)
                            await Task.yield()
                            if try namespace.get("holder", as: Int.self) != task { throw TestFailure("two hold") }
                        }
                    }
                    return 20
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(total == 160)
        #expect(try namespace.status().holds == [])
    }

    @Test func severalLocksAreAllOrNone() async throws {
        let other = try agent(holding: "lock b 60000")
        #expect(try other.line()?.hasPrefix("ok") == true)
        let isDone = try await namespace.withLocks(["c", "b", "a"], timeout: .milliseconds(5)) { _ in
            Issue.record("another process holds one")
        }
        #expect(isDone == nil)
        #expect(try await eventually { try namespace.status().holds.map(\.name) == ["b"] })
        try other.kill()
        // The fencing numbers stand in the order of the names.
        let numbers = try await namespace.withLocks(["c", "a"]) { $0 }
        #expect(numbers[0] > numbers[1])
        await #expect(throws: TestFailure.self) {
            try await namespace.withLocks(["c", "a"]) { _ in throw TestFailure("on purpose") }
        }
        #expect(try await eventually { try namespace.status().holds == [] })
        for names in [[], ["a", "b", "a"]] {
            let error = await #expect(throws: SpaceError.self) { try await namespace.withLocks(names) { _ in } }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func severalLocksBlockAThread() throws {
        let numbers = try #require(try namespace.withLocks(["b", "a"], timeout: .seconds(60)) { $0 })
        #expect(numbers[0] > numbers[1])
        #expect(try namespace.status().holds == [])
    }
}
