import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// What is done on one machine to an item that a worker of another machine has, and to a queue that machines share.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct ClusterQueueTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// A worker of the second machine, which has an item.
    private func worker(_ words: String...) throws -> RunningCommand {
        let worker = try cluster[1].runner.start(
            "space",
            ["queue", "n", "q", "take"] + words + ["--", "/bin/sh", "-c", "echo on; exec sleep 1000"]
        )
        #expect(try worker.readLine() == "on")
        return worker
    }

    @Test func anItemOfAnotherMachinesWorkerIsCancelled() throws {
        let n = try cluster.namespaces()
        let ids = try n[0].queue("q").put(contentsOf: [1, 2], group: "g")
        let worker = try worker()
        #expect(try n[0].queue("q").cancel(ids[0]) == .taken)
        #expect(try worker.finish().ending == .exited(75))
        #expect(try n[0].queue("q").takeIfReady()?.detach().id == ids[1])
        try cluster.expectSame(n)
    }

    @Test func anItemOfAnotherMachinesWorkerIsExtended() throws {
        let n = try cluster.namespaces()
        let id = try n[0].queue("q").put(1).id
        let worker = try worker("--ttr", "10m")
        #expect(try n[0].queue("q").extend(id, by: .seconds(36_000)))
        try cluster.expectSame(n)
        #expect(try #require(try n[1].queue("q").item(id)?.due) > .seconds(30_000))
        worker.signal(SIGTERM)
        #expect(try worker.finish().ending == .signalled(SIGTERM))
        try cluster.expectSame(n)
    }

    @Test func aQueueIsSetAndRemovedForAllMachines() throws {
        let n = try cluster.namespaces()
        let queues = n.map { $0.queue("q", deliveries: 5, bound: 2) }
        try queues[0].put(contentsOf: [1, 2])
        try queues[1].set(deliveries: 1, bound: 3)
        try queues[0].put(3)
        guard let item = try queues[0].takeIfReady() else { throw TestFailure("there is no item") }
        try item.release()
        try cluster.expectSame(n)
        #expect(try queues[1].counts()[.buried] == 1)
        let worker = try worker()
        #expect(errorCode { try queues[0].remove() } == .invalidArgument)
        #expect(try queues[0].remove(cancellingTaken: true) == 3)
        #expect(try worker.finish().ending == .exited(75))
        try cluster.expectSame(n)
        #expect(try n[1].objects.isEmpty)
        // A worker that waits on one machine gets what the next queue of the name has on another.
        let waiting = try cluster[1].runner.start("space", ["queue", "n", "q", "take", "--wait", "--", "cat"])
        #expect(try eventually { try n[1].status().holds.contains { $0.pid == waiting.pid } })
        try queues[0].put(7)
        #expect(try waiting.finish().output == "7\n")
        try cluster.expectSame(n)
    }

    /// An item held on the second machine, from command to command, is its owner's, and no other machine's process with
    /// the same PID.
    @Test func anItemIsHeldOnItsMachine() throws {
        let n = try cluster.namespaces()
        let ids = try n[0].queue("q").put(contentsOf: [1, 2, 3])
        for id in ids { #expect(try cluster[1].space("queue", "n", "q", "take", "--hold").lines == ["\(id)"]) }
        #expect(try n[0].queue("q").item(ids[0], heldFor: try .current) == nil)
        try cluster[1].space("queue", "n", "q", "complete", "\(ids[0])")
        try cluster[1].space("queue", "n", "q", "bury", "\(ids[1])")
        try cluster[1].space("queue", "n", "q", "release", "\(ids[2])")
        try cluster.expectSame(n)
        let counts = try n[0].queue("q").counts()
        #expect(counts[.ready] == 1 && counts[.buried] == 1 && counts[.taken] == 0)
    }
}
