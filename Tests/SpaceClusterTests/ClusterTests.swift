import Glibc
import SharedSpace
import SpaceCluster
import SpaceEngine
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
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
            _ = try transaction.set("owner.name", value: "m0")
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
        namespace.core.engine.ownExchange = { RefusingDaemon() }
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

    /// What `join` and `machines` can't do, they say as sentences about themselves.
    @Test(arguments: [["join", "--store", "/nowhere", "--space", "x/y"], ["machines"]])
    func commandsNameWhatTheyCanNotDo(_ words: [String]) throws {
        let root = try TemporaryRoot()
        let result = try CommandRunner(root: root.path).start("space", words).finish()
        #expect(result.errors.hasPrefix("space: cannot \(words[0] == "join" ? "join the cluster" : "ask the daemon")"))
        #expect(!result.errors.contains("nothing was changed"), "\(result.errors)")
    }

    /// A daemon that does not reach the store says so, and why, each reason once, and goes on trying.
    @Test func aDaemonSaysWhyItHasNotJoined() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let words = ["join", "--store", store, "--name", "m0", "--lease", "2s"]
        let daemon = try CommandRunner(root: root.path).start("space", words)
        let line = try daemon.readErrorLine()
        #expect(line?.hasPrefix("space: m0 has not joined yet: ") == true, "\(line ?? "nothing")")
        #expect(line?.hasSuffix("; trying again; look with: space machines") == true, "\(line ?? "nothing")")
        // It tries again, and fails again, and does not repeat what it has said.
        let listener = try LocalSocket.listening(store)
        for _ in 0..<3 { #expect(try eventually { try LocalSocket.accept(listener.raw) != nil }) }
        _ = consume listener
        #expect(unlink(store) == 0)
        let server = try CommandRunner(root: root.path).start("space-test-store", [store])
        #expect(try daemon.readLine() == "joined m0")
        // Its lease ends with the store.
        server.signal(SIGKILL)
        while let line = try daemon.readErrorLine(), !line.hasPrefix("space: m0 is no member any more: ") {
            #expect(line.hasPrefix("space: m0 has not joined yet: "), "\(line)")
        }
        daemon.signal(SIGTERM)
        let lines = try daemon.finish().errors.split(separator: "\n")
        #expect(lines.count >= 2 && Set(lines).count == lines.count, "\(lines)")
    }

    /// What is wrong with the store is said once.
    @Test func aDaemonSaysWhatIsWrongWithTheStore() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let server = try CommandRunner(root: root.path).start("space-test-store", [store])
        #expect(try server.readLine() == "ready")
        try server.send("trouble the alarm NOSPACE\n")
        #expect(try server.readLine() == "done")
        let words = ["join", "--store", store, "--name", "m0", "--lease", "60s"]
        let daemon = try CommandRunner(root: root.path).start("space", words)
        #expect(try daemon.readLine() == "joined m0")
        #expect(try daemon.readErrorLine() == "space: m0: the alarm NOSPACE")
        try server.send("trouble the alarm CORRUPT\n")
        #expect(try server.readLine() == "done")
        #expect(try daemon.readErrorLine() == "space: m0: the alarm CORRUPT")
        #expect(try daemon.readErrorLine() == "space: m0: no more: the alarm NOSPACE")
        daemon.signal(SIGTERM)
        #expect(try daemon.finish().errors.split(separator: "\n").count == 3)
        server.signal(SIGKILL)
    }

    /// A daemon goes on if no process reads what it prints, and SIGTERM ends it.
    @Test func aFullPipeStopsNoDaemon() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let listener = try LocalSocket.listening(store)
        let daemon = try CommandRunner(root: root.path).start(
            "/bin/sh",
            ["-c", "head -c 65536 /dev/zero >&2; exec space join --store \(store) --name m0"]
        )
        for _ in 0..<3 { #expect(try eventually { try LocalSocket.accept(listener.raw) != nil }) }
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
    }

    /// A daemon that has lost its watch, and not its lease, has been a member all the time, and says nothing.
    @Test func aDaemonThatStaysAMemberSaysNothing() throws {
        try cluster.tell("leader no")
        try cluster.tell("leader yes")
        // Each daemon has found all namespaces again when it finds a new one.
        _ = try cluster.namespaces()
        for machine in cluster.machines {
            let daemon = try #require(machine.daemon)
            daemon.signal(SIGTERM)
            #expect(try daemon.finish().errors == "")
        }
    }

    /// Several processes of two machines make the same namespace at once: one of them makes it, and all use it.
    @Test func manyMakeOneNamespaceAtOnce() throws {
        for round in 0..<5 {
            let makers = try [0, 1, 0, 0, 1, 0].map { number in
                try cluster[number].runner.start(
                    "space",
                    ["write", "at-once-\(round)", "--replicated", "--persistent", "[\(number)]", "--timeout", "60s"]
                )
            }
            for maker in makers {
                let result = try maker.finish()
                #expect(result.ending == .exited(0), "\(result.errors)")
            }
            let n = try cluster.machines.map { try TestCluster.open("at-once-\(round)", in: $0) }
            try cluster.expectSame(n)
            #expect(try n[0].count(matching: [.any]) == makers.count)
        }
    }

    /// A process that waits for a namespace does not keep it from becoming a shared one: it waits until it is one.
    @Test func aConsumerWaitsUntilTheNamespaceIsShared() throws {
        let maker = try Agent()
        try maker.run("arm stop published")
        try maker.send("open \(cluster[0].root.path) n replicated=1 persistent=1")
        try maker.waitUntilStopped()
        let watcher = try cluster[0].runner.start("space", ["watch", "n", "--wait", "10m", "--max", "1"])
        // It waits for the lock of the name.
        #expect(try eventually { watcher.openFiles.contains { $0.hasSuffix("/.cluster/making") } })
        maker.resume()
        #expect(try maker.line() == "ok")
        #expect(try watcher.readLine()?.contains("\"ready\"") == true)
        try maker.run("write [\"job\", 1]")
        #expect(try watcher.finish().ending == .exited(0))
        let n = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        try cluster.expectSame(n)
    }

    /// What a killed maker has left becomes the machines' namespace, or makes room for the one that they share meanwhile.
    @Test(arguments: [false, true])
    func aKilledMakersNamespaceIsUsed(isMadeElsewhere: Bool) throws {
        let maker = try Agent()
        try maker.run("arm kill published")
        try maker.send("open \(cluster[1].root.path) n replicated=1 persistent=1")
        #expect(try maker.ended() == .killed(by: SIGKILL))
        let words = ["write", "n", "--replicated", "--persistent"]
        if isMadeElsewhere { try cluster[0].space(words + ["[\"a\"]"]) }
        try cluster[1].space(words + ["[\"b\"]"])
        let n = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        try cluster.expectSame(n)
        #expect(try n[0].count() == (isMadeElsewhere ? 2 : 1))
    }

    /// A daemon whose root is gone ends, and makes no root anew.
    @Test func aDaemonMakesNoRoot() throws {
        let cluster = try TestCluster(machines: 1)
        for name in ["a", "b", "c"] { _ = try cluster.namespaceOfFirst(name) }
        let (root, daemon) = (cluster[0].root.path, try #require(cluster[0].daemon))
        try daemon.stop()
        #expect(rename(root, "\(root)-moved") == 0)
        daemon.signal(SIGCONT)
        #expect(try daemon.finish().ending == .exited(74))
        #expect(
            errorCode { _ = try system(root) { () throws(Errno) in try Directory.info(at: AT_FDCWD, root) } } != nil
        )
        #expect(rename("\(root)-moved", root) == 0)
        try cluster.start(0)
    }

    /// Several processes of two machines make and delete the same namespace at once: each deletion ends what it finds, and
    /// who makes the namespace waits for nothing that was deleted.
    @Test func manyMakeAndDeleteOneNamespace() throws {
        for _ in 0..<40 {
            let commands = try [0, 1, 1, 0, 1].enumerated().map { index, number in
                let words = index == 3 ? ["delete", "n"] : ["write", "n", "--replicated", "[\(index)]"]
                return try cluster[number].runner.start("space", words)
            }
            for command in commands {
                let result = try command.finish()
                #expect([.exited(0), .exited(69)].contains(result.ending), "\(result)")
            }
        }
        // The namespace that is left has one pen at most, and works on both machines once a deleted replica is removed.
        #expect(try cluster.ask("keys /pen") <= 1)
        let words = ["write", "n", "--replicated", "[\"last\"]"]
        #expect(try eventually { try cluster[0].runner.start("space", words).finish().ending == .exited(0) })
        let n = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        try cluster.expectSame(n)
        #expect(try n[1].readIfExists("last") != nil)
    }

    /// A process that is stopped while it makes a namespace keeps the others from making that one, and no other.
    @Test func aStoppedMakerKeepsOnlyItsName() throws {
        let machine = cluster[0]
        // As such a process does.
        let making = try OwnedDescriptor.open("\(machine.root.path)/.cluster/making", flags: O_RDWR)
        #expect(try FileLock.tryExclusive(making.raw, byte: Int(hash64(Array("made".utf8)) & 0x3fff_ffff)))
        let words = ["write", "made", "--replicated", "--persistent", "--timeout", "300ms", "[1]"]
        let result = try machine.runner.start("space", words).finish()
        #expect(result.ending == .exited(75))
        #expect(result.errors.contains("holds the lock of its name"), "\(result.errors)")
        try machine.space("write", "other", "--replicated", "--persistent", "[1]")
        _ = consume making
        try machine.space("write", "made", "--replicated", "--persistent", "[1]")
    }

    /// A mark that a killed daemon has left keeps no process from using the namespace.
    @Test func anOldMarkKeepsNobodyOut() throws {
        let n = try cluster.namespaces()
        let mark = "\(cluster[0].root.path)/.cluster/\(DaemonSocket.mark(of: try NamespaceName("n")))"
        try write([], toFile: mark)
        try cluster[0].space("write", "n", "--replicated", "[\"job\", 1]")
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

    /// A daemon that ends takes the program that connects it along, also one that is stopped.
    @Test func aStoppedConnectorEndsWithItsDaemon() throws {
        let root = try TemporaryRoot()
        let daemon = try Self.daemon(
            in: root,
            connectedBy: "echo $$ > \(root.path)/pid; exec space-test-store relay \(cluster.store)"
        )
        #expect(try daemon.readLine() == "joined m9")
        let line = String(decoding: try bytes(ofFile: "\(root.path)/pid").dropLast(), as: UTF8.self)
        let pid = try #require(pid_t(line))
        #expect(kill(pid, SIGSTOP) == 0)
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }

    /// The same, if the program that connects it says so, and not the daemon itself.
    @Test func aConnectorThatGivesUpIsNotTriedAgain() throws {
        let root = try TemporaryRoot()
        let daemon = try Self.daemon(in: root, connectedBy: "echo 'no file' >&2; exit 66")
        let result = try daemon.finish()
        #expect(result.ending == .exited(64))
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("join the cluster: no file"), "\(result.errors)")
    }

    /// A daemon that has joined goes on when the program that connects it can't.
    ///
    /// Each call that fails says why, and the program is started again. Its member is the same after that.
    @Test func aConnectorThatGivesUpLaterIsStartedAgain() throws {
        let root = try TemporaryRoot()
        let daemon = try Self.daemon(
            in: root,
            connectedBy: """
                [ ! -e \(root.path)/broken ] || { echo 'no certificate' >&2; exit 66; }
                exec space-test-store relay \(cluster.store)
                """
        )
        #expect(try daemon.readLine() == "joined m9")
        let n = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true, isReplicated: true))
        try n.write("job", 1)
        guard let claim = try n.claimIfExists(matching: ["job", 1]) else { throw TestFailure("no tuple") }
        let (program, broken) = ("\(root.path)/space-etcd", "\(root.path)/broken")
        try Self.makeProgram("", at: broken)
        try cluster.tell("cut")
        #expect(try eventually { Self.failsToWrite(to: n, because: "no certificate") })
        // Nor can it be found for a while.
        #expect(rename(program, broken) == 0)
        #expect(try eventually { Self.failsToWrite(to: n, because: "space-etcd can't be started: No such file") })
        #expect(rename(broken, program) == 0)
        #expect(try eventually { errorCode { try n.write("late", 1) } == nil })
        try claim.complete()
        daemon.signal(SIGTERM)
        #expect(try daemon.finish().errors == "")
    }

    /// Starts a daemon that a program connects; the program is a script of the shell.
    private static func daemon(in root: TemporaryRoot, connectedBy script: String) throws -> RunningCommand {
        try makeProgram("#!/bin/sh\n\(script)\n", at: "\(root.path)/space-etcd")
        let command = "PATH=\(root.path):$PATH exec space join --etcd http://127.0.0.1:1 --name m9 --lease 60s"
        return try CommandRunner(root: root.path).start("/bin/sh", ["-c", command])
    }

    private static func failsToWrite(to namespace: Namespace, because reason: String) -> Bool {
        do {
            try namespace.write("late", 0)
            return false
        } catch {
            return "\(error)".contains(reason)
        }
    }

    private static func makeProgram(_ text: String, at path: String) throws {
        let file = try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: .create,
            permissions: .ownerReadWriteExecute
        )
        _ = try file.closeAfter { try file.writeAll(text.utf8) }
    }

    /// A daemon that can't work with its arguments ends with an error, and does not say that it tries again.
    @Test func aDaemonThatGivesUpReportsNothingElse() async throws {
        let root = try TemporaryRoot()
        let daemon = try ClusterDaemon(root: LocalReplicas(root.space), machine: "m0", prefix: "p", space: "s") {
            throw SpaceError(.invalidArgument, reason: "these arguments can't work")
        }
        let reports = Mutex<[DaemonNews]>([])
        await #expect(throws: SpaceError.self) {
            try await daemon.run { report in reports.withLock { $0.append(report) } }
        }
        #expect(reports.withLock { $0 } == [])
    }

    @Test(arguments: [("", "p"), (tooLong, "p"), ("m", ""), ("m", tooLong), ("m", "p/")])
    func namesOfADaemonAreBounded(_ machine: String, _ prefix: String) throws {
        let root = try TemporaryRoot()
        let error = try refusal {
            _ = try ClusterDaemon(root: LocalReplicas(root.space), machine: machine, prefix: prefix, space: "s") {
                throw CancellationError()
            }
        }
        #expect(error.code == (machine == "m" ? .invalidName : .invalidArgument))
    }

    private static let tooLong = String(repeating: "m", count: 256)

    /// A daemon ends if its files are not where processes and other daemons look for them, and no other one serves the root
    /// before that.
    @Test(arguments: [".cluster", ".cluster/lock", ".cluster/socket"])
    func aDaemonEndsWithItsFiles(_ moved: String) throws {
        let cluster = try TestCluster(machines: 1)
        let namespace = try cluster.namespaceOfFirst()
        let root = cluster[0].root.path
        let daemon = try #require(cluster[0].daemon)
        try daemon.stop()
        #expect(rename("\(root)/\(moved)", "\(root)/moved") == 0)
        let other = try cluster[0].runner.start("space", ["join", "--store", cluster.store, "--name", "other"]).finish()
        #expect(other.ending == .exited(75), "\(other.errors)")
        daemon.signal(SIGCONT)
        let end = try daemon.finish()
        #expect(end.ending == .exited(74))
        #expect(end.errors.contains("cannot serve the root: the daemon's file \"\(root)/.cluster/"), "\(end.errors)")
        try cluster.start(0)
        try namespace.write("job", 1)
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
