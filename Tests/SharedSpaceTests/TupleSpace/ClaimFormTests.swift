import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The forms of a claim and the ways it ends, within one process.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct ClaimFormTests {
    let root: TemporaryRoot
    let jobs: Namespace

    init() throws {
        root = try SpaceTest.root()
        jobs = try SpaceTest.namespace("jobs")
    }

    private struct Job: Codable, Equatable, Sendable {
        var kind: String
        var id: Int
    }

    private struct Broken: Error {}

    @Test func aBodyThatReturnsCompletes() async throws {
        try jobs.write("resize", 42, "cat.png")
        let result = try await jobs.claim("resize", any(Int.self), any(String.self)) { kind, id, file in
            let (visible, claimed) = (try jobs.count(), try jobs.status().claims.count)
            #expect(visible == 0)
            #expect(claimed == 1)
            await Task.yield()
            return "\(kind) \(id) \(file)"
        }
        #expect(result == "resize 42 cat.png")
        #expect(try jobs.count() == 0)
        #expect(try jobs.status().claims == [])
    }

    /// The body runs on its caller's actor, and may use values that are not Sendable.
    @MainActor @Test func aBodyRunsWhereItsCallerDoes() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        try jobs.write("job", 1)
        let returned = try await jobs.claim("job", any(Int.self)) { _, id in
            MainActor.assertIsolated()
            counter.count += id
            return counter
        }
        #expect(returned.count == 1)
    }

    @Test func aBodyThatThrowsReturnsTheTupleToItsPlace() async throws {
        try jobs.write("job", 1)
        try jobs.write("job", 2)
        await #expect(throws: Broken.self) {
            try await jobs.claim("job", any(Int.self)) { (_, _) async throws -> Void in throw Broken() }
        }
        #expect(throws: Broken.self) { try blocking { (_, _) throws -> Void in throw Broken() } }
        #expect(try jobs.matches(["job", .any]).map { try $0.tuple() } == [["job", 1], ["job", 2]])
        #expect(try jobs.matches(["job", 1]).map(\.deliveries) == [2])
    }

    private func blocking<Result>(_ body: (String, Int) throws -> Result) throws -> Result? {
        try jobs.claim("job", any(Int.self), timeout: .zero, body)
    }

    @Test func theBlockingFormWithABody() throws {
        #expect(try blocking { _, id in id } == nil)
        try jobs.write("job", 7)
        #expect(try blocking { _, id in id } == 7)
        #expect(try jobs.count() == 0)
    }

    @Test func aDroppedClaimReleases() throws {
        try jobs.write("job", 1)
        do {
            guard let claim = try jobs.claimIfExists("job", any(Int.self)) else { throw Broken() }
            #expect(claim.content == ("job", 1))
            #expect(claim.deliveries == 0)
            #expect(try jobs.count() == 0)
        }
        #expect(try jobs.count() == 1)
        guard let again = try jobs.claimIfExists(matching: ["job", .any]) else { throw Broken() }
        #expect(again.deliveries == 1)
        #expect(again.content == ["job", 1])
        try again.release()
        #expect(try jobs.matches(.any).map(\.deliveries) == [2])
    }

    @Test func aClaimIsEndedOnce() throws {
        try jobs.write("job", 1)
        guard let claim = try jobs.claimIfExists("job", 1) else { throw Broken() }
        try claim.complete()
        for end in [{ try claim.complete() }, { try claim.release() }, { try claim.bury() }] as [() throws -> Void] {
            let error = #expect(throws: SpaceError.self) { try end() }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try jobs.count() == 0)
    }

    @Test func byRecordByTupleAndById() async throws {
        try jobs.write(record: Job(kind: "resize", id: 1))
        let id = try jobs.write(tuple: ["crop", 2])
        let record = try await jobs.claim(matching: .record(Job.self, ["kind": "resize"]))
        #expect(record.content == Job(kind: "resize", id: 1))
        guard let tuple = try jobs.claimIfExists(id: id) else { throw Broken() }
        #expect(tuple.id == id)
        #expect(tuple.content == ["crop", 2])
        guard case nil = try jobs.claimIfExists(id: id) else { throw Broken() }
        try record.complete()
        try tuple.complete()
        try jobs.write(record: Job(kind: "resize", id: 2))
        #expect(try await jobs.claim(matching: .record(Job.self, ["id": 2])) { $0.kind } == "resize")
        try jobs.write("plain")
        #expect(try await jobs.claim(matching: ["plain"]) { $0 } == ["plain"])
        #expect(try jobs.count() == 0)
    }

    @Test func whatDoesNotDecodeStays() throws {
        try jobs.write(tuple: ["kind": "resize", "id": "no number"])
        let error = #expect(throws: SpaceError.self) {
            _ = try jobs.claimIfExists(matching: .record(Job.self, ["kind": "resize"]))?.id
        }
        #expect(error?.code == .badData)
        #expect(try jobs.count() == 1)
    }

    @Test func resultsAndCompletionAreOneStep() throws {
        try jobs.write("job", 1)
        let changes = try jobs.changes()
        guard let claim = try jobs.claimIfExists("job", any(Int.self)) else { throw Broken() }
        #expect(throws: Broken.self) {
            try claim.complete { t in
                try t.write("done", claim.content.1)
                throw Broken()
            }
        }
        // The transaction is undone, and the claim is still held.
        #expect(try jobs.count() == 0)
        #expect(try jobs.status().claims.count == 1)
        let answer = try claim.complete { t in
            try t.write("done", claim.content.1)
            return try t.count(matching: ["done", .any])
        }
        #expect(answer == 1)
        #expect(try jobs.readAll() == [["done", 1]])
        let told = try (0..<3).compactMap { _ in try changes.nextBlocking(timeout: .seconds(10), interruption: nil) }
        #expect(told.map(\.kind) == [.claim, .complete, .write])
        #expect(told[1].batch == told[2].batch)
    }

    @Test func aDetachedClaimIsEndedElsewhere() throws {
        let other = try root.space.namespace("jobs")
        for number in 1...4 { try jobs.write("job", number) }
        func held() throws -> HeldClaim {
            guard let claim = try jobs.claimIfExists("job", any(Int.self)) else { throw Broken() }
            return claim.detach()
        }
        let (first, second, third, fourth) = (try held(), try held(), try held(), try held())
        let end: @Sendable () throws -> Void = { try other.complete(first) }
        try end()
        #expect(try other.release(second))
        #expect(try !other.release(second))
        try other.bury(third)
        try other.complete(fourth) { t in try t.write("done", 4) }
        let error = #expect(throws: SpaceError.self) { try other.complete(first) }
        #expect(error?.code == .claimLost)
        #expect(try jobs.readAll() == [["job", 2], ["done", 4]])
        #expect(try jobs.buried().map(\.tuple) == [["job", 3]])
    }

    // MARK: Deadlines

    @Test(arguments: [StorageMode.fast, .guarded, .durable])
    func atItsDeadlineTheTupleReturns(_ mode: StorageMode) throws {
        let jobs = try SpaceTest.namespace(mode)
        try jobs.write("job", 1)
        guard let late = try jobs.claimIfExists("job", any(Int.self), deadline: .milliseconds(1)) else {
            throw Broken()
        }
        #expect(try jobs.status().claims.map { $0.deadline != nil } == [true])
        // No process waits, so none ticks: the next read finds the tuple returned.
        #expect(try eventually { try jobs.readIfExists("job", 1) != nil })
        guard let next = try jobs.claimIfExists("job", any(Int.self), deadline: .seconds(3600)) else { throw Broken() }
        #expect(next.deliveries == 1)
        for end in [{ try late.extend(by: .seconds(1)) }, { try late.complete() }] as [() throws -> Void] {
            let error = #expect(throws: SpaceError.self) { try end() }
            #expect(error?.code == .claimLost)
        }
        try next.complete()
        #expect(try jobs.count() == 0)
    }

    @Test func whoOverranItsDeadlineLearnsItWithTheBodysResult() async throws {
        try jobs.write("job", 1)
        let error = await #expect(throws: SpaceError.self) {
            try await jobs.claim("job", any(Int.self), deadline: .milliseconds(1)) { (_, _) async throws -> Void in
                let isBack = try await eventually { try jobs.readIfExists("job", 1) != nil }
                #expect(isBack)
            }
        }
        #expect(error?.code == .claimLost)
        #expect(try jobs.count() == 1)
    }

    @Test func extendingMovesTheDeadlineLaterOnly() throws {
        try jobs.write("job", 1)
        guard let claim = try jobs.claimIfExists("job", 1, deadline: .seconds(1000)) else { throw Broken() }
        func deadline() throws -> Int64 { try jobs.status().claims[0].deadline ?? 0 }
        let first = try deadline()
        try claim.extend(by: .seconds(1))
        #expect(abs(try deadline() - first) < 500)
        try claim.extend(by: .seconds(2000))
        #expect(try deadline() - first > 500_000)
        #expect(try jobs.verify() == [])
        try claim.complete()
        try jobs.write("job", 2)
        guard let without = try jobs.claimIfExists("job", 2) else { throw Broken() }
        try without.extend(by: .seconds(1))
        #expect(try jobs.status().claims.map(\.deadline) == [nil])
    }

    // MARK: Burying

    @Test func afterSoManyDeliveriesItIsBuried() throws {
        #expect(try jobs.deliveryLimit == nil)
        try jobs.setDeliveryLimit(2)
        #expect(try jobs.deliveryLimit == 2)
        for limit in [0, -1] {
            let error = #expect(throws: SpaceError.self) { try jobs.setDeliveryLimit(limit) }
            #expect(error?.code == .invalidArgument)
        }
        try jobs.write("job", 1)
        let changes = try jobs.changes()
        for _ in 0..<2 {
            #expect(throws: Broken.self) { try blocking { (_, _) throws -> Void in throw Broken() } }
        }
        #expect(try jobs.claimBriefly(matching: ["job", 1]) == [])
        #expect(try jobs.buried().map(\.deliveries) == [2])
        #expect(try jobs.buried().map(\.tuple) == [["job", 1]])
        #expect(try jobs.status().claims == [])
        #expect(try jobs.status().buried.count == 1)
        let kinds = try (0..<4).compactMap { _ in
            try changes.nextBlocking(timeout: .seconds(10), interruption: nil)?.kind
        }
        #expect(kinds == [.claim, .return, .claim, .bury])
        #expect(try jobs.verify() == [])
        #expect(try jobs.buried(matching: ["other"]) == [])
        #expect(try jobs.kick(matching: ["other"]) == 0)
        #expect(try jobs.kick() == 1)
        #expect(try jobs.matches(.any).map(\.deliveries) == [0])
        #expect(try changes.nextBlocking(timeout: .seconds(10), interruption: nil)?.kind == .return)
    }

    /// A release that says that the tuple was not delivered counts no delivery.
    @Test func whatWasClaimedToBePrintedDoesNotCount() throws {
        try jobs.setDeliveryLimit(1)
        try jobs.write("job", 1)
        try jobs.release(try jobs.claimBriefly(matching: ["job", 1]), wasDelivered: false)
        #expect(try jobs.count() == 1)
        try jobs.release(try jobs.claimBriefly(matching: ["job", 1]))
        #expect(try jobs.buried().count == 1)
    }

    @Test func byHandAndInNumbers() throws {
        for number in 0..<150 { try jobs.write("job", number) }
        guard let claim = try jobs.claimIfExists("job", 0) else { throw Broken() }
        try claim.bury()
        #expect(try jobs.bury(matching: ["job", .any], max: 100) == 100)
        #expect(try jobs.count() == 49)
        #expect(try jobs.buried(max: 3).map(\.tuple) == [["job", 0], ["job", 1], ["job", 2]])
        #expect(try jobs.verify() == [])
        #expect(try jobs.kick(id: TupleID(rawValue: 2)))
        #expect(try !jobs.kick(id: TupleID(rawValue: 2)))
        #expect(try jobs.kick(max: 70) == 70)
        #expect(try jobs.buried().count == 30)
        #expect(try jobs.kick() == 30)
        // The tuples are back in their old places.
        #expect(try jobs.readAll().map { $0[1] } == (0..<150).map { .int($0) })
    }

    /// A buried tuple stays buried: the end of a session returns only the tuples that it has claimed.
    @Test func aBuriedTupleOutlivesTheSession() throws {
        let keeper = try root.space.namespace("kept", options: NamespaceOptions(isPersistent: true))
        try keeper.write("job", 1)
        guard let claim = try keeper.claimIfExists("job", 1) else { throw Broken() }
        try claim.bury()
        try keeper.leave()
        let again = try SpaceTest.namespace("kept")
        #expect(try again.count() == 0)
        #expect(try again.buried().count == 1)
    }

    /// A tuple that is released with a delay makes room for those behind it, and returns to its old place.
    @Test func aReleasedTupleRests() throws {
        try jobs.write("job", 1)
        try jobs.write("job", 2)
        let first = try #require(try jobs.claimIfExists(matching: ["job", .any])?.detach())
        #expect(try jobs.release(first, delay: .seconds(3600)))
        #expect(try jobs.verify() == [])
        #expect(try jobs.readAll() == [["job", 2]])
        #expect(try jobs.buried().isEmpty)
        #expect(try jobs.kick() == 0)
        let second = try #require(try jobs.claimIfExists(matching: ["job", .any])?.detach())
        #expect(try jobs.release(second, delay: .milliseconds(20)))
        #expect(try eventually { try jobs.matches(["job", 2]).map(\.deliveries) == [1] })
        #expect(try !jobs.release(second))
        #expect(try jobs.verify() == [])
        let error = #expect(throws: SpaceError.self) { try jobs.release(first, delay: .seconds(-1)) }
        #expect(error?.code == .invalidArgument)
    }

    @Test func aWaiterGetsATupleThatHasRested() async throws {
        try jobs.write("job", 1)
        let claim = try #require(try jobs.claimIfExists(matching: ["job", .any])?.detach())
        try jobs.release(claim, delay: .milliseconds(50))
        #expect(try await jobs.take(matching: ["job", .any]) == ["job", 1])
        #expect(try jobs.verify() == [])
    }

    /// From async code, a form with a time-out and a body is the awaited one, also if the body does not await.
    @Test func awaitedClaimsHaveATimeOut() async throws {
        let nothing = try await jobs.claim("job", any(Int.self), timeout: .milliseconds(1)) { _, id in id }
        #expect(nothing == nil)
        try jobs.write("job", 7)
        let id = try await jobs.claim("job", any(Int.self), timeout: .seconds(60)) { _, id in id }
        #expect(id == 7)
        try jobs.write("job", 8)
        let count = try await jobs.claim(matching: ["job", .any], timeout: .seconds(60)) { job in
            await Task.yield()
            return job.count
        }
        #expect(count == 2)
        #expect(try jobs.count() == 0)
        try jobs.write("job", 9)
        await #expect(throws: Broken.self) {
            try await jobs.claim("job", any(Int.self), timeout: .seconds(60)) { (_, _) throws -> Void in throw Broken()
            }
        }
        #expect(try jobs.readAll() == [["job", 9]])
        let waiting = Task { [jobs] in
            try await jobs.claim("none", any(Int.self), timeout: .seconds(3600)) { _, id in id }
        }
        #expect(try await eventually { try jobs.status().waiters.count == 1 })
        waiting.cancel()
        let error = await #expect(throws: SpaceError.self) { try await waiting.value }
        #expect(error?.code == .cancelled)
        #expect(try await eventually { try jobs.status().waiters.isEmpty })
    }
}
