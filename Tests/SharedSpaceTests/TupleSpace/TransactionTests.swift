import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// Transactions are all or nothing, unseen before their commit, and one batch; some calls are refused within one.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct TransactionTests {
    let root: TemporaryRoot
    let space: Namespace

    init() throws {
        root = try SpaceTest.root()
        space = try SpaceTest.namespace("n")
    }

    private struct Broken: Error {}

    @Test(arguments: [StorageMode.fast, .guarded, .durable])
    func everythingThereIs(_ mode: StorageMode) throws {
        let space = try SpaceTest.namespace(mode, "\(mode)")
        try space.write("balance", 10)
        try space.set("n", 1)
        let result = try space.transaction { t in
            guard let (_, balance) = try t.takeIfExists("balance", any(Int.self)) else { throw Broken() }
            try t.write("balance", balance - 1)
            #expect(try t.readIfExists("balance", any(Int.self))?.1 == 9)
            try t.write(tuple: ["a"])
            try t.write(record: ["kind": "r"])
            for tuple: Tuple in [["b", 1], ["b", 2]] { try t.write(tuple: tuple) }
            #expect(try t.count() == 5)
            #expect(try t.readAll(matching: ["b", .any]) == [["b", 1], ["b", 2]])
            #expect(try t.takeAll(matching: ["b", .any], max: 1) == [["b", 1]])
            #expect(try t.get("n") == 1 as Int?)
            #expect(try t.increment("n", by: 2) == 3)
            #expect(try t.set("n", 4, ifEquals: 3))
            #expect(try !t.setIfAbsent("n", 9))
            try t.set("gone", true)
            #expect(try t.unset("gone") == .bool(true))
            guard let claim = try t.claimIfExists(matching: ["a"])?.claim else { throw Broken() }
            try t.complete(claim)
            guard let (held, fields) = try t.claimIfExists("b", any(Int.self)) else { throw Broken() }
            #expect(fields == ("b", 2))
            #expect(try t.release(held))
            try t.post("note", 1)
            return balance
        }
        #expect(result == 10)
        #expect(try space.readAll() == [["balance", 9], ["kind": "r"], ["b", 2]])
        #expect(try space.get("n") == 4 as Int?)
        #expect(try space.get("gone") == nil)
        #expect(try space.status().claims == [])
    }

    @Test func aThrowUndoesAll() throws {
        try space.write("kept")
        try space.set("cell", 1)
        let before = try space.status().sequence
        #expect(throws: Broken.self) {
            try space.transaction { t in
                #expect(try t.takeIfExists(matching: .any) == ["kept"])
                try t.write("new")
                try t.set("cell", 2)
                throw Broken()
            }
        }
        #expect(try space.readAll() == [["kept"]])
        #expect(try space.get("cell") == 1 as Int?)
        #expect(try space.status().sequence == before)
    }

    /// The next transaction goes on from the last commit, not from numbers that an undone transaction gave out.
    @Test func whatWasUndoneIsNotBuiltUpon() throws {
        let last = try space.write(tuple: ["kept"])
        let before = try space.status().sequence
        #expect(throws: Broken.self) {
            try space.transaction { t in
                for number in 0..<5 { try t.write("new", number) }
                throw Broken()
            }
        }
        #expect(try space.write(tuple: ["next"]).rawValue == last.rawValue + 1)
        #expect(try space.status().sequence == before + 1)
        #expect(try space.readAll() == [["kept"], ["next"]])
    }

    /// Watchers and waiters are told of no tuple that a body wrote and took itself, and of no value that it replaced
    /// itself.
    @Test func watchersGetTheNetChangesAsOneBatch() async throws {
        try space.write("old", 1)
        try space.set("cell", 1)
        let changes = try space.changes()
        let waiting = Task { [space] in try await space.take("inner", any(Int.self)) }
        #expect(try await eventually { try space.status().waiters.count == 1 })
        try space.transaction { t in
            try t.write("inner", 1)
            #expect(try t.takeIfExists("inner", any(Int.self)) != nil)
            try t.write("outer", 1)
            _ = try t.takeIfExists("old", 1)
            try t.set("cell", 2)
            try t.set("cell", 3)
            try t.set("brief", 1)
            try t.unset("brief")
            try t.post("note")
        }
        let told = try (0..<4).compactMap { _ in try changes.nextBlocking(timeout: .seconds(10), interruption: nil) }
        #expect(told.map(\.kind) == [.write, .take, .set, .post])
        #expect(told[0].tuple == ["outer", 1])
        #expect(told[2].old == .int(1))
        #expect(told[2].new == .int(3))
        #expect(Set(told.map(\.batch)).count == 1)
        #expect(told.map(\.sequence) == Array(told[0].sequence..<told[0].sequence + 4))
        #expect(try changes.nextBlocking(timeout: .zero, interruption: nil) == nil)
        // The waiter was not woken for a tuple that was never there, and is woken for one that is.
        #expect(try space.status().waiters.count == 1)
        try space.transaction { t in try t.write("inner", 2) }
        #expect(try await waiting.value.1 == 2)
    }

    @Test func theNamespacesOwnOperationsAreRefusedWithin() throws {
        let other = try root.space.namespace("n")
        let elsewhere = try SpaceTest.namespace("elsewhere")
        try space.write("here")
        let refused: [(String, () throws -> Void)] = [
            ("write", { [space] in try space.write("x") }),
            ("another handle's write", { try other.write("x") }),
            ("read", { [space] in _ = try space.count() }),
            ("take", { [space] in _ = try space.takeIfExists(matching: .any) }),
            ("blocking take", { [space] in _ = try space.take(matching: ["x"], timeout: .seconds(60)) }),
            ("set", { [space] in try space.set("x", 1) }),
            ("claim", { [space] in _ = try space.claimIfExists(matching: .any)?.id }),
            ("transaction", { [space] in try space.transaction { _ in } }),
            ("watch", { [space] in _ = try space.changes() }),
            ("leave", { [space] in try space.leave() }),
            ("leave another handle", { try other.leave() }),
            ("enrol", { [space] in try space.addOwner(pid: 1 << 21) }),
            ("waiting elsewhere", { _ = try elsewhere.take(matching: ["x"], timeout: .seconds(60)) }),
        ]
        for (name, operation) in refused {
            try space.transaction { t in
                let error = #expect(throws: SpaceError.self, "\(name)") { try operation() }
                #expect(error?.code == .invalidArgument || name == "enrol", "\(name): \(String(describing: error))")
                try t.write("after", name)
            }
        }
        // Another namespace may be written and read.
        try space.transaction { _ in
            try elsewhere.write("there")
            #expect(try elsewhere.takeIfExists(matching: ["there"]) != nil)
        }
        #expect(try space.count(matching: ["after", .any]) == refused.count)
        #expect(try space.verify() == [])
    }

    /// A wait in a body, even in another namespace, would keep all other writers waiting as long, so it is refused.
    @Test func noBodyWaits() throws {
        let elsewhere = try SpaceTest.namespace("elsewhere")
        let held = try elsewhere.lock("held").tryAcquire()
        #expect(try elsewhere.rateLimit("r", limit: 1, per: .seconds(3600)).tryAcquire())
        func expectRefused(_ name: String, _ operation: () throws -> Void) throws {
            let error = #expect(throws: SpaceError.self, "\(name)") { try space.transaction { _ in try operation() } }
            #expect(error?.code == .invalidArgument, "\(name): \(String(describing: error))")
        }
        let long = Duration.seconds(60)
        try expectRefused("claim") { _ = try elsewhere.claim(matching: ["x"], timeout: long)?.id }
        try expectRefused("cell") { _ = try elsewhere.get("x", as: Int.self, timeout: long) }
        try expectRefused("lock") { _ = try elsewhere.lock("held").acquire(timeout: long)?.fencing }
        try expectRefused("queue") { _ = try elsewhere.queue("q").take(timeout: long)?.id }
        try expectRefused("latch") { _ = try elsewhere.latch("l", count: 1).wait(timeout: long) }
        try expectRefused("barrier") { _ = try elsewhere.barrier("b", parties: 2).wait(timeout: long) }
        try expectRefused("rate limit") {
            _ = try elsewhere.rateLimit("r", limit: 1, per: .seconds(3600)).acquire(timeout: .seconds(7200))
        }
        try expectRefused("request") {
            let _: Value = try elsewhere.requestBlocking(
                "x",
                value: .null,
                ifAbsent: .waits,
                timeout: long,
                interruption: nil
            )
        }
        try expectRefused("program") { _ = try elsewhere.evaluate(["sleep", "60"], timeout: long) }
        // A refused call waits no longer, and has used nothing up.
        #expect(try elsewhere.status().holds.count == 1)
        try held?.release()
        #expect(try space.verify() == [])
    }

    /// A write of fields returns nothing: with a result, these would not compile.
    @Test func aBodyOfOneLineMayEndWithAWrite() async throws {
        func add() throws { try space.transaction { t in try t.write("job", 1) } }
        try add()
        try await withThrowingTaskGroup(of: Void.self) { [space] group in
            group.addTask { try await space.claim("job", 1) { (_, _) in try space.write("done", 1) } }
            try await group.waitForAll()
        }
        #expect(try space.takeIfExists("done", 1) != nil)
    }

    /// An error in the middle of a change undoes the whole transaction, even if the body swallows it.
    @Test func aSwallowedFailureIsNone() throws {
        try space.set("word", "no number")
        let error = #expect(throws: SpaceError.self) {
            try space.transaction { t in
                try t.write("before")
                _ = try? t.increment("word")
                try? t.write("after")
            }
        }
        #expect(error?.code == .badData)
        #expect(try space.count() == 0)
        // The error of a call that changed nothing can be caught.
        try space.transaction { t in
            #expect(throws: SpaceError.self) { try t.set("", 1) }
            try t.write("after")
        }
        #expect(try space.count() == 1)
    }

    @Test func aLostClaimUndoesTheRest() throws {
        try space.write("job", 1)
        let claims = try space.claimBriefly(matching: ["job", 1])
        try space.release(claims)
        let error = #expect(throws: SpaceError.self) {
            try space.transaction { t in
                try t.write("done", 1)
                try t.complete(claims[0])
            }
        }
        #expect(error?.code == .claimLost)
        #expect(try space.readAll() == [["job", 1]])
    }

    @Test func aClaimMadeWithinHolds() throws {
        try space.write("job", 1)
        let claim = try space.transaction { t in try t.claimIfExists(matching: ["job", .any])?.claim }
        guard let claim else { throw Broken() }
        #expect(try space.count() == 0)
        try space.complete(claim)
        try space.write("job", 2)
        var undone: HeldClaim?
        #expect(throws: Broken.self) {
            try space.transaction { t in
                undone = try t.claimIfExists(matching: ["job", .any])?.claim
                throw Broken()
            }
        }
        #expect(undone != nil)
        #expect(try space.readAll() == [["job", 2]])
    }

    @Test func moreThanTheLimitsIsAnError() throws {
        let error = #expect(throws: SpaceError.self) {
            try space.transaction { t in
                for number in 0...Limits.transactionChanges { try t.write("n", number) }
            }
        }
        #expect(error?.code == .transactionTooLarge)
        let bulk = [UInt8](repeating: 1, count: 50 << 20)
        let second = #expect(throws: SpaceError.self) {
            try space.transaction { t in for _ in 0..<3 { try t.write("bulk", bulk) } }
        }
        #expect(second?.code == .transactionTooLarge)
        #expect(try space.count() == 0)
        try space.transaction { t in for number in 0..<5000 { try t.write("n", number) } }
        #expect(try space.count() == 5000)
    }

    /// In a full namespace a transaction fails and changes nothing; a body that takes may use the space kept back for
    /// removals.
    @Test(arguments: [StorageMode.fast, .guarded])
    func aFullNamespaceUndoesTheWhole(_ mode: StorageMode) throws {
        let root = try TemporaryRoot()
        let space = try root.namespace(mode, byteLimit: Limits.smallestByteLimit)
        let page = [UInt8](repeating: 7, count: 3000)
        let error = #expect(throws: SpaceError.self) {
            try space.transaction { t in for number in 0..<100_000 { try t.write("page", number, page) } }
        }
        #expect(error?.code == .limitReached)
        #expect(try space.count() == 0)
        let full = #expect(throws: SpaceError.self) {
            for number in 0..<100_000 {
                try space.transaction { t in
                    try t.write("page", number, page)
                    try t.write("page", number, page)
                }
            }
        }
        #expect(full?.code == .limitReached)
        let count = try space.count()
        #expect(count > 100)
        #expect(count.isMultiple(of: 2))
        #expect(try space.verify() == [])
        #expect(try space.transaction { t in try t.takeAll(max: 10).count } == 10)
        #expect(try space.verify() == [])
    }

    /// Two threads run transactions that keep a sum: no reader sees another sum, and nothing is lost.
    @Test(arguments: [StorageMode.fast, .durable])
    func othersNeverSeeHalf(_ mode: StorageMode) async throws {
        let space = try SpaceTest.namespace(mode, "\(mode)")
        try space.write(contentsOf: [["account", 0, 50], ["account", 1, 50]])
        let rounds = mode == .fast ? 300 : 20
        let movers = (0..<2).map { from in
            Task {
                try await onThread {
                    var runs = 0
                    for _ in 0..<rounds {
                        try space.transaction { t in
                            runs += 1
                            guard let (_, _, mine) = try t.takeIfExists("account", from, any(Int.self)),
                                let (_, _, theirs) = try t.takeIfExists("account", 1 - from, any(Int.self))
                            else { throw Broken() }
                            try t.write("account", from, mine - 1)
                            try t.write("account", 1 - from, theirs + 1)
                        }
                    }
                    return runs
                }
            }
        }
        let watcher = Task {
            try await onThread {
                for _ in 0..<rounds {
                    let accounts = try space.readAll(matching: ["account", .any, .any])
                    guard accounts.count == 2 else { throw TestFailure("\(accounts)") }
                }
            }
        }
        // Each body runs once, whatever other writers do.
        for mover in movers { #expect(try await mover.value == rounds) }
        try await watcher.value
        #expect(try Set(space.readAll()) == [["account", 0, 50], ["account", 1, 50]])
    }

    // MARK: Moving

    @Test func moving() throws {
        try space.write(contentsOf: [["job", 1, "queued"], ["job", 2, "queued"], ["job", 3, "done"]])
        let queued = Selection("job", any(Int.self), "queued")
        let moved = try space.move(matching: queued) { kind, id, _ in [kind, id, "running"] }
        #expect(moved?.1 == 1)
        #expect(try space.move(matching: ["job", 2, .any]) { _ in ["job", 2, "lost"] } == ["job", 2, "queued"])
        #expect(try space.move(matching: ["job", 9, .any]) { _ in ["never"] } == nil)
        #expect(throws: Broken.self) { try space.move(matching: ["job", .any, .any]) { _ in throw Broken() } }
        #expect(try space.readAll() == [["job", 3, "done"], ["job", 1, "running"], ["job", 2, "lost"]])
    }
}
