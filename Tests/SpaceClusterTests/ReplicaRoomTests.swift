import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Namespaces of several machines at their limit.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct ReplicaRoomTests {
    private let cluster: TestCluster
    private static let limit = 16 << 20

    init() throws { cluster = try TestCluster() }

    /// A namespace with the smallest limit, on each machine.
    private func namespaces() throws -> [Namespace] {
        let options = NamespaceOptions(isPersistent: true, byteLimit: Self.limit, isReplicated: true)
        _ = try cluster[0].root.space.namespace("n", options: options)
        return try cluster.namespaces()
    }

    /// An entry that its machine had just the room for has it on each other machine too, whatever pages are free there.
    @Test func anEntryHasRoomWhereverItGoes() throws {
        let n = try namespaces()
        let value = Value.string(String(repeating: "y", count: 150_000))
        for key in 0..<40 { try n[0].set("\(key)", value) }
        try n[0].write(contentsOf: (0..<3000).map { ["small", $0] as Tuple })
        let watcher = try Agent(cluster[1].root, "n", "owning=0")
        #expect(try watcher.ask("watch").hasPrefix("ok"))
        for key in 0..<40 { try n[0].set("\(key)", value) }
        for most in [5, 20, 60, 120, 250, 500] {
            #expect(try n[0].takeAll(matching: ["small", .any], max: most).count == most)
            try n[1].synchronize()
        }
        try cluster.expectSame(n)
    }

    /// Machines that fill a namespace, one after the other, keep its limit, and each can take from it.
    @Test func theLimitIsKeptByEachMachine() throws {
        let n = try namespaces()
        let text = String(repeating: "x", count: 100)
        var written = 0
        for round in 0..<6 {
            let code = errorCode {
                while true {
                    try n[round % 2].write(contentsOf: (0..<400).map { ["t", $0, text] as Tuple })
                    written += 400
                }
            }
            #expect(code == .limitReached)
        }
        // A tuple takes more than a hundred bytes.
        #expect(written * 100 < Self.limit)
        for namespace in n {
            try namespace.synchronize()
            #expect(try namespace.takeAll(matching: ["t", .any, .any], max: 400).count == 400)
        }
        try cluster.expectSame(n)
    }

    /// A replica without room for an entry ends no member if the room is there again soon: a stopped reader keeps old pages.
    ///
    /// If it stays without, the member ends, and that is told.
    @Test func aReplicaWithoutRoomIsTriedAgain() throws {
        let n = try namespaces()
        let worker = try cluster.claimant(of: n)
        let reader = try Agent(cluster[1].root, "n", "owning=0")
        /// Changes the namespace until the second machine's replica is full.
        func fill() throws {
            try reader.run("arm stop snapshotTaken")
            try reader.send("count [\"job\", 1]")
            try reader.waitUntilStopped()
            let text = String(repeating: "x", count: 400_000)
            func isFull() throws -> Bool { try cluster[1].machines("--json").contains("the replica: ") }
            for number in 0..<120 {
                try n[0].write("large", number, text)
                #expect(try n[0].takeIfExists("large", number, .any) != nil)
                // Its member ends a while later.
                if number % 8 == 7, try isFull() { return }
            }
            #expect(try eventually(isFull))
        }
        try fill()
        reader.resume()
        #expect(try reader.line()?.hasPrefix("ok") == true)
        try n[1].synchronize()
        #expect(try worker.ask("complete 0").hasPrefix("ok"))
        try fill()
        #expect(try eventually { try n[0].status().machines == ["m0"] })
        reader.resume()
        #expect(try reader.line()?.hasPrefix("ok") == true)
        #expect(try eventually { try n[0].status().machines == ["m0", "m1"] })
        let daemon = try #require(cluster[1].daemon)
        let told = "has ended, and others get what its processes held"
        #expect(try cluster[1].space("show", "n").output.contains(told))
        // The machine has another number in the namespace now, and is one machine.
        let machines = try cluster[0].space("machines", "--json").lines.count { $0.contains(#""kind":"machine""#) }
        #expect(machines == 2)
        var line = try daemon.readErrorLine()
        while let told = line, !told.contains("n: member") { line = try daemon.readErrorLine() }
        #expect(line?.contains(told) == true)
    }

    /// A machine that returns applies what it has missed in parts, so that freed pages are used again: also if the first to
    /// write there is a process that has waited.
    @Test func aReturningMachinesFileStaysSmall() throws {
        let n = try namespaces()
        let lock = try n[0].lock("L").acquire(timeout: watchdog).inTime()
        let waiter = try cluster[1].runner.start("space", ["lock", "n", "L", "--wait", "10m", "--", "true"])
        #expect(try eventually { try n[1].status().waiters.contains { $0.pid == waiter.pid } })
        try cluster.end(1, by: SIGKILL)
        // Changes of small rows, which a transaction has to be sure of more room for than it needs.
        let text = String(repeating: "x", count: 300)
        for _ in 0..<400 {
            try n[0].write(contentsOf: (0..<100).map { ["small", $0, text] as Tuple })
            #expect(try n[0].takeAll(matching: ["small", .any, .any]).count == 100)
        }
        try cluster.start(1)
        #expect(try eventually { try n[0].status().holds.count == 2 })
        try n[1].synchronize()
        let file = try Directory.info(at: AT_FDCWD, "\(cluster[1].root.path)/n/data.mdb")
        #expect(file.allocated <= 2 * Self.limit, "\(file.allocated)")
        try lock.release()
        #expect(try waiter.finish().ending == .exited(0))
        try cluster.expectSame(n)
    }

    /// A command takes all that there is, also if the changes of so many takes do not fit one entry.
    @Test func aTakeOfAllIsCompletedInParts() throws {
        let n = try cluster.namespaces()
        let watcher = try Agent(cluster[0].root, "n", "owning=0")
        #expect(try watcher.ask("watch").hasPrefix("ok"))
        // Some of them claim as many at once as an entry can just have.
        for size in 16_020...16_045 {
            let text = String(repeating: "b", count: size)
            for first in [1000, 1014, 1028, 1042, 1056] {
                try n[0].write(contentsOf: (first..<first + 14).map { ["t", $0, text] as Tuple })
            }
            let taken = try cluster[0].space("take", "n", "[\"t\", \"?int\", \"?\"]", "--all", "--field", "1").lines
            #expect(taken == (1000..<1070).map { "\($0)" }, "\(size)")
        }
        #expect(try n[0].count() == 0)
    }
}
