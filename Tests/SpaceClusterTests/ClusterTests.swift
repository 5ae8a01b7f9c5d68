import Glibc
import SharedSpaceObjects
import SpaceEngine
import SpaceMachines
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

/// What several machines share: each feature, written on one and seen on another.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct ClusterTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// A tuple that one machine writes is taken once, on the other, by a taker that has waited for it.
    @Test func aTakerElsewhereIsWoken() throws {
        let n = try cluster.namespaces()
        let taker = try Agent(cluster[1].root, "n", "owning=0")
        try taker.block("take-wait 60000 [\"job\", \"?int\"]", in: n[1])
        try n[0].write("job", 7)
        #expect(try taker.line() == "ok [\"job\",7]")
        // The entry woke the taker, not a tick.
        #expect(try taker.run("late") == "0")
        try cluster.expectSame(n)
        #expect(try n[0].readIfExists("job", 7) == nil)
    }

    /// A transaction, cells with conditions, counters, a queue and an ordered set are the same on both machines.
    @Test func everyFeatureIsShared() throws {
        let n = try cluster.namespaces()
        try n[0].transaction { transaction in
            try transaction.write("balance", 10)
            _ = try transaction.set("owner.name", "m0")
        }
        try n[1].synchronize()
        #expect(try n[1].get("owner.name") == "m0")
        #expect(try n[1].takeIfExists("balance", 10) != nil)
        #expect(try n[0].takeIfExists("balance", 10) == nil)
        try n[1].queue("mail").put("letter")
        // A look that does not wait sees what this machine has.
        try n[0].synchronize()
        #expect(try n[0].queue("mail").takeIfReady()?.detach().value == "letter")
        try n[0].orderedSet("set", of: Int.self).append(contentsOf: 0..<100)
        try n[1].orderedSet("set", of: Int.self).remove(50)
        try n[0].synchronize()
        #expect(try n[0].orderedSet("set", of: Int.self).count == 99)
        for round in 0..<20 { _ = try n[round % 2].increment("sum", by: round) }
        try n[0].synchronize()
        #expect(try n[0].get("sum") == .int(190))
        try cluster.expectSame(n)
    }

    /// A watcher on one machine sees what both write, in order, and from which machine it came.
    @Test func aWatcherSeesBothMachines() throws {
        let n = try cluster.namespaces()
        let watcher = try cluster[1].runner.start("space", ["watch", "n", "--max", "4"])
        #expect(try watcher.readLine()?.contains("\"ready\"") == true)
        for number in 0..<4 { try n[number % 2].write("job", number) }
        let result = try watcher.finish()
        #expect(result.ending == .exited(0), "\(result.errors)")
        // The first line says that the watcher is ready.
        let lines = result.lines.dropFirst()
        #expect(lines.count == 4)
        for (number, line) in lines.enumerated() {
            #expect(line.contains("\"tuple\":[\"job\",\(number)]"), "\(line)")
            #expect(line.contains("\"machine\":\"m0\"") == (number % 2 == 0), "\(line)")
        }
    }

    /// A lock is held on one machine at a time, and the fencing numbers rise over machines.
    @Test func aLockIsHeldOnce() throws {
        let n = try cluster.namespaces()
        guard let first = try n[0].lock("deploy").tryAcquire() else {
            Issue.record("the lock is not free")
            return
        }
        let fencing = first.fencing
        let waiter = try Agent(cluster[1].root, "n", "owning=0")
        try n[1].synchronize()
        #expect(try waiter.ask("lock deploy 0") == "waiting")
        #expect(try waiter.line()?.hasPrefix("error timedOut") == true)
        #expect(try waiter.ask("lock deploy 60000") == "waiting")
        #expect(try eventually { try n[0].status().holds.count == 2 })
        try first.release()
        #expect(try waiter.line()?.hasPrefix("ok") == true)
        #expect(try #require(try n[1].status().holds.first).fencing > fencing)
        try waiter.exit()
        try cluster.expectSame(n)
    }

    /// Many processes on three machines take what others write: each tuple is taken once.
    @Test func eachTupleIsTakenOnce() throws {
        let cluster = try TestCluster(machines: 3)
        let n = try cluster.namespaces()
        let (writers, takers) = (
            try (0..<3).map { try Agent(cluster[$0].root, "n", "owning=0") },
            try (0..<6).map { try Agent(cluster[$0 % 3].root, "n", "owning=0") }
        )
        let ledgers = (0..<6).map { Ledger(cluster[0].root, "taken-\($0)") }
        for (taker, ledger) in zip(takers, ledgers) {
            try taker.run("ledger \(ledger.path)")
            try taker.send("take-loop 60000")
        }
        for (number, writer) in writers.enumerated() { try writer.send("write-loop \(number * 1000) 100") }
        for writer in writers {
            let line = try writer.line()
            #expect(line == "ok 100")
        }
        #expect(try eventually { try ledgers.reduce(0) { try $0 + $1.numbers().count } == 300 })
        let all = try ledgers.flatMap { try $0.numbers() }.sorted()
        #expect(all == (0..<3).flatMap { machine in (0..<100).map { machine * 1000 + $0 } })
        for taker in takers { try taker.kill() }
        try cluster.expectSame(n)
    }

    /// If another machine gets the pen while a transaction's body runs, and writes nothing, what the body does counts.
    @Test func aTransactionSurvivesTheLossOfThePen() throws {
        let n = try cluster.namespaces()
        var (runs, hasGone) = (0, false)
        try n[0].transaction { transaction in
            runs += 1
            // The other machine gets the pen in the middle, before its own body runs.
            try? n[1].transaction { _ in
                hasGone = true
                throw TestFailure("nothing is written")
            }
            try transaction.write("mine", 1)
        }
        #expect(runs == 1 && hasGone)
        #expect(try n[1].take("mine", 1, timeout: watchdog) != nil)
        try cluster.expectSame(n)
    }

    /// A transaction's body runs once, also if its entry was refused and the machine then takes no part any more.
    @Test func aRefusedBodyDoesNotRunAgain() throws {
        let namespace = try cluster.namespaceOfFirst()
        namespace.core.daemon.ownExchange = { RefusingDaemon() }
        var runs = 0
        let error = try refusal {
            try namespace.transaction { transaction in
                runs += 1
                try transaction.write("mine", 1)
            }
        }
        #expect(error.code == .outrun)
        #expect(runs == 1)
    }

    /// If another machine writes while a transaction's body runs, nothing of it counts: the library's own body runs again,
    /// and a user's, which runs once, fails with an error that says so.
    @Test func anOutrunTransactionChangesNothing() throws {
        let n = try cluster.namespaces()
        try n[0].write("count", 0)
        for (repeats, expected) in [(false, 1), (true, 2)] {
            var runs = 0
            func body(_ t: borrowing Transaction) throws {
                runs += 1
                // The other machine gets the pen in the middle of the first run.
                if runs == 1 { try n[1].write("other", expected) }
                guard let (_, count) = try t.takeIfExists("count", any(Int.self)) else { throw TestFailure("no count") }
                try t.write("count", count + 1)
            }
            if repeats {
                try n[0].repeatableTransaction(body)
            } else {
                #expect(try refusal { try n[0].transaction(body) }.code == .outrun)
            }
            #expect(runs == expected)
        }
        #expect(try n[0].readIfExists("count", 1) != nil)
        #expect(try n[0].count(matching: ["other", .any]) == 2)
        try cluster.expectSame(n)
    }

    /// A log of one machine is none of several, and can't be ended as one.
    @Test(arguments: [["--no-log"], ["--to", "log", "--each-commit"]])
    func theMachinesLogIsNotEnded(_ options: [String]) throws {
        let n = try cluster.namespaces()
        let words = ["backup", "n"] + options.map { $0 == "log" ? "\(cluster[1].root.path)/log" : $0 }
        let result = try cluster[1].runner.start("space", words).finish()
        #expect(result.ending == .exited(69) && result.errors.contains("several machines share it"), "\(result.errors)")
        try n[1].write("job", 1)
        try n[0].synchronize()
        #expect(try n[0].readIfExists("job", 1) != nil)
        try cluster.expectSame(n)
    }
}

/// A daemon that gives the pen, refuses the entry, and takes no part any more when the pen is wanted again.
private final class RefusingDaemon: DaemonExchange {
    private var wasRefused = false

    func exchange(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) -> DaemonAnswer {
        switch request {
        case .pen(let entry): return wasRefused ? .joining("it takes no part") : .pen(1, head: entry)
        case .append:
            wasRefused = true
            return .refused("the pen has changed meanwhile")
        default: return .unavailable("it does nothing else")
        }
    }

    func send(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) {}
}
