import SharedSpace
import SpaceEngine
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCluster

/// A replica without any log: what bases make of it.
@Suite(.blocking, .timeLimit(.minutes(2)))
struct BaseTests {
    /// A replica that goes on from a base has the rows of the base, whatever the two had before.
    @Test(arguments: 1...5)
    func aReplicaGoesOnFromABase(seed: UInt64) throws {
        let (first, second) = (try TemporaryRoot(), try TemporaryRoot())
        let roots = (LocalReplicas(first.space), LocalReplicas(second.space))
        try work(in: first, seed: seed)
        let old = try base(roots.0)
        let replica = try roots.1.makeReplica(of: old.base, nextPart: Self.reader(of: old.parts))
        #expect(try Self.rows(of: replica) == old.parts.joined().map(\.self))
        try work(in: first, seed: seed &+ 100)
        let new = try base(roots.0)
        try replica.goOn(from: new.base, nextPart: Self.reader(of: new.parts))
        #expect(try Self.rows(of: replica) == new.parts.joined().map(\.self))
        #expect(try replica.position() == new.base.position)
        replica.close()
    }

    /// A base that is damaged leaves the replica as it was.
    @Test func aDamagedBaseChangesNothing() throws {
        let (first, second) = (try TemporaryRoot(), try TemporaryRoot())
        let roots = (LocalReplicas(first.space), LocalReplicas(second.space))
        try work(in: first, seed: 0)
        let (base, parts) = try base(roots.0)
        let replica = try roots.1.makeReplica(of: base, nextPart: Self.reader(of: parts))
        let twice = parts + parts
        let withoutCounters = try parts.map { part in
            var rows: [UInt8] = []
            try part.withBytes { (bytes) throws(SpaceError) in
                _ = try RowChange.forEach(in: bytes) { (row) throws(SpaceError) in
                    if !row.isOfCounters { row.append(to: &rows) }
                }
            }
            return rows
        }
        for damaged in [twice, withoutCounters, parts.map { Array($0.dropLast()) }] {
            let code = errorCode { try replica.goOn(from: base, nextPart: Self.reader(of: damaged)) }
            #expect(code == .damaged)
            #expect(try Self.rows(of: replica) == parts.joined().map(\.self))
        }
        replica.close()
    }

    /// Random work, of which nothing is held or claimed any more at its end.
    private func work(in root: TemporaryRoot, seed: UInt64) throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        var work = RandomWork(namespace, seed: seed)
        for _ in 0..<300 { try work.step() }
        try work.endAll()
    }

    /// A base of the namespace, which is this root's alone again.
    private func base(_ root: LocalReplicas) throws -> (base: ReplicaBase, parts: [[UInt8]]) {
        let (replica, base) = try root.found("n")
        var parts: [[UInt8]] = []
        _ = try replica.forEachPart { parts.append($0) }
        try root.abandon(replica)
        return (base, parts)
    }

    private static func rows(of replica: any Replica) throws -> [UInt8] {
        var rows: [UInt8] = []
        _ = try replica.forEachPart { rows += $0 }
        return rows
    }

    private static func reader(of parts: [[UInt8]]) -> () -> [UInt8]? {
        var rest = parts[...]
        return { rest.popFirst() }
    }
}
