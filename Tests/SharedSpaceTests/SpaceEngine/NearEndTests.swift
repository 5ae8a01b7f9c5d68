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
struct NearEndTests: NearEndSuite {
    let namespace: Namespace
    init() throws {
        namespace = try SpaceTest.namespace(.fast)
        namespace.useNearEnd(of: NearRing.capacity)
    }

    /// A new namespace has disk space for few records; each time that these are full, it asks for more.
    @Test func aYoungRingGrows() throws {
        let namespace = try SpaceTest.namespace(.fast, "young")
        let (engine, ring) = (namespace.core.engine, namespace.core.control.near)
        let before = engine.environment.lastTransaction
        for number in 0..<100 {
            try namespace.write("job", number)
            #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number)
        }
        #expect(engine.environment.lastTransaction == before && ring.allowed.load() == UInt64(NearRing.fewest))
        for number in 0..<50 { try namespace.write("job", number) }
        #expect(ring.allowed.load() == UInt64(NearRing.capacity))
        #expect(engine.environment.lastTransaction == before + NearRing.counts.count - 1)
        #expect(try namespace.takeAll(matching: ["job", .any]).count == 50)
        #expect(try namespace.verify() == [])
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
        // Commits that leave the ring take it over in the end.
        try namespace.write("last", 1)
        for number in 0..<130 { try namespace.set("cell", number) }
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
        try maker.run("near \(NearRing.capacity)")
        for number in 0..<3 { try maker.run("write [\"job\", \(number)]") }
        try maker.kill()
        let inspection = try Inspection(.name("kept", root: root.path), checking: false)
        var tuples: [Tuple] = []
        try inspection.forEachTuple { tuples.append(try $0.tuple()) }
        #expect(tuples == [["job", 0], ["job", 1], ["job", 2]])
        inspection.close()
        let opened = try Space(root: root.path).namespace("kept")
        #expect(!opened.core.control.near.isEmpty)
        #expect(try opened.takeIfExists("job", any(Int.self))?.1 == 0)
        #expect(try opened.verify() == [])
    }

    /// What is in the ring is there after a reboot, claims have returned, and the disk space has to be promised anew.
    @Test func theNextBootFindsThem() throws {
        let root = try TemporaryRoot()
        let maker = try Agent(root, "n", "persistent=1")
        try maker.run("near \(NearRing.capacity)")
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
