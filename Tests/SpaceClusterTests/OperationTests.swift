import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Operations that processes send to their daemon, which executes together what has come together.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct OperationTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// Takers in several processes take each tuple once.
    @Test func takersTakeEachTupleOnce() throws {
        let n = try cluster.namespaces()
        try n[0].write(contentsOf: (0..<400).map { Tuple("job", $0) })
        let takers = try (0..<8).map { _ in try Agent(cluster[0].root, "n", "owning=0") }
        let ledgers = try takers.indices.map { number in
            let ledger = Ledger(cluster[0].root, "taken-\(number)")
            try takers[number].run("ledger \(ledger.path)")
            return ledger
        }
        // All have begun before the first of them goes on.
        try stopAfterSending(takers) { _ in "take-loop 0" }
        for taker in takers { taker.resume() }
        for taker in takers { #expect(try taker.line()?.hasPrefix("ok ") == true) }
        #expect(try ledgers.flatMap { try $0.numbers() }.sorted() == Array(0..<400))
        try cluster.expectSame(n)
    }

    /// What several processes have sent while the daemon could not execute it shares an entry.
    @Test func takesShareEntries() throws {
        let n = try cluster.namespaces()
        try n[0].write(contentsOf: (0..<8).map { Tuple("job", $0) })
        let before = try n[0].status().entry
        let takers = try (0..<8).map { _ in try Agent(cluster[0].root, "n", "owning=0") }
        // While a transaction's body runs, the daemon can't begin.
        try n[0].transaction { transaction in
            try stopAfterSending(takers) { "take [\"job\", \($0)]" }
            try transaction.write("body", 1)
        }
        for taker in takers { taker.resume() }
        for taker in takers { #expect(try taker.line()?.hasPrefix("ok") == true) }
        #expect(try n[0].count(matching: ["job", any(Int.self)]) == 0)
        let entries = try n[0].status().entry - before
        // The body's, that of what the daemon had read before it began, and that of the others.
        #expect(entries <= 3, "\(entries) entries for a body and 8 takes")
        try cluster.expectSame(n)
    }

    /// Has each process send an operation, and stops it before it reads the answer.
    private func stopAfterSending(_ agents: [Agent], _ command: (Int) -> String) throws {
        for (number, agent) in agents.enumerated() {
            try agent.run("arm stop operationSent")
            try agent.send(command(number))
            try agent.waitUntilStopped()
        }
    }

    /// What a process has sent is not executed once the process is dead.
    @Test(arguments: ["take [\"job\", \"?int\"]", "claim-wait 0 [\"job\", \"?int\"]", "write [\"late\", 1]"])
    func theDeadTakeNothing(_ command: String) throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 7)
        let agent = try Agent(cluster[0].root, "n", "owning=0")
        try agent.run("arm kill operationSent")
        // While a transaction's body runs, the daemon can't begin.
        try n[0].transaction { transaction in
            try agent.send(command)
            #expect(try agent.ended() == .killed(by: SIGKILL))
            try transaction.write("body", 1)
        }
        // The daemon executes in order.
        try n[0].write("after", 1)
        #expect(try n[0].readIfExists("job", 7) != nil)
        #expect(try n[0].readIfExists("late", 1) == nil)
        #expect(try n[0].status().claims.isEmpty)
        try cluster.expectSame(n)
    }

    /// A stopped daemon executes nothing later of what its processes have given up.
    @Test func whatWasGivenUpIsNotDoneLater() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        let daemon = try #require(cluster[0].daemon)
        try daemon.stop()
        // The daemon has answered right before, so the first of them was sent.
        let codes = (2..<4).map { number in errorCode { try n[0].write("job", number) } }
        #expect(
            codes == [.outcomeUnknown, .clusterUnavailable] || codes == [.clusterUnavailable, .clusterUnavailable]
        )
        daemon.signal(SIGCONT)
        #expect(try eventually { errorCode { try n[0].write("later", 1) } == nil })
        try cluster.expectSame(n)
        #expect(try n[0].count(matching: ["job", .any]) == 1)
    }

    /// While processes wait for a stopped daemon in transactions, others open the namespace and read it.
    @Test func aStoppedDaemonKeepsNobodyOut() throws {
        let n = try cluster.namespaces()
        try n[1].write("here", 1)
        // Each of them has the gate for a while.
        let writers = try (0..<8).map { _ in try Agent(cluster[1].root, "n", "timeout=60000") }
        // All have just heard of the daemon.
        for writer in writers { #expect(try writer.ask("transact") == "ok") }
        let daemon = try #require(cluster[1].daemon)
        try daemon.stop()
        for writer in writers { try writer.send("transact") }
        // They are at the gate, or soon will be.
        for _ in 0..<4 { try cluster[1].space("read", "n", "[\"here\", 1]") }
        for writer in writers {
            let line = try writer.line() ?? "nothing"
            #expect(line.hasPrefix("error clusterUnavailable"), "\(line)")
        }
        daemon.signal(SIGCONT)
        #expect(try eventually { try writers[0].ask("transact") == "ok" })
        try cluster.expectSame(n)
    }

    /// An operation that fails is the error of its own process; what was sent with it is done.
    @Test func aFailureIsOfItsOwnProcess() throws {
        let n = try cluster.namespaces()
        try n[0].set("word", "no number")
        let agents = try (0..<4).map { _ in try Agent(cluster[0].root, "n", "owning=0") }
        try n[0].transaction { transaction in
            for (number, agent) in agents.enumerated() {
                try agent.send(number == 2 ? "increment word" : "write [\"job\", \(number)]")
            }
            try transaction.write("body", 1)
        }
        for (number, agent) in agents.enumerated() {
            let line = try #require(try agent.line())
            if number == 2 {
                #expect(line.contains("badData"), "\(line)")
            } else {
                #expect(line.hasPrefix("ok "), "\(line)")
            }
        }
        #expect(try n[0].readAll(matching: ["job", .any]).count == 3)
        try cluster.expectSame(n)
    }

    /// What the daemon has executed for a process is that process's: in the journal and in the tuple.
    @Test func whatWasSentIsOfItsProcess() throws {
        let n = try cluster.namespaces()
        let watcher = try cluster[1].runner.start("space", ["watch", "n", "--max", "1"])
        #expect(try watcher.readLine()?.contains("\"ready\"") == true)
        let writer = try Agent(cluster[0].root, "n", "owning=0")
        try writer.run("write [\"job\", 1]")
        #expect(try n[0].matches(["job", 1]).map(\.origin.pid) == [writer.pid])
        let lines = try watcher.finish().lines.dropFirst()
        #expect(lines.first?.contains("\"pid\":\(writer.pid),") == true, "\(lines)")
    }

    /// What a process has appended and not applied, because it was killed in between, its machine's daemon applies, although
    /// it leaves such entries to their processes first.
    @Test func anEntryOfTheDeadIsApplied() throws {
        let n = try cluster.namespaces()
        let agent = try Agent(cluster[0].root, "n", "owning=0")
        try agent.run("arm kill logged")
        try agent.send("transact")
        #expect(try agent.ended() == .killed(by: SIGKILL))
        // Reading writes nothing, and so applies nothing.
        #expect(try eventually { try n[0].get("cell") == Value.int(1) })
        #expect(try eventually { try n[1].get("cell") == Value.int(1) })
        try cluster.expectSame(n)
    }

    /// Cells: with conditions, with old values of every size, and with sums.
    @Test func cellsAreSetThroughTheDaemon() throws {
        let n = try cluster.namespaces()
        let large = Value.string(String(repeating: "x", count: 40_000))
        #expect(try n[0].set("k", 1) == nil)
        #expect(try n[0].set("k", large) == 1)
        #expect(try n[0].set("k", 2) == large)
        #expect(try n[0].set("k", 3, ifEquals: 1) == false)
        #expect(try n[0].set("k", 3, ifEquals: 2))
        #expect(try n[0].setIfAbsent("k", 4) == false)
        #expect(try n[0].increment("k", by: 5) == 8)
        let details = try #require(try n[0].details(of: "k"))
        #expect(try n[0].set("k", 9, ifVersion: details.version))
        #expect(try n[0].set("k", 10, ifVersion: details.version) == false)
        #expect(errorCode { try n[0].set("", 1) } == .tooLarge)
        try cluster.expectSame(n)
        #expect(try n[1].get("k") == 9)
    }
}
