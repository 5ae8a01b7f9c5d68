import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// Claims of tuples that are in the ring in front of LMDB: they have the same results as in LMDB.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct NearEndClaimTests: NearEndSuite {
    let namespace: Namespace

    init() throws {
        namespace = try SpaceTest.namespace(.fast)
        namespace.useNearEnd(of: NearRing.capacity)
    }

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
            #expect(status.claims.map(\.held.number) == [held.number] && status.tuples == 0)
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
        #expect(try namespace.status().claims.map(\.held.number) == [first.number, third.number])
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
        let fencing = try namespace.lock("l").acquire(timeout: .seconds(1)).inTime().fencing
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
        #expect(salvage.claims.map(\.held.tuple) == [["job", 1]])
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
        #expect(try namespace.status().claims.map(\.held.tuple) == [["job", 2]])
        try holder.kill()
        #expect(try namespace.take("job", 2, timeout: .seconds(30)) != nil)
        #expect(try namespace.count() == 0)
    }
}
