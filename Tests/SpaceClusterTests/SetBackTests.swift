import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCluster
@testable import TupleSpace

/// A store that was set back to an older state, or has lost all: what only the replicas have is not lost.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct SetBackTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// The fencing number of a lock that is acquired and released.
    private func fencing(in namespace: Namespace) throws -> UInt64 {
        guard let hold = try namespace.lock("deploy").acquire(timeout: watchdog) else { throw TestFailure("no lock") }
        defer { try? hold.release() }
        return hold.fencing
    }

    /// A store that was set back to an older state: what only a replica has is set aside and reported, not deleted.
    @Test func aReplicaThatIsAheadIsSetAside() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[1].synchronize()
        try cluster.tell("save")
        try n[0].write("job", 2)
        try n[1].synchronize()
        let lostTuple = try #require(try n[1].matches(["job", 2]).first).id.rawValue
        let lost = try fencing(in: n[1])
        try cluster.tell("restore")
        // The old replicas go, and others come; a handle on an old one ends.
        let again = try cluster.machines.enumerated().map { number, machine in
            var found: Namespace?
            let writes = try eventually {
                found = try? machine.root.space.existingNamespace("n")
                return (try? found?.write("later", number)) != nil
            }
            #expect(writes)
            return try #require(found)
        }
        try cluster.expectSame(again)
        // No number is given a second time: the store has forgotten these, and other programs have seen them.
        for number in again.indices {
            #expect(try #require(try again[0].matches(["later", number]).first).id.rawValue > lostTuple)
            #expect(try fencing(in: again[number]) > lost)
        }
        #expect(try again[0].readIfExists("job", 1) != nil)
        #expect(try again[0].readIfExists("job", 2) == nil)
        for machine in cluster.machines { #expect(machine.root.entries(of: ".aside") != []) }
        #expect(try cluster[0].space("show", "n").output.contains("set aside"))
        #expect(try cluster[1].space("machines").output.contains("set aside"))
    }

    /// A store that has lost a namespace, or all of them: a replica may be the last copy, and is set aside, not deleted.
    @Test func aReplicaThatTheStoreHasLostIsSetAside() throws {
        try cluster.tell("save")
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[1].synchronize()
        try cluster.tell("restore")
        for machine in cluster.machines {
            #expect(try eventually { machine.root.entries(of: ".aside").count == 1 })
            let copy = try #require(machine.root.entries(of: ".aside").first)
            let dump = try machine.runner.start("space-dump", ["\(machine.root.path)/.aside/\(copy)"]).finish()
            #expect(dump.output.contains(#"["job",1]"#), "\(dump.output) \(dump.errors)")
            // The daemon notes it after it has moved the replica.
            let told = "the store has lost the namespace n; it was set aside"
            #expect(try eventually { try machine.machines().contains(told) })
        }
        // A daemon that is started later says so, too.
        try cluster.end(0)
        try cluster.start(0)
        #expect(try cluster[0].space("machines").output.contains("a replica was set aside"))
        // The name can be used again.
        let again = try cluster.namespaces()
        try again[0].write("job", 2)
        try cluster.expectSame(again)
        for machine in cluster.machines { #expect(machine.root.entries(of: ".aside").count == 1) }
    }

    /// The way back after the store was lost, in the article's commands: a copy is dumped and loaded, whatever its size.
    @Test func theWayBackAfterTheStoreWasLost() throws {
        try cluster.tell("save")
        let n = try cluster.namespaces()
        for batch in 0..<15 {
            try n[0].write(contentsOf: (0..<2000).map { ["job", batch * 2000 + $0, "a text of some length"] as Tuple })
        }
        for key in 0..<4 { try n[0].set("large.\(key)", String(repeating: "x", count: 250_000)) }
        try n[1].synchronize()
        try cluster.tell("restore")
        for machine in cluster.machines { #expect(try eventually { machine.root.entries(of: ".aside").count == 1 }) }
        let copy = try #require(cluster[0].root.entries(of: ".aside").first)
        let environment = ["SHARED_SPACE_OWNER": "\(getpid())", "COPY": "\(cluster[0].root.path)/.aside/\(copy)"]
        let back = try cluster[0].runner.shell(
            "space-dump $COPY --format json > $COPY.dump && space load n --replicated < $COPY.dump",
            environment: environment
        )
        #expect(back.ending == .exited(0), "\(back.errors)")
        let again = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        for namespace in again {
            try namespace.synchronize()
            #expect(try namespace.count(matching: ["job", .any, .any]) == 30_000)
            #expect(try namespace.get("large.3") == String(repeating: "x", count: 250_000))
        }
        try again[1].write("job", 1)
        try cluster.expectSame(again)

        // Loaded once more, it is refused with the way, and nothing is there twice.
        let twice = try cluster[0].runner.shell("space load n --replicated < $COPY.dump", environment: environment)
        #expect(twice.ending == .exited(65) && twice.errors.contains("load it under a new name"), "\(twice.errors)")
        #expect(try again[0].count(matching: ["job", .any, .any]) == 30_000)
    }

    /// A load that can't become a shared namespace makes none of this machine alone.
    @Test func aLoadThatIsNotSharedLeavesNothing() throws {
        let n = try cluster.namespaceOfFirst("source")
        for number in 0..<1000 { try n.write("job", number) }
        try cluster.end(0)
        let loaded = try cluster[0].runner.shell(
            "space-dump source --format json | space load m --replicated",
            environment: ["SHARED_SPACE_OWNER": "\(getpid())"]
        )
        #expect(loaded.ending == .exited(75), "\(loaded.errors)")
        #expect(try cluster[0].root.space.namespaceNames() == ["source"])
    }

    /// Numbers of later moments are larger, and a clock that shows any year leaves enough of them.
    @Test func theClockGivesNumbersThatFit() {
        let now: Int64 = 1_796_000_000_000
        #expect(FreeNumbers.ofNow(now).tuple > 1 << 40)
        #expect(FreeNumbers.ofNow(now + 1000).tuple - FreeNumbers.ofNow(now).tuple == 1 << 16)
        for clock in [Int64.min, -1, 0, .max] {
            #expect(FreeNumbers.ofNow(clock).tuple <= 1 << 47 && FreeNumbers.ofNow(clock).other <= 1 << 47)
        }
    }
}
