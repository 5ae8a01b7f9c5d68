import Glibc
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import TupleSpace

/// What waits and what is claimed when a machine becomes another member; owners and names on several machines.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct MemberClaimTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// Takers that wait since before their machine became another member keep their slots when those of the dead are freed.
    ///
    /// One of them does the upkeep of the namespace, and would look by itself.
    @Test func waitersSlotsOutliveTheirMember() throws {
        let n = try cluster.namespaces()
        let takers = try ["a", "b", "c"].map { name in
            let taker = try Agent(cluster[1].root, "n")
            try taker.block("take-wait 60000 [\"\(name)\", \"?int\"]", in: n[1])
            return taker
        }
        // This process waits, too, and has another session's number when it frees the slots.
        let taken = Mutex<Int?>(nil)
        let own = n[1]
        let waiting = Task {
            let tuple = try await own.take("own", any(Int.self))
            taken.withLock { $0 = tuple.1 }
        }
        defer { waiting.cancel() }
        #expect(try eventually { try n[1].status().waiters.count == 4 })
        let member = n[1].core.control.member.load()
        let session = n[1].core.session.number
        try cluster.end(1, by: SIGKILL)
        try cluster.start(1)
        #expect(try eventually { ![0, member].contains(n[1].core.control.member.load()) })
        #expect(try eventually { !n[1].core.liveness.isAlive(member: member) })
        try n[1].write("other", 1)
        #expect(n[1].core.session.number != session)
        #expect(try n[1].status().waiters.count == 4)
        n[1].core.upkeep.sweepSlots(isThorough: true)
        #expect(try n[1].status().waiters.count == 4)
        try n[0].write("own", 5)
        #expect(try eventually { taken.withLock { $0 } == 5 })
        for (name, taker) in zip(["a", "b", "c"], takers) {
            try n[0].write(name, 5)
            #expect(try taker.line() == "ok [\"\(name)\",5]")
        }
    }

    /// A claim that has waited while its machine became another member is its process's, and is completed once.
    @Test func aClaimOutlivesTheMemberThatWaited() throws {
        let n = try cluster.namespaces()
        let claimer = try Agent(cluster[1].root, "n")
        try claimer.block("claim-wait 60000 [\"job\", \"?int\"]", in: n[1])
        try cluster.end(1, by: SIGKILL)
        try n[0].write("job", 5)
        try cluster.start(1)
        #expect(try claimer.line()?.hasPrefix("ok") == true)
        // A look returns what the dead have claimed.
        for namespace in n {
            try namespace.synchronize()
            #expect(try namespace.takeIfExists("job", any(Int.self)) == nil)
        }
        #expect(try claimer.ask("complete 0").hasPrefix("ok"))
        try cluster.expectSame(n)
        #expect(try n[0].count(matching: ["job", .any]) == 0)
    }

    /// What a process writes for its session, or for a process, just after its machine became another member, lasts as long
    /// as that.
    @Test(arguments: [Lifetime.session, .process(getpid())], [true, false])
    func whatIsWrittenForALifeOutlivesTheMember(_ lifetime: Lifetime, _ isTuple: Bool) throws {
        let n = try cluster.namespaces()
        let ended = try Agent(cluster[1].root, "n")
        try cluster.end(1, by: SIGKILL)
        #expect(try eventually { try n[0].status().machines == ["m0"] })
        try cluster.start(1)
        // The new member's first write.
        if isTuple {
            try n[1].write("here", 1, lifetime: lifetime)
        } else {
            try n[1].set("here", 1, lifetime: lifetime)
        }
        try ended.run("write-session [\"gone\", 1]")
        try n[0].synchronize()
        #expect(try n[0].readIfExists("gone", 1) != nil)
        // When what really ended is gone, the look that removes it has seen the other too.
        try ended.exit()
        #expect(try eventually { try n[0].readIfExists("gone", 1) == nil })
        #expect(try isTuple ? n[0].readIfExists("here", 1) != nil : n[0].get("here") == 1)
        try cluster.expectSame(n)
    }

    /// A claim of job 1 that belongs to this process, and not to its session.
    private func claimForThisProcess(_ n: Namespace) throws -> HeldClaim? {
        try n.claim(matching: ["job", 1], holder: .current, deadline: nil, .upTo(watchdog), interruption: nil)
    }

    /// A claim for another process that is made just after the machine became another member lasts as long as that process.
    @Test func aClaimForAProcessOutlivesTheMember() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        try n[0].write("job", 2)
        let ended = try Agent(cluster[1].root, "n")
        try cluster.end(1, by: SIGKILL)
        #expect(try eventually { try n[0].status().machines == ["m0"] })
        try cluster.start(1)
        let claim = try claimForThisProcess(n[1])
        let held = try #require(claim)
        #expect(try ended.ask("claim [\"job\", 2]").hasPrefix("ok"))
        try n[0].synchronize()
        try ended.exit()
        // When the claim of the process that ended has returned, the look that did it has seen the other claim too.
        #expect(try eventually { try n[0].readIfExists("job", 2) != nil })
        #expect(try n[0].readIfExists("job", 1) == nil)
        try n[1].complete(held)
        try cluster.expectSame(n)
    }

    /// A claim for a process of a machine that died goes on, also if a process of the living has the same PID.
    @Test func aDeadMachinesClaimForAProcessGoesOn() throws {
        let n = try cluster.namespaces()
        try n[0].write("job", 1)
        let claim = try claimForThisProcess(n[1])
        #expect(claim != nil)
        try n[0].synchronize()
        #expect(try n[0].readIfExists("job", 1) == nil)
        try cluster.end(1, by: SIGKILL)
        #expect(try n[0].take("job", 1, timeout: watchdog) != nil)
    }

    /// A namespace lives as long as a process on any machine owns it, and then goes on all machines.
    @Test func theLastOwnerMayBeElsewhere() throws {
        let keeper = try Agent()
        let n = try cluster.namespaces(isPersistent: false)
        try keeper.open(cluster[1].root, "n")
        for namespace in n { try namespace.leave() }
        // Longer than the grace: the keeper's machine says that it is owned.
        try keeper.run("write [\"job\", 1]")
        let machines = try cluster.machines.map { try $0.root.space.existingNamespace("n", owning: false) }
        let start = MonotonicInstant.now
        #expect(try eventually { start.advanced(by: .seconds(4)).hasPassed })
        #expect(try machines[0].readIfExists("job", 1) != nil)
        try keeper.exit()
        for machine in cluster.machines { #expect(try eventually { try machine.root.space.namespaceNames() == [] }) }
    }

    /// Deleting on one machine deletes on all, and the name is free for another namespace.
    @Test func aDeletionIsOneOfAll() throws {
        let n = try cluster.namespaces()
        let waiter = try Agent(cluster[1].root, "n", "owning=0")
        try waiter.block("take-wait 60000 [\"job\", \"?int\"]", in: n[1])
        try cluster[0].space("delete", "n")
        #expect(try waiter.line()?.hasPrefix("error namespaceDeleted") == true)
        #expect(try eventually { try cluster[1].root.space.namespaceNames() == [] })
        let again = try cluster.namespaces()
        try again[1].write("job", 9)
        try cluster.expectSame(again)
    }

    /// The same name on two machines: the second is refused, and stays what it was.
    @Test func aNameThatIsTakenIsRefused() throws {
        try cluster.end(1)
        let own = try cluster[1].root.space.namespace("n", options: NamespaceOptions(isLocal: true))
        try own.write("mine", 1)
        let n = try cluster.namespaceOfFirst()
        try n.write("theirs", 1)
        try cluster.start(1)
        let error = try refusal { try own.replicate() }
        #expect(error.code == .incompatible, "\(error)")
        #expect(try own.takeIfExists("mine", 1) != nil)
        #expect(!own.isReplicated)
        try own.leave()
        // When its own is gone, the shared one comes.
        #expect(try TestCluster.open("n", in: cluster[1]).read("theirs", 1, timeout: watchdog) != nil)
    }

    /// `machines` and `show` say which machines there are, how far the replica is, and what is wrong.
    @Test func theMachinesAreShown() throws {
        let n = try cluster.namespaces()
        try n[0].repeatableTransaction { try $0.write("job", 1) }
        let lines = try cluster[0].space("machines", "--json").lines
        #expect(lines[0].contains("\"machine\":\"m0\"") && lines[0].contains("\"trouble\":null"))
        #expect(lines.count == 4)
        let show = try cluster[0].space("show", "n")
        #expect(
            show.output.contains("shared by  m0, m1") || show.output.contains("shared by  m1, m0"),
            "\(show.output)"
        )
        #expect(show.output.contains("pen        m"), "\(show.output)")
        try cluster.tell("leader no")
        #expect(
            try eventually {
                try cluster[0].runner.space("show", "n").output.contains("store      does not answer")
            }
        )
        try cluster.tell("leader yes")
        try cluster.end(0)
        let without = try cluster[0].runner.space("machines")
        #expect(without.ending == .exited(75))
        #expect(without.errors.contains("no daemon runs"), "\(without.errors)")
    }

    /// A write waits for its machine again if the machine's next member has ended too before the write came to it; but not
    /// for ever.
    @Test func aWriteOutlivesMoreThanOneMember() throws {
        let n = try cluster.namespaces()
        let ended = SpaceError.memberEnded("the member has ended")
        var attempts = 0
        let attempt = try n[1].core.participation.renewingSession { () throws(SpaceError) in
            attempts += 1
            if attempts < 4 { throw ended }
            return attempts
        }
        #expect(attempt == 4)
        let code = errorCode {
            try n[1].core.participation.renewingSession(patience: .milliseconds(100)) { () throws(SpaceError) in
                throw ended
            }
        }
        #expect(code == .clusterUnavailable)
        try n[1].write("job", 1)
    }
}
