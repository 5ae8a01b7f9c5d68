import Glibc
import LMDB
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// The newest tuples of a namespace in mode `fast` are in a ring in front of LMDB, and an operation has the same
/// result wherever its tuple is.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct NearEndTests {
    let namespace: Namespace
    private var engine: Engine { namespace.core.engine }
    private var ring: NearRing { namespace.core.control.near }
    private var commit: Int { engine.environment.lastTransaction }

    init() throws { namespace = try SpaceTest.namespace(.fast) }

    /// Moves what is in the ring to LMDB.
    private func flush() throws {
        try namespace.set("flush", String(repeating: "large", count: 1000))
        #expect(ring.isEmpty)
    }

    private func numbers(_ order: MatchOrder = .oldestFirst) throws -> [Int] {
        try namespace.readAll(order: order).map { tuple in
            guard case .int(let number) = tuple.fields[1] else { throw TestFailure("\(tuple)") }
            return Int(number)
        }
    }

    @Test func aShortQueueNeedsNoCommit() throws {
        #expect(try namespace.takeIfExists("job", any(Int.self)) == nil)
        let before = commit
        for number in 0..<1000 {
            try namespace.write("job", number)
            #expect(try namespace.readIfExists("job", any(Int.self))?.1 == number)
            #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number)
        }
        #expect(commit == before)
        #expect(try namespace.status().sequence == 2000)
        #expect(try namespace.count() == 0)
        // The numbers go on in LMDB.
        try flush()
        #expect(try namespace.status().sequence == 2001)
        #expect(try namespace.write(tuple: ["next"]).rawValue == 1001)
    }

    @Test(arguments: [MatchOrder.oldestFirst, .newestFirst])
    func theOrderIsThatOfWriting(_ order: MatchOrder) throws {
        for number in 0..<3 { try namespace.write("job", number) }
        try flush()
        for number in 3..<6 { try namespace.write("job", number) }
        #expect(ring.tail.load() - ring.head.load() == 3)
        let expected = order == .oldestFirst ? Array(0..<6) : (0..<6).reversed()
        #expect(try numbers(order) == expected)
        #expect(try namespace.count() == 6)
        #expect(try namespace.count(matching: ["job", .any]) == 6)
        #expect(try namespace.status().tuples == 6)
        #expect(try namespace.verify() == [])
        for number in expected {
            #expect(try namespace.readIfExists("job", any(Int.self), order: order)?.1 == number)
            #expect(try namespace.takeIfExists("job", any(Int.self), order: order)?.1 == number)
        }
        #expect(try namespace.count() == 0)
    }

    /// A template finds its tuple by any of its fields, behind any others.
    @Test func eachTemplateFindsItsTuple() throws {
        let tuples: [Tuple] = [
            ["a"], ["a", 1], ["a", 1, "x"], ["b", 1, "x", 2.5], ["a", 1, "x", 2.5, "five"], ["a", 2, "x", 2.5, "six"],
        ]
        for tuple in tuples { try namespace.write(tuple: tuple) }
        try namespace.write(record: ["name": "ada", "kind": "r"])
        let templates: [(Template, Int)] = [
            (["a"], 1), (["a", .any], 1), ([.any, 1], 1), ([.any, .any, "x"], 1), ([.any, .any, "x", 2.5], 1),
            ([.any, .any, .any, .any, "six"], 1), (["a", .any, .any, .any, .any], 2), (["c"], 0), (.any, 7),
            (try Template(json: #"{"kind": "r"}"#), 1), (try Template(json: #"{"kind": "s"}"#), 0),
        ]
        for round in 0..<2 {
            for (template, count) in templates {
                #expect(try namespace.readAll(matching: template).count == count, "\(template), round \(round)")
                #expect(try (namespace.readIfExists(matching: template) != nil) == (count > 0))
            }
            if round == 0 { try flush() }
        }
        // One tuple in LMDB, and one in the ring: a range skips the first.
        try namespace.write("b", 7)
        #expect(try namespace.takeIfExists(any(String.self), 5...9)?.1 == 7)
    }

    @Test func aFullRingGoesToLMDB() throws {
        namespace.useNearEnd(of: 4)
        let before = commit
        for number in 0..<100 { try namespace.write("job", number) }
        #expect(commit - before == 20)
        #expect(try numbers() == Array(0..<100))
        namespace.useNearEnd(of: 0)
        try namespace.write("job", 100)
        #expect(ring.isEmpty)
        #expect(try numbers() == Array(0...100))
        #expect(try namespace.verify() == [])
    }

    /// How places in the ring become free.
    enum Freeing: CaseIterable { case takes, completions, flush, recovery }

    /// A writer that waits for a place is woken when at most half of the ring is in use, whatever has freed it.
    @Test(arguments: Freeing.allCases)
    func aWriterIsWokenAtHalf(_ freeing: Freeing) throws {
        namespace.useNearEnd(of: 8)
        for number in 0..<8 { try namespace.write("job", number) }
        let heard = ring.awaitPlace()
        var left = 8
        switch freeing {
        case .takes, .completions:
            while left > 4 {
                #expect(ring.place.load() == heard, "\(left) records are in use")
                if freeing == .takes {
                    #expect(try namespace.takeIfExists("job", any(Int.self)) != nil)
                } else {
                    try namespace.complete(#require(try namespace.claimIfExists(matching: ["job", .any])?.detach()))
                }
                left -= 1
            }
        case .flush: try flush()
        case .recovery:
            namespace.core.control.gateNeedsRecovery.store(1)
            #expect(try namespace.takeIfExists("job", any(Int.self)) != nil)
        }
        #expect(ring.place.load() == heard + 1)
        // No writer waits any more, so the word stays as it is.
        while try namespace.takeIfExists("job", any(Int.self)) != nil {}
        #expect(ring.place.load() == heard + 1)
        // The head stands still, and with it the place.
        for number in 0..<8 { try namespace.write("job", number) }
        let again = ring.awaitPlace()
        for number in 1..<8 { #expect(try namespace.takeIfExists("job", number) != nil) }
        #expect(ring.place.load() == again)
        #expect(try namespace.takeIfExists("job", 0) != nil)
        #expect(ring.place.load() == again + 1)
    }

    /// A ring that is full because of its bytes counts as half free by them, too.
    @Test func aWriterIsWokenAtHalfTheBytes() throws {
        let body = [UInt8](repeating: 3, count: 1000)
        for number in 0..<60 { try namespace.write("job", number, body) }
        #expect(!ring.isEmpty)
        let heard = ring.awaitPlace()
        var taken = 0
        while ring.place.load() == heard, try namespace.takeIfExists("job", any(Int.self), any([UInt8].self)) != nil {
            taken += 1
        }
        #expect((25...35).contains(taken))
    }

    /// A queue that was once longer than the ring comes back into the ring: takes from LMDB leave the ring as it is.
    @Test func aLongQueueComesBack() throws {
        for number in 0..<40 { try namespace.write("job", number) }
        try flush()
        for number in 0..<40 {
            try namespace.write("job", 40 + number)
            #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number)
        }
        #expect(ring.tail.load() - ring.head.load() == 40)
        #expect(try namespace.status().sequence == 121)
        #expect(try namespace.verify() == [])
        let before = commit
        for number in 40..<80 { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
        #expect(commit == before)
        #expect(try namespace.count() == 0)
        // Takes from LMDB alone take the ring over in the end.
        for number in 0..<200 { try namespace.write("job", number) }
        try flush()
        try namespace.write("last", 1)
        for number in 0..<200 { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
        #expect(ring.isEmpty)
        #expect(try namespace.takeIfExists("last", 1) != nil)
    }

    /// Tuples of all sizes, some of them taken, go around the ring of bytes again and again.
    @Test func bytesGoAround() throws {
        var expected: [[UInt8]] = []
        for number in 0..<3000 {
            let body = [UInt8](repeating: UInt8(number % 251), count: number * 37 % 1100)
            try namespace.write("job", body)
            expected.append(body)
            guard number % 7 != 0 else { continue }
            let taken = try namespace.takeIfExists(
                "job",
                any([UInt8].self),
                order: number % 3 == 0 ? .newestFirst : .oldestFirst
            )
            #expect(taken?.1 == (number % 3 == 0 ? expected.removeLast() : expected.removeFirst()))
        }
        #expect(try namespace.readAll().map(\.fields) == expected.map { [.string("job"), .bytes($0)] })
        #expect(try namespace.verify() == [])
    }

    @Test func whatLMDBMustDoIsDoneThere() throws {
        try namespace.write("job", 0)
        try namespace.write("large", [UInt8](repeating: 1, count: 5000))
        #expect(ring.isEmpty)
        try namespace.write("job", 1)
        try namespace.write("brief", 2, expires: .seconds(3600))
        #expect(ring.isEmpty)
        try namespace.write("job", 3)
        #expect(!ring.isEmpty)
        let held = try #require(try namespace.claimIfExists(matching: ["job", 3])?.detach())
        #expect(!ring.isEmpty)
        #expect(try namespace.release(held))
        #expect(ring.isEmpty)
        try namespace.write("job", 4)
        // A small cell leaves the ring as it is.
        try namespace.set("cell", 1)
        try namespace.increment("cell")
        try namespace.unset("cell")
        #expect(!ring.isEmpty)
        #expect(
            try namespace.readAll(matching: ["job", .any]) == [["job", 0], ["job", 1], ["job", 3], ["job", 4]]
        )
    }

    // MARK: Claims

    @Test func aClaimNeedsNoCommit() throws {
        #expect(try namespace.takeIfExists("job", any(Int.self)) == nil)
        let before = commit
        var numbers: [UInt64] = []
        for number in 0..<100 {
            try namespace.write("job", number)
            let held = try #require(try namespace.claimIfExists(matching: ["job", .any])?.detach())
            #expect(held.tuple == Tuple("job", number) && held.deliveries == 0)
            numbers.append(held.number)
            #expect(try namespace.count() == 0)
            #expect(try namespace.takeIfExists("job", any(Int.self)) == nil)
            let status = try namespace.status()
            #expect(status.claims.map(\.number) == [held.number] && status.tuples == 0)
            #expect(try namespace.claim(numbered: held.number)?.id == held.id)
            #expect(try namespace.verify() == [])
            try namespace.complete(held)
            #expect(try namespace.status().claims.isEmpty)
            #expect(try refusal { try namespace.complete(held) }.code == .claimLost)
        }
        #expect(commit == before)
        #expect(numbers == Array(numbers[0]..<numbers[0] + 100))
        #expect(ring.isEmpty)
        #expect(try namespace.status().sequence == 300)
    }

    /// A claim's tuple goes to LMDB with the others, and the claim goes on there under its number.
    @Test func aClaimMovesToLMDB() throws {
        for number in 0..<4 { try namespace.write("job", number) }
        let first = try #require(try namespace.claimIfExists(matching: ["job", 0])?.detach())
        let third = try #require(try namespace.claimIfExists(matching: ["job", 2])?.detach())
        try flush()
        #expect(try namespace.status().claims.map(\.number) == [first.number, third.number])
        #expect(try namespace.verify() == [])
        // In LMDB the numbers go on, and in the ring after that.
        let second = try #require(try namespace.claimIfExists(matching: ["job", 1])?.detach())
        try namespace.write("job", 4)
        #expect(!ring.isEmpty)
        let last = try #require(try namespace.claimIfExists(matching: ["job", 4])?.detach())
        #expect([third.number, second.number, last.number] == Array(first.number + 1...first.number + 3))
        try namespace.complete(first)
        #expect(!ring.isEmpty)
        #expect(try namespace.release(third))
        #expect(ring.isEmpty)
        try namespace.complete(second)
        try namespace.complete(last)
        #expect(try namespace.readAll() == [["job", 2], ["job", 3]])
        #expect(try namespace.verify() == [])
        // A lock's number comes from the same row as those of claims.
        let fencing = try namespace.lock("l").acquire(timeout: .seconds(1)).fencing
        #expect(fencing > last.number)
        try namespace.write("job", 5)
        let next = try #require(try namespace.claimIfExists(matching: ["job", 5])?.detach())
        #expect(next.number > fencing)
    }

    /// Each way in which a claim ends has the same result as in LMDB.
    @Test(arguments: [0, 256])
    func aClaimEnds(_ records: Int) throws {
        namespace.useNearEnd(of: records)
        for number in 0..<5 { try namespace.write("job", number) }
        func claim() throws -> HeldClaim { try #require(try namespace.claimIfExists(matching: .any)?.detach()) }
        let released = try claim()
        #expect(try namespace.release(released))
        #expect(try !namespace.release(released))
        #expect(try namespace.readAll().first == ["job", 0])
        let again = try claim()
        #expect(again.tuple == ["job", 0] && again.deliveries == 1)
        try namespace.complete(again)
        let buried = try claim()
        try namespace.bury(buried)
        #expect(try namespace.buried().map(\.tuple) == [["job", 1]])
        let kept = try claim()
        try namespace.extend(kept, by: .seconds(60))
        try namespace.complete([kept, try claim()])
        #expect(try refusal { try namespace.complete(kept) }.code == .claimLost)
        #expect(try namespace.readAll() == [["job", 4]])
        try namespace.setDeliveryLimit(1)
        let last = try claim()
        #expect(try namespace.release(last))
        #expect(try namespace.count() == 0)
        #expect(try namespace.kick() == 2)
        #expect(try namespace.readAll() == [["job", 1], ["job", 4]])
        #expect(try namespace.verify() == [])
    }

    /// A killed process's claim in the ring returns its tuple, in its old place.
    @Test func theClaimOfTheDeadReturns() throws {
        let agent = try Agent(try SpaceTest.root(), namespace.name)
        for number in 0..<3 { try namespace.write("job", number) }
        let before = commit
        #expect(try agent.ask("claim-typed [\"job\", 1]") == #"ok ["job",1]"#)
        #expect(commit == before)
        #expect(try namespace.takeIfExists("job", 1) == nil)
        #expect(try namespace.status().claims.map(\.pid) == [agent.pid])
        #expect(try namespace.verify() == [])
        let salvage = try Salvage(.name(namespace.name, root: try SpaceTest.root().path))
        #expect(salvage.claims.map(\.tuple) == [["job", 1]])
        #expect(salvage.tuples.map(\.tuple) == [["job", 0], ["job", 2]])
        try agent.kill()
        #expect(try namespace.take("job", 1, timeout: .seconds(30)) != nil)
        #expect(try namespace.readAll() == [["job", 0], ["job", 2]])
        #expect(try namespace.verify() == [])
    }

    /// A process can claim for another one, and any process ends that claim by its number.
    @Test func aClaimForAnotherProcess() throws {
        let holder = try Agent()
        let claimer = try Agent(try SpaceTest.root(), namespace.name)
        try namespace.write("job", 1)
        try namespace.write("job", 2)
        let number = try #require(UInt64(try claimer.ask("claim-for \(holder.pid) [\"job\", 1]").dropFirst(3)))
        #expect(try claimer.ask("claim-for \(holder.pid) [\"job\", 2]").hasPrefix("ok "))
        #expect(!ring.isEmpty)
        let held = try #require(try namespace.claim(numbered: number))
        try namespace.complete(held)
        #expect(try namespace.status().claims.map(\.tuple) == [["job", 2]])
        try holder.kill()
        #expect(try namespace.take("job", 2, timeout: .seconds(30)) != nil)
        #expect(try namespace.count() == 0)
    }

    // MARK: What is due

    /// While something can expire, the ring is in use until it does.
    @Test func whatIsDueIsDone() throws {
        try namespace.write("brief", 1, expires: .seconds(3600))
        let before = commit
        try namespace.write("job", 1)
        #expect(try namespace.takeIfExists("job", 1) != nil)
        try namespace.write("job", 2)
        try namespace.write("job", 3)
        #expect(commit == before && !ring.isEmpty)
        let claim = try #require(
            try namespace.claimIfExists(matching: ["job", 2], deadline: .milliseconds(1))?.detach()
        )
        #expect(ring.isEmpty)
        // When the claim's time has come, the next operation returns its tuple first.
        let due = try #require(ring.earliestDue)
        while namespace.core.clock.milliseconds <= due { sched_yield() }
        try namespace.write("job", 4)
        #expect(ring.isEmpty)
        #expect(try numbers() == [1, 2, 3, 4])
        #expect(try refusal { try namespace.complete(claim) }.code == .claimLost)
        try namespace.write("job", 5)
        #expect(!ring.isEmpty)
        #expect(try namespace.takeIfExists("brief", 1) != nil)
        #expect(ring.earliestDue == nil)
        #expect(try namespace.verify() == [])
    }

    @Test func aTupleIsClaimedByItsNumber() throws {
        let id = try namespace.write(tuple: ["job", 1])
        #expect(!ring.isEmpty)
        let held = try namespace.claimIfExists(id: id)?.detach()
        #expect(held?.tuple == ["job", 1])
        #expect(try namespace.count() == 0)
        if let held { try namespace.complete(held) }
        #expect(try namespace.claimIfExists(id: id)?.detach() == nil)
    }

    /// A watcher is told of each change from its beginning on, and of none before.
    @Test func aWatcherMissesNothing() async throws {
        try namespace.write("before", 1)
        let changes = try namespace.changes()
        #expect(ring.isEmpty)
        try namespace.write("job", 2)
        #expect(try namespace.takeIfExists("before", 1) != nil)
        var seen: [String] = []
        for try await change in changes {
            seen.append("\(change.kind) \(change.tuple?.description ?? "")")
            if seen.count == 2 { break }
        }
        #expect(seen == [#"write ["job",2]"#, #"take ["before",1]"#])
    }

    @Test func historyHasEachChange() throws {
        try namespace.write("before", 1)
        try namespace.setHistory(History(changes: 10))
        try namespace.write("job", 2)
        #expect(ring.isEmpty)
        #expect(try namespace.takeIfExists("job", 2) != nil)
        try namespace.setHistory(nil)
        try namespace.write("job", 3)
        #expect(!ring.isEmpty)
    }

    @Test func aTransactionSeesTheRing() throws {
        try namespace.write("job", 1)
        let id = try namespace.transaction { transaction in
            #expect(try transaction.takeIfExists("job", any(Int.self))?.1 == 1)
            return try transaction.write(tuple: ["job", 2])
        }
        #expect(id.rawValue == 2)
        // What an undone transaction would have moved stays where it is.
        try namespace.write("job", 3)
        do {
            try namespace.transaction { transaction in
                _ = try transaction.takeIfExists("job", 2)
                throw TestFailure("undo")
            }
            Issue.record("the transaction was not undone")
        } catch {}
        #expect(!ring.isEmpty)
        #expect(try numbers() == [2, 3])
    }

    /// A full namespace refuses a write that it can't store, and loses none that it has acknowledged.
    @Test func aFullNamespaceLosesNothing() throws {
        let small = try SpaceTest.namespace(.fast, "small", byteLimit: 16 << 20)
        let body = [UInt8](repeating: 3, count: 900)
        var count = 0
        let refused = try refusal {
            while count < 100_000 {
                try small.write("job", count, body)
                count += 1
            }
        }
        #expect(refused.code == .limitReached)
        #expect(try small.count() == count)
        for number in 0..<count {
            #expect(try small.takeIfExists("job", any(Int.self), any([UInt8].self))?.1 == number)
        }
        try small.write("job", 1, body)
        #expect(try small.verify() == [])
    }

    /// The tuples of processes that were all killed are in the dump, and there for the next opener.
    @Test func theNextOpenerFindsThem() throws {
        let root = try SpaceTest.root()
        let maker = try Agent(root, "kept", "persistent=1")
        for number in 0..<3 { try maker.run("write [\"job\", \(number)]") }
        try maker.kill()
        let inspection = try Inspection(.name("kept", root: root.path), checking: false)
        #expect(try inspection.tuples.map { try $0.tuple() } == [["job", 0], ["job", 1], ["job", 2]])
        let opened = try Space(root: root.path).namespace("kept")
        #expect(!opened.core.control.near.isEmpty)
        #expect(try opened.takeIfExists("job", any(Int.self))?.1 == 0)
        #expect(try opened.verify() == [])
    }

    /// What is in the ring is there after a reboot, claims have returned, and the disk space has to be promised anew.
    @Test func theNextBootFindsThem() throws {
        let root = try TemporaryRoot()
        let maker = try Agent(root, "n", "persistent=1")
        for number in 0..<3 { try maker.run("write [\"job\", \(number)]") }
        #expect(try maker.ask("claim-typed [\"job\", 1]") == #"ok ["job",1]"#)
        try maker.kill()
        try root.pretendReboot()
        let opened = try root.space.namespace("n")
        let ring = opened.core.control.near
        #expect(ring.allowed.load() == 0)
        #expect(try opened.readAll() == [["job", 0], ["job", 1], ["job", 2]])
        #expect(try opened.status().claims.isEmpty)
        #expect(try opened.verify() == [])
        try opened.write("job", 3)
        #expect(!ring.isEmpty)
        for number in 0..<4 { #expect(try opened.takeIfExists("job", any(Int.self))?.1 == number) }
        try opened.leave()
    }

    /// A salvage that reads while tuples move from the ring to the pages shows each tuple that was there before.
    @Test func aSalvageMissesNothingThatMoves() async throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n")
        for number in 0..<100 { try namespace.write("filler", number, [UInt8](repeating: 2, count: 3000)) }
        for number in 1...60 {
            try namespace.write("job", number)
            async let move: Void = onThread { try namespace.set("cell", String(repeating: "large", count: 1000)) }
            let salvage = try Salvage(.name("n", root: root.path))
            try await move
            #expect(salvage.tuples.count == 100 + number)
        }
        try namespace.leave()
    }
}
