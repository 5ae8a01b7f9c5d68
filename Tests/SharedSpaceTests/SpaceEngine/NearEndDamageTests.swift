import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// Damaged bytes of the near end end no process: an operation has a result or an error that says what is damaged.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct NearEndDamageTests {
    let namespace: Namespace
    private var ring: NearRing { namespace.core.control.near }

    init() throws {
        namespace = try SpaceTest.namespace(.fast)
        namespace.useNearEnd(of: NearRing.capacity)
    }

    /// A record that makes no sense is damage, in every operation that comes to it, and named by a salvage.
    @Test(arguments: [0, 5, 7])
    func aRecordWithoutSenseIsDamage(_ state: UInt32) throws {
        let root = try TemporaryRoot()
        let namespace = try root.space.namespace("n")
        namespace.useNearEnd(of: NearRing.capacity)
        for number in 1...3 { try namespace.write("job", number) }
        let claim = try #require(try namespace.claimIfExists(matching: ["job", 1])?.detach())
        let ring = namespace.core.control.near
        ring.setState(of: state == 7 ? 1 : 2, to: state)
        #expect(try refusal { _ = try namespace.count() }.code == .damaged)
        #expect(try refusal { _ = try namespace.readAll() }.code == .damaged)
        #expect(try refusal { _ = try namespace.takeIfExists("job", 4) }.code == .damaged)
        #expect(try refusal { _ = try namespace.verify() }.code == .damaged)
        #expect(try refusal { try namespace.write("large", [UInt8](repeating: 1, count: 2000)) }.code == .damaged)
        if state == 7 { #expect(try refusal { try namespace.complete(claim) }.code == .claimLost) }
        let salvage = try Salvage(.name("n", root: root.path))
        #expect(salvage.leftOut == ["tuple \(state == 7 ? 1 : 2), one of the newest, is damaged"])
        #expect(salvage.tuples.count + salvage.claims.count == 2)
        // Nothing of it has gone: with the right state everything is back.
        ring.setState(of: state == 7 ? 1 : 2, to: state == 7 ? 3 : 1)
        try namespace.complete(claim)
        #expect(try namespace.readAll() == [["job", 2], ["job", 3]])
        try namespace.leave()
    }

    /// An error of a tuple's bytes says what was attempted, and where, whether the tuple is in the ring or in LMDB.
    @Test(arguments: [false, true])
    func aTupleThatDoesNotDecodeIsNamed(_ isInTables: Bool) async throws {
        let id = try namespace.write(tuple: ["s", "abcdefgh"]).rawValue
        guard let content = ring.content(of: ring.record(id)) else { throw TestFailure("the record has no content") }
        content[content.count - 2] = 0xff
        if isInTables { try namespace.set("cell", String(repeating: "large", count: 1000)) }
        let space = namespace
        func expect(_ operation: String, _ code: SpaceError.Code, _ body: () async throws -> Void) async {
            let error = await #expect(throws: SpaceError.self) { try await body() }
            #expect(error?.operation == operation)
            #expect(error?.namespace == space.name)
            #expect(error?.code == code)
        }
        let template: Template = ["s", .any]
        await expect("read", .damaged) { _ = try space.readIfExists(matching: template) }
        await expect("read", .damaged) { _ = try space.readAll(matching: template) }
        await expect("take", .damaged) { _ = try space.takeIfExists(matching: template) }
        await expect("take", .damaged) { _ = try await space.take(matching: template) }
        await expect("claim", .damaged) { _ = try space.claimIfExists(matching: template) }
        await expect("read", .badData) { _ = try space.readIfExists("s", any(String.self)) }
        await expect("take", .badData) { _ = try space.takeIfExists("s", any(String.self)) }
        await expect("take", .badData) { _ = try await space.take("s", any(String.self)) }
        await expect("read", .damaged) { try space.transaction { _ = try $0.readIfExists(matching: template) } }
        await expect("take", .damaged) { try space.transaction { _ = try $0.takeIfExists(matching: template) } }
        await expect("take", .badData) { try space.transaction { _ = try $0.takeIfExists("s", any(String.self)) } }
        await expect("claim", .damaged) { try space.transaction { _ = try $0.claimIfExists(matching: template) } }
        #expect(try space.count() == 1)
        try namespace.leave()
    }

    /// A number that only damage explains gets into no counter: all later commits would find the counters damaged.
    @Test(arguments: [1 << 61, 1 << 62 - 1, .max] as [UInt64])
    func aNumberOfDamageGetsIntoNoCounter(_ number: UInt64) throws {
        for number in 1...3 { try namespace.write("job", number) }
        ring.sequence.store(number)
        ring.nextNumber.store(number)
        for round in 1...2 {
            try namespace.set("cell", round)
            let claim = try #require(try namespace.claimIfExists(matching: ["job", round])?.detach())
            try namespace.complete(claim)
        }
        #expect(try namespace.readAll() == [["job", 3]])
        #expect(try namespace.verify() == [])
    }

    /// Whatever the ring's bytes are, an operation has a result or an error.
    @Test func aDamagedRingCrashesNothing() throws {
        var generator = SystemRandomNumberGenerator()
        for round in 0..<300 {
            for number in 0..<5 { try? namespace.write("job", number) }
            ring.damage(round, &generator)
            _ = try? namespace.readIfExists("job", any(Int.self))
            _ = try? namespace.takeIfExists("job", any(Int.self))
            _ = try? namespace.readAll()
            _ = try? namespace.write("job", 9)
            _ = try? namespace.set("cell", 1)
            _ = try? namespace.verify()
            // An empty ring, as a new life would have it.
            ring.clear()
            let next = try namespace.core.read { (snapshot) throws(SpaceError) in try snapshot.counters().nextTuple }
            ring.empty(next: next, isOff: false)
        }
        // What was damaged may have gone to LMDB, and is not looked for at the end.
        try namespace.leave()
    }
}

extension NearRing {
    /// Overwrites the word that says whether a tuple is there, taken or claimed.
    fileprivate func setState(of id: UInt64, to state: UInt32) {
        UnsafeMutableRawPointer(word.address).storeBytes(
            of: state,
            toByteOffset: 128 + Int(id % UInt64(NearRing.capacity)) * NearRecord.size + 8,
            as: UInt32.self
        )
    }

    fileprivate func clear() {
        UnsafeMutableRawPointer(word.address).initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
    }

    /// Overwrites some of the ring's bytes.
    fileprivate func damage(_ round: Int, _ generator: inout some RandomNumberGenerator) {
        let base = UnsafeMutableRawPointer(word.address)
        let places = round % 3 == 0 ? 0..<40 : round % 3 == 1 ? 64..<64 + 8 * 64 : 0..<NearRing.byteCount
        for _ in 0..<(round % 3 == 2 ? 2000 : 3) {
            base.storeBytes(
                of: UInt8.random(in: 0...255, using: &generator),
                toByteOffset: Int.random(in: places, using: &generator),
                as: UInt8.self
            )
        }
    }
}
