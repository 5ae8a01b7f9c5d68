import Glibc
import SharedSpaceObjects
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

@testable import TupleSpace

/// Machines that die, lose touch, and come back.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct MemberTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// A claim, a lock and a session's tuple of a machine that died go to the living.
    @Test func whatADeadMachineHeldGoesOn() throws {
        let cluster = try TestCluster(lease: .seconds(5))
        let n = try cluster.namespaces()
        let worker = try cluster.claimant(of: n)
        #expect(try worker.ask("lock deploy 0") == "waiting")
        #expect(try worker.line()?.hasPrefix("ok") == true)
        try worker.run("write-session [\"here\", 1]")
        try n[0].synchronize()
        #expect(try n[0].readIfExists("job", 1) == nil)
        #expect(try n[0].readIfExists("here", 1) != nil)
        // The whole machine dies at once.
        try worker.kill()
        try cluster.end(1, by: SIGKILL, keepsLease: true)
        #expect(try n[0].take("job", 1, timeout: watchdog) != nil)
        try n[0].lock("deploy").acquire(timeout: watchdog).inTime().release()
        #expect(try eventually { try n[0].readIfExists("here", 1) == nil })
        #expect(try eventually { try n[0].status().machines == ["m0"] })
    }

    /// A watcher whose machine becomes another member misses nothing of what was written meanwhile.
    @Test func aWatcherOutlivesItsMember() throws {
        let n = try cluster.namespaces()
        let watcher = try cluster[1].runner.start("space", ["watch", "n", "--max", "20"])
        #expect(try watcher.readLine()?.contains("\"ready\"") == true)
        try watcher.stop()
        for number in 0..<10 { try n[0].write("job", number) }
        try cluster.end(1, by: SIGKILL)
        // A machine that takes part no more is the sign that its member's registrations were looked at.
        #expect(try eventually { try n[0].status().machines.count == 1 })
        for number in 10..<20 { #expect(try eventually { errorCode { try n[0].write("job", number) } == nil }) }
        try cluster.start(1)
        watcher.signal(SIGCONT)
        let lines = try watcher.finish().lines
        #expect(lines.count == 21 && lines.dropFirst().allSatisfy { $0.contains("\"job\"") }, "\(lines)")
    }

    /// A subscription goes on without its daemon, and has acknowledged what it has told when it ends well.
    @Test(arguments: [true, false])
    func aSubscriptionAcknowledgesLater(isLast: Bool) throws {
        let n = try cluster.namespaces()
        let watcher = try cluster[1].runner.start("space", ["watch", "n", "--subscription", "s", "--max", "4"])
        #expect(try watcher.readLine()?.contains("\"ready\"") == true)
        // Who comes second is told who has it.
        for (machine, user) in zip(cluster.machines, ["a process of the machine m1", "the process \(watcher.pid)"]) {
            let second = try machine.runner.start("space", ["watch", "n", "--subscription", "s"]).finish()
            #expect(second.ending == .exited(64) && second.errors.contains("in use by \(user)"), "\(second.errors)")
        }
        try watcher.stop()
        for number in 0..<3 { try n[0].write("job", number) }
        try n[1].synchronize()
        try cluster.end(1, by: SIGKILL)
        watcher.signal(SIGCONT)
        for _ in 0..<3 { #expect(try watcher.readLine()?.contains("\"job\"") == true) }
        #expect(try watcher.readErrorLine()?.hasSuffix("; trying again") == true)
        try cluster.start(1)
        func isAcknowledged() throws -> Bool {
            let status = try n[0].status()
            return status.watchers.first?.position == UInt64(status.sequence)
        }
        if !isLast { #expect(try eventually(isAcknowledged)) }
        #expect(try eventually { errorCode { try n[0].write("job", 3) } == nil })
        let end = try watcher.finish()
        #expect(end.ending == .exited(0), "\(end.errors)")
        try n[0].synchronize()
        #expect(try isAcknowledged())
    }

    /// A process that answers requests goes on when its machine becomes another member.
    @Test func aResponderOutlivesItsMember() throws {
        let n = try cluster.namespaces()
        let responder = try cluster[1].runner.start("space", ["respond", "n", "ping", "--once", "--", "echo", "7"])
        // It waits for requests, and so has the answer to its enrolment.
        func waits() throws -> Bool { try n[1].status().waiters.contains { $0.pid == responder.pid } }
        #expect(try eventually { try n[0].status().responders.count == 1 && waits() })
        try cluster.end(1, by: SIGKILL)
        #expect(try eventually { try n[0].status().responders.isEmpty })
        try cluster.start(1)
        #expect(try eventually { try n[0].status().responders.count == 1 })
        #expect(try cluster[0].space("request", "n", "ping", "null", "--wait", "60s").output == "7\n")
        #expect(try responder.finish().ending == .exited(0))
    }

    /// It goes on, too, if its reply is due while there is no daemon.
    @Test func aReplyIsDueWithoutADaemon() throws {
        let n = try cluster.namespaces()
        let root = cluster[1].root.path
        #expect(mkfifo("\(root)/pipe", 0o600) == 0)
        let work = "cd '\(root)'; [ -e first ] && exec echo 8; >first; echo begun >&2; read line <pipe; echo 7"
        let responder = try cluster[1].runner.start("space", ["respond", "n", "ping", "--", "sh", "-c", work])
        #expect(try eventually { try n[0].status().responders.count == 1 })
        let first = try cluster[0].runner.start("space", ["request", "n", "ping", "null", "--wait", "60s"])
        #expect(try responder.readErrorLine() == "begun")
        try cluster.end(1, by: SIGKILL)
        let file = try FileDescriptor.open(FilePath("\(root)/pipe"), .writeOnly)
        _ = try file.closeAfter { try file.writeAll("go on\n".utf8) }
        first.signal(SIGTERM)
        #expect(try first.wait() == .signalled(SIGTERM))
        #expect(try eventually { try n[0].status().responders.isEmpty })
        try cluster.start(1)
        #expect(try eventually { try n[0].status().responders.count == 1 })
        #expect(try cluster[0].space("request", "n", "ping", "null", "--wait", "60s").output == "8\n")
        responder.signal(SIGTERM)
        #expect(try responder.wait() == .signalled(SIGTERM))
    }

    /// A responder of the library goes on, too, under its token.
    @Test func aTokensResponderOutlivesItsMember() throws {
        let n = try cluster.namespaces()
        let token = try n[1].respond(to: "ping") { (number: Int) in number + 1 }
        #expect(try eventually { try n[0].status().responders.count == 1 })
        try cluster.end(1, by: SIGKILL)
        #expect(try eventually { try n[0].status().responders.isEmpty })
        try cluster.start(1)
        #expect(try eventually { try n[0].status().responders.count == 1 })
        #expect(token.isActive)
        #expect(try cluster[0].space("request", "n", "ping", "7", "--wait", "60s").output == "8\n")
        token.cancel()
        #expect(try eventually { try n[0].status().responders.isEmpty })
        #expect(!token.isActive)
    }

    /// A machine that joins a namespace in which nothing was written for a while has no tuple that expired meanwhile.
    @Test func aMachineThatJoinsLateHasTheTime() throws {
        try cluster.end(1)
        let life = "4s"
        try cluster[0].space("write", "n", "--replicated", "--persistent", "--expires", life, "[\"a\"]")
        let gone = try eventually { try cluster[0].runner.space("count", "n").output == "0\n" }
        #expect(gone)
        try cluster.start(1)
        let late = try TestCluster.open("n", in: cluster[1])
        try late.repeatableTransaction { _ in }
        #expect(try late.count() == 0)
    }

    /// A member's death and the return of its claims are one entry: a process that is told that its claim is lost finds the
    /// tuple in its place.
    @Test func aDeathReturnsClaimsInOneEntry() throws {
        let n = try cluster.namespaces()
        for number in 1...3 { try n[0].write("job", number) }
        let worker = try Agent(cluster[1].root, "n", "owning=0")
        try n[1].synchronize()
        for number in 1...3 { #expect(try worker.ask("claim [\"job\", \(number)]").hasPrefix("ok")) }
        try n[0].synchronize()
        let before = try n[0].status().entry
        try cluster.end(1, by: SIGKILL)
        try worker.kill()
        #expect(try eventually { try n[0].status().machines == ["m0"] })
        #expect(try n[0].count(matching: ["job", .any]) == 3)
        #expect(try n[0].status().entry == before + 1)
    }

    /// Opening a replica asks nothing of its daemon, whatever the dead have left there: the daemon itself opens its replicas
    /// before it answers.
    @Test func openingAReplicaAsksNoDaemon() throws {
        let n = try cluster.namespaces()
        let worker = try cluster.claimant(of: n, "owning=0")
        try cluster.end(1, by: SIGKILL)
        try worker.kill()
        let path = "\(cluster[1].root.path)/.cluster/socket"
        #expect(unlink(path) == 0)
        let listener = try LocalSocket.listening(path)
        let opener = try Agent(cluster[1].root, "n", "owning=0")
        var waiting = pollfd(fd: listener.raw, events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 0) == 0)
        try opener.kill()
    }

    /// A process that is stopped in the middle of a write makes its machine's replica wait, and ends no member.
    @Test func aStoppedWriterEndsNoMember() throws {
        let n = try cluster.namespaces()
        try n[0].write("task", 1)
        try n[1].synchronize()
        let worker = try Agent(cluster[1].root, "n")
        #expect(try worker.ask("claim [\"task\", 1]").hasPrefix("ok"))
        let writer = try Agent(cluster[1].root, "n", "owning=0")
        try writer.run("arm stop gateTaken")
        try writer.send("transact")
        try writer.waitUntilStopped()
        try n[0].write("other", 1)
        // The daemon has given up once, and says why; so it would have ended its member by now.
        #expect(try eventually { try cluster[1].machines("--json").contains("\(writer.pid)") })
        writer.resume()
        #expect(try writer.line() == "ok")
        try n[1].synchronize()
        #expect(try n[1].count(matching: ["other", 1]) == 1)
        #expect(try worker.ask("complete 0").hasPrefix("ok"))
    }

    /// What a killed process held goes on to another machine, although no process of its own machine waits or looks.
    @Test func whatADeadProcessHeldGoesOnElsewhere() throws {
        // The namespaces are open in no process of the first machine but the worker.
        let first = try cluster.namespaceOfFirst()
        try first.write("job", 1)
        let worker = try Agent(cluster[0].root, "n", "owning=0")
        try first.leave()
        let other = try TestCluster.open("n", in: cluster[1])
        #expect(try worker.ask("claim [\"job\", 1]").hasPrefix("ok"))
        #expect(try worker.ask("lock deploy 0") == "waiting")
        #expect(try worker.line()?.hasPrefix("ok") == true)
        try worker.run("write-session [\"here\", 1]")
        try other.synchronize()
        #expect(try other.readIfExists("here", 1) != nil)
        try worker.kill()
        #expect(try other.take("job", 1, timeout: watchdog) != nil)
        try other.lock("deploy").acquire(timeout: watchdog).inTime().release()
        #expect(try eventually { try other.readIfExists("here", 1) == nil })
    }

    /// A machine whose daemon was stopped for longer than its lease completes nothing that it had claimed before.
    @Test func aLateCompleteIsRefused() throws {
        let n = try cluster.namespaces()
        let worker = try cluster.claimant(of: n)
        let daemon = try #require(cluster[1].daemon)
        try daemon.stop()
        try cluster.endLease(of: 1)
        #expect(try n[0].take("job", 1, timeout: watchdog) != nil)
        daemon.signal(SIGCONT)
        // Its daemon joins as another member; the claim is lost to the worker.
        #expect(
            try eventually {
                let answer = try worker.ask("complete 0")
                if answer.hasPrefix("ok") { throw TestFailure("a late complete succeeds: \(answer)") }
                return answer.hasPrefix("error claimLost")
            }
        )
        try n[1].write("job", 2)
        try cluster.expectSame(n)
    }

    /// Without a daemon, reads go on and writes fail in time, and say what to start; with one, all is as before.
    @Test(arguments: [SIGTERM, SIGKILL])
    func withoutADaemonReadsGoOn(_ signal: CInt) throws {
        let n = try cluster.namespaces()
        try n[1].write("job", 1)
        try cluster.end(1, by: signal)
        #expect(try n[1].readIfExists("job", 1) != nil)
        let error = try refusal { try n[1].write("job", 2) }
        #expect(error.code == .clusterUnavailable)
        #expect(error.advice?.contains("join --etcd") == true, "\(error)")
        let take = try cluster[1].runner.space("take", "n", "[\"job\", \"?int\"]")
        #expect(take.ending == .exited(75), "\(take.errors)")
        try n[0].write("job", 3)
        try cluster.start(1)
        try n[1].write("job", 4)
        #expect(try n[1].count(matching: ["job", .any]) == 3)
        try cluster.expectSame(n)
    }

    /// A taker that waits while its machine has no daemon gets the tuple when there is one again.
    @Test func aWaitOutlivesItsDaemon() throws {
        let n = try cluster.namespaces()
        let taker = try Agent(cluster[1].root, "n")
        try taker.block("take-wait 60000 [\"job\", \"?int\"]", in: n[1])
        try cluster.end(1, by: SIGKILL)
        try n[0].write("job", 5)
        try cluster.start(1)
        #expect(try taker.line() == "ok [\"job\",5]")
        try cluster.expectSame(n)
    }
}
