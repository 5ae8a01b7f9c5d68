import Glibc
import SharedSpace
import SpaceCluster
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

/// A store that loses answers and requests, does them twice, has no leader, forgets its history, or is set back.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct StoreFaultTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// A commit whose answer is lost, whose request is lost, or that arrives twice, counts once, and its writer is told
    /// what became of it.
    @Test(arguments: ["lose", "drop", "twice"])
    func aFaultyRequestCountsOnce(_ fault: String) throws {
        let n = try cluster.namespaces()
        for number in 0..<20 {
            if number % 3 == 1 { try cluster.tell("\(fault) 1") }
            try n[number % 2].write("job", number)
        }
        for namespace in n { try namespace.synchronize() }
        #expect(try n[0].readAll(matching: ["job", .any]).map { $0[1] } == (0..<20).map { .int($0) })
        try cluster.expectSame(n)
    }

    /// A store that takes no entry is named as the reason, and nothing is done.
    @Test func aStoreThatRefusesIsNamed() throws {
        let n = try cluster.namespaces()
        // Both machines have entered: the next entry is that of the write.
        for namespace in n { try namespace.set("k", 1) }
        try n[0].set("k", 2)
        try cluster.tell("refuse 1")
        let error = try refusal { try n[0].write("job", 1) }
        #expect(error.code == .clusterUnavailable && error.reason.contains("it is full"), "\(error)")
        try n[0].write("job", 2)
        #expect(try n[0].readAll(matching: ["job", .any]).count == 1)
        try cluster.expectSame(n)
    }

    /// Without a leader reads go on and writes fail; nothing of them is done later.
    @Test func withoutALeaderWritesFail() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[1].synchronize()
        try cluster.tell("leader no")
        for namespace in n {
            let error = try refusal { try namespace.write("job", 2) }
            #expect(error.code == .clusterUnavailable, "\(error)")
            #expect(try namespace.readIfExists("job", 1) != nil)
            #expect(errorCode { try namespace.synchronize(timeout: .seconds(1)) } == .clusterUnavailable)
        }
        try cluster.tell("leader yes")
        for (number, namespace) in n.enumerated() {
            #expect(try eventually { errorCode { try namespace.write("late", number) } == nil })
        }
        try cluster.expectSame(n)
        #expect(try n[0].readIfExists("job", 2) == nil)
    }

    /// While writers wait for a store that does not answer, others open the namespace and read it.
    @Test func aSilentStoreKeepsNobodyOut() throws {
        let cluster = try TestCluster(machines: 1)
        let n = try cluster.namespaces()
        try n[0].write("here", 1)
        let writers = try (0..<8).map { _ in try Agent(cluster[0].root, "n") }
        for writer in writers { #expect(try writer.ask("transact") == "ok") }
        try cluster.stopStore()
        for writer in writers { try writer.send("transact") }
        // They are at the gate, or soon will be.
        for _ in 0..<4 { try cluster[0].space("read", "n", "[\"here\", 1]") }
        let codes = try writers.map { writer in
            try #require(try writer.line()?.split(separator: " ").dropFirst().first.map { String($0) })
        }
        // The first has sent its entry; the others are told that nothing was changed.
        #expect(codes.filter { $0 != "clusterUnavailable" } == ["outcomeUnknown"])
        cluster.continueStore()
        #expect(try eventually { try writers[0].ask("transact") == "ok" })
        try cluster.expectSame(n)
    }

    /// Connections that are cut again and again lose no commit and double none.
    @Test func cutConnectionsLoseNothing() throws {
        let n = try cluster.namespaces()
        let writers = try (0..<2).map { try Agent(cluster[$0].root, "n") }
        for (number, writer) in writers.enumerated() { try writer.send("write-loop \(number * 1000) 60") }
        for _ in 0..<3 { try cluster.tell("cut") }
        for writer in writers {
            // A commit whose outcome stays unknown ends the loop with an error that says so.
            let line = try #require(try writer.line())
            #expect(
                line == "ok 60" || line.contains("outcomeUnknown") || line.contains("clusterUnavailable"),
                "\(line)"
            )
        }
        try cluster.expectSame(n)
        let all = try n[0].readAll(matching: ["job", .any])
        #expect(Set(all).count == all.count)
    }

    /// A machine whose connection is cut stays the same member: what its processes hold is theirs, and it says nothing.
    @Test func aCutConnectionEndsNoMember() throws {
        let n = try cluster.namespaces()
        let worker = try cluster.claimant(of: n)
        try cluster.tell("cut")
        // Until its daemon has another connection, a write fails.
        #expect(try eventually { errorCode { try n[1].write("late", 1) } == nil })
        #expect(try worker.ask("complete 0").hasPrefix("ok"))
        try cluster.expectSame(n)
        let daemon = try #require(cluster[1].daemon)
        daemon.signal(SIGTERM)
        #expect(try daemon.finish().errors == "")
    }

    /// A namespace that is made while a machine's watch is cut comes to that machine too.
    @Test func aNamespaceMadeDuringACutIsFound() throws {
        // Each daemon has its watch when it has found a namespace.
        _ = try cluster.namespaces()
        let daemon = try #require(cluster[1].daemon)
        // It hears of the cut before it hears of the other namespace, and reads the store again.
        try daemon.stop()
        try cluster.tell("leader no")
        try cluster.tell("leader yes")
        _ = try cluster.namespaceOfFirst("other")
        daemon.signal(SIGCONT)
        _ = try TestCluster.open("other", in: cluster[1])
    }

    /// A machine that was away while the log was trimmed and the history compacted gets a base, and has everything.
    ///
    /// Its processes go on in the same replica: a watch is told of the next change, or of a gap in its place, and
    /// what waits is answered.
    @Test func aMachineThatWasAwayCatchesUp() throws {
        let n = try cluster.namespaces()
        try n[0].write("old", 1)
        try n[1].synchronize()
        let lock = try n[0].lock("L").acquire(timeout: watchdog).inTime()
        let watcher = try Agent(cluster[1].root, "n", "owning=0")
        #expect(try watcher.ask("watch").hasPrefix("ok"))
        #expect(try watcher.ask("next-wait") == "waiting")
        let waiters = try [
            ["take", "n", "[\"awaited\"]", "--wait", "10m"], ["lock", "n", "L", "--wait", "10m", "--", "true"],
        ].map { try cluster[1].runner.start("space", $0) }
        #expect(try eventually { try n[1].status().waiters.count { !$0.template.isEmpty } == 2 })
        try cluster.end(1)
        let writer = try Agent(cluster[0].root, "n")
        // A base is made every 1,000 entries, and the log before the last base goes.
        for first in stride(from: 0, to: 2500, by: 500) { try writer.run("write-loop \(first) 500") }
        #expect(try n[0].takeIfExists("old", 1) != nil)
        #expect(try eventually { try self.base(of: 0) >= 2000 })
        try cluster.tell("compact")
        try cluster.start(1)
        #expect(try eventually { try n[1].count(matching: ["job", .any]) == 2500 })
        // The take is the entry behind the last job's.
        try n[1].synchronize()
        #expect(try n[1].readIfExists("old", 1) == nil)
        let told = try #require(try watcher.line())
        #expect(told.hasPrefix("ok write 3 ") || told.hasPrefix("ok gap 3 "), "\(told)")
        try n[0].write("awaited")
        try lock.release()
        for waiter in waiters {
            let end = try waiter.finish()
            #expect(end.ending == .exited(0), "\(end.errors)")
        }
        try cluster.expectSame(n)
    }

    private func base(of machine: Int) throws -> Int {
        let report = try cluster[machine].machines("--json").split(separator: "\n")
        let line = try Value(json: report.last.map(String.init) ?? "null")
        guard case .object(let object) = line, case .object(let namespace)? = object["namespace"],
            case .int(let base)? = namespace["base"]
        else { return 0 }
        return base
    }

    /// If another program has changed the head of the log, the replicas stay as they are, and none is set aside.
    ///
    /// Writes and the report say what is wrong.
    @Test(arguments: ["remove live/n/*/head", "spoil live/n/*/head", "copy live/lower/*/head live/n/*/head"])
    func aDamagedHeadHarmsNoReplica(_ damage: String) throws {
        let n = try cluster.namespaces()
        let lower = try cluster.namespaces("lower")
        try lower[0].write("job", 0)
        for number in 1...9 { try n[0].write("job", number) }
        try n[1].synchronize()
        try cluster.tell(damage)
        let error = try refusal { try n[0].write("late", 1) }
        #expect(error.code == .clusterUnavailable && error.reason.contains("head of the log"), "\(error)")
        // A daemon that is started then goes by the store alone.
        try cluster.end(1)
        try cluster.start(1)
        for machine in cluster.machines {
            #expect(try eventually { try machine.machines().contains("the head of the log") })
            #expect(machine.root.entries(of: ".aside").isEmpty)
        }
        for namespace in n {
            #expect(try namespace.readAll(matching: ["job", .any]).map { $0[1] } == (1...9).map { .int($0) })
        }
        // Another namespace is not concerned.
        try lower[1].write("job", 1)
    }

    /// A head that is too high, or an entry that is lost, empties no replica.
    @Test(arguments: ["copy live/higher/*/head live/n/*/head", "remove live/n/*/log/"])
    func aLogWithAHoleHarmsNoReplica(_ damage: String) throws {
        let n = try cluster.namespaces()
        let higher = try cluster.namespaces("higher")
        for number in 1...9 { try higher[0].write("job", number) }
        try n[0].write("job", 1)
        try n[1].synchronize()
        // Daemons that are started go by the store alone.
        for number in 0..<2 { try cluster.end(number) }
        try cluster.tell(damage)
        for number in 0..<2 { try cluster.start(number) }
        for machine in cluster.machines {
            #expect(try eventually { try machine.machines().contains("n: the store has lost entry") })
            #expect(machine.root.entries(of: ".aside").isEmpty)
        }
        for namespace in n { #expect(try namespace.readIfExists("job", 1) != nil) }
    }

    /// On a machine that has not got the replica of a shared namespace yet, a program that makes the namespace if need be
    /// waits for the replica, and makes none of its own.
    @Test func aSharedNameIsNotTakenByALocalNamespace() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        // The new machine can't make the replica.
        try cluster.tell("copy live/n/*/manifest kept")
        try cluster.tell("spoil live/n/*/manifest")
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let daemon = try runner.start("space-test-daemon", ["join", "--etcd", cluster.store, "--name", "new"])
        defer { daemon.signal(SIGKILL) }
        #expect(try daemon.readLine() == "joined new")
        let write = ["write", "n", "[\"job\", 2]", "--timeout", "1s"]
        let refused = try runner.start("space", write).finish()
        #expect(
            refused.ending == .exited(75) && refused.errors.contains("its replica is not here yet"),
            "\(refused.errors)"
        )
        #expect(!root.entries(of: "").contains("n"))
        try cluster.tell("copy kept live/n/*/manifest")
        #expect(try eventually { try runner.start("space", write).finish().ending == .exited(0) })
        try n[0].synchronize()
        #expect(try n[0].readIfExists("job", 2) != nil)
        // A name that is free is taken as ever.
        #expect(try runner.start("space", ["write", "own", "[1]", "--persistent"]).finish().ending == .exited(0))
        #expect(root.entries(of: "").contains("own"))
    }

    /// What another program puts where the next entry will come is no entry: the machines write on over it.
    @Test func whatStandsBehindTheHeadIsNoEntry() throws {
        let n = try cluster.namespaces()
        for number in 1...3 { try n[0].write("job", number) }
        try n[1].synchronize()
        let entry = try n[0].status().entry
        try cluster.tell("copy \(Self.key(n[0], entry)) \(Self.key(n[0], entry + 1))")
        // The daemons have heard of it when they have heard of the next change.
        try n[1].write("job", 4)
        try n[0].write("job", 5)
        try cluster.end(1)
        try cluster.start(1)
        try n[1].write("job", 6)
        try cluster.expectSame(n)
    }

    /// An entry that is another one than its key says ends a machine's part in the namespace, with a reason; its replica
    /// stays, and follows again when the log is mended.
    @Test(arguments: [true, false])
    func anEntryUnderAnothersKeyIsTold(isBehindTheReplica: Bool) throws {
        let n = try cluster.namespaces()
        for number in 1...3 { try n[0].write("job", number) }
        try n[1].synchronize()
        // With its lease kept, no entry tells that the machine has ended.
        try cluster.end(1, by: SIGKILL, keepsLease: true)
        let last = try n[0].status().entry
        for number in 4...5 { try n[0].write("job", number) }
        // The first entry that the replica lacks, or the one behind it.
        let spoilt = Self.key(n[0], isBehindTheReplica ? last + 1 : last + 2)
        try cluster.tell("copy \(spoilt) kept")
        try cluster.tell("copy \(Self.key(n[0], last)) \(spoilt)")
        for _ in 1...2 {
            try cluster.start(1)
            #expect(try eventually { try cluster[1].machines().contains("is not the one that follows") })
            #expect(try n[1].count(matching: ["job", .any]) == (isBehindTheReplica ? 3 : 4))
            #expect(!cluster[1].root.entries(of: "").contains(".aside"))
            try cluster.end(1)
        }
        try cluster.tell("copy kept \(spoilt)")
        try cluster.start(1)
        #expect(try eventually { try !cluster[1].machines().contains("is not the one that follows") })
        try cluster.expectSame(n)
    }

    /// What the store's keys of a namespace begin with.
    private static func live(_ namespace: Namespace) -> String { "shared-space/default/live/n/\(namespace.life)" }

    private static func key(_ namespace: Namespace, _ entry: Int) -> String {
        let digits = String(entry, radix: 16)
        return "\(live(namespace))/log/" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A note of a deletion that another program has put deletes no replica.
    @Test func aForgedDeletionIsNone() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[1].synchronize()
        try cluster.tell("put shared-space/default/gone/n/\(n[0].life) x")
        try cluster.tell("remove default/id/n")
        for machine in cluster.machines {
            #expect(try eventually { machine.root.entries(of: ".aside").count == 1 })
        }
    }

    /// A key that asks for the pen in a machine's name, and is not its own, keeps the machine from nothing.
    @Test func aForgedWishForThePenIsNone() throws {
        let n = try cluster.namespaces()
        try cluster.tell("put \(Self.live(n[0]))/want/2 x")
        for round in 0..<2 {
            try n[0].write("job", round)
            try n[1].write("job", round)
        }
        try cluster.expectSame(n)
    }

    /// The number of a living machine is given to no other, although the next number was set back.
    @Test func aNumberIsGivenOnce() throws {
        let n = try cluster.namespaces()
        try cluster.tell("copy live/n/*/joined/2 shared-space/next-member")
        try cluster.end(0)
        try cluster.start(0)
        #expect(try eventually { errorCode { try n[0].write("job", 1) } == nil })
        try n[1].write("job", 2)
        try cluster.expectSame(n)
        let report = try cluster[0].space("machines", "--json").output
        #expect(report.contains("\"member\":3"), "\(report)")
    }

    /// If another program has spoiled the pen's value, a machine takes the pen after a process has waited for it.
    @Test func aDamagedPenIsTaken() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try cluster.tell("spoil live/n/*/pen")
        for (number, namespace) in n.enumerated() {
            #expect(try eventually { errorCode { try namespace.write("late", number) } == nil })
        }
        try cluster.expectSame(n)
    }

    /// The removal of a replica that comes late spares a namespace of the same name that was made meanwhile.
    @Test(arguments: [true, false])
    func aLateRemovalSparesTheNextNamespace(isRemoval: Bool) throws {
        _ = try cluster.namespaces()
        let root = cluster[1].root
        let replica = try #require(try LocalReplicas(root.space).replica(named: "n"))
        try cluster[0].space("delete", "n")
        #expect(try eventually { !root.entries().contains("n") })
        try cluster[1].space("write", "n", "[1]", "--persistent")
        if isRemoval { try replica.remove() } else { _ = try? replica.setAside() }
        #expect(try cluster[1].space("count", "n").output == "1\n")
    }

    /// A claim whose namespace the store has lost was not completed: the tuple may be somewhere again.
    @Test func aClaimThatTheStoreHasLostIsNotCompleted() throws {
        try cluster.tell("save")
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        let pipe = "\(cluster[1].root.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let work = ["sh", "-c", "echo begun; read line <'\(pipe)'"]
        let worker = try cluster[1].runner.start("space", ["claim", "n", "[\"job\", 1]", "--wait", "60s", "--"] + work)
        #expect(try worker.readLine() == "begun")
        try cluster.tell("restore")
        #expect(try eventually { cluster[1].root.entries(of: ".aside").count == 1 })
        let file = try FileDescriptor.open(FilePath(pipe), .writeOnly)
        _ = try file.closeAfter { try file.writeAll("go on\n".utf8) }
        let end = try worker.finish()
        #expect(end.ending == .exited(75), "\(end.errors)")
    }

    /// A machine that was away while a namespace was deleted removes its replica, and keeps no copy.
    @Test func aReplicaOfADeletedNamespaceIsRemoved() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[1].synchronize()
        try cluster.end(1)
        try cluster[0].space("delete", "n")
        try cluster.start(1)
        for machine in cluster.machines {
            #expect(try eventually { try machine.root.space.namespaceNames() == [] })
            #expect(machine.root.entries(of: ".aside").isEmpty)
        }
    }

    /// A namespace can be deleted although the store takes no new keys; the other machine keeps a copy then.
    @Test func aFullStoreDeletes() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[1].synchronize()
        try cluster.tell("full 1")
        try cluster[0].space("delete", "n")
        for machine in cluster.machines { #expect(try eventually { try machine.root.space.namespaceNames() == [] }) }
        // On the first machine the deleting process may have removed the replica itself.
        #expect(try eventually { cluster[1].root.entries(of: ".aside").count == 1 })
    }
}
