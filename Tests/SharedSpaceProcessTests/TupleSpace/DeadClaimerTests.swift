import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// A dead claimer's tuples go to waiters at once: the waiters are woken, and do not find the tuples at a tick.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct DeadClaimerTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func block(_ agent: Agent, _ command: String, in namespace: Namespace) throws {
        try agent.block(command, in: namespace)
    }

    /// Runs a scenario that returns how often its waiter was served by a tick, until it returns none.
    ///
    /// A tick may fall between a death and the kernel's notice of it, but not three times in a row.
    private func unticked(_ scenario: () throws -> String) throws {
        for _ in 0..<3 where try scenario() == "0" { return }
        Issue.record("served by ticks alone")
    }

    /// If the waiter listens before the claimer dies, it is served without a tick, whichever of the two came first.
    @Test(arguments: ["take-wait 60000", "take-async", "claim-wait 60000", "read-wait 60000"], [true, false])
    func whoWaitsIsServedWithoutATick(_ command: String, _ claimsFirst: Bool) throws {
        try unticked {
            let namespace = try root.space.namespace("jobs")
            let claimer = try Agent(root, "jobs")
            let waiter = try Agent(root, "jobs")
            try namespace.write("job", 1)
            func claim() throws { #expect(try claimer.run("claim-typed [\"job\", 1]") == #"["job",1]"#) }
            func wait() throws { try block(waiter, "\(command) [\"job\", \"?int\"]", in: namespace) }
            if claimsFirst {
                try claim()
                try wait()
            } else {
                // The waiter waits for a tuple that is not there, and learns of the claimer meanwhile.
                try block(waiter, "\(command) [\"work\", \"?int\"]", in: namespace)
                try claim()
                try namespace.write("work", 0)
                #expect(try waiter.line() == #"ok ["work",0]"#)
                _ = try? waiter.run("complete")
                try wait()
            }
            try claimer.kill()
            #expect(try waiter.line() == #"ok ["job",1]"#)
            #expect(try namespace.verify() == [])
            return try waiter.run("late")
        }
    }

    /// A waiter that sleeps already when a session claims for the first time is woken, and listens from then on.
    @Test(arguments: ["take-wait 60000", "take-async"])
    func whoSleepsAlreadyLearnsOfAClaimer(_ command: String) throws {
        try unticked {
            let namespace = try root.space.namespace("jobs")
            let claimer = try Agent(root, "jobs")
            let waiter = try Agent(root, "jobs")
            try block(waiter, "\(command) [\"job\", \"?int\"]", in: namespace)
            #expect(try pidfds(of: waiter) == 0)
            // The tuple is written and claimed in one step, so the waiter never sees it.
            try claimer.run("write-claimed [\"job\", 1]")
            try claimer.kill()
            #expect(try waiter.line() == #"ok ["job",1]"#)
            #expect(try namespace.verify() == [])
            return try waiter.run("late")
        }
    }

    /// Later claims of a session that a waiter listens to already wake no waiter, and return all the same.
    @Test func laterClaimsOfTheSameSessionReturnToo() throws {
        try unticked {
            let namespace = try root.space.namespace("jobs")
            let claimer = try Agent(root, "jobs")
            let waiter = try Agent(root, "jobs")
            try namespace.write("first", 0)
            try claimer.run("claim-typed [\"first\", 0]")
            try claimer.run("complete")
            try block(waiter, "take-wait 60000 [\"job\", \"?int\"]", in: namespace)
            #expect(try eventually { try pidfds(of: waiter) == 1 })
            try claimer.run("write-claimed [\"job\", 3]")
            try claimer.kill()
            #expect(try waiter.line() == #"ok ["job",3]"#)
            #expect(try namespace.verify() == [])
            return try waiter.run("late")
        }
    }

    /// A tuple that is claimed for a process returns when that process dies, whichever process claimed it.
    @Test func whatIsHeldForAProcessReturnsWithIt() throws {
        try unticked {
            let namespace = try root.space.namespace("jobs")
            let holder = try Agent()
            let claimer = try Agent(root, "jobs")
            let waiter = try Agent(root, "jobs")
            try namespace.write("job", 1)
            try block(waiter, "take-wait 60000 [\"none\", \"?int\"]", in: namespace)
            let number = try claimer.run("claim-for \(holder.pid) [\"job\", 1]")
            #expect(try namespace.status().claims.map(\.pid) == [holder.pid])
            // The claimer ends, and the tuple does not return.
            try claimer.exit()
            #expect(try namespace.status().claims.map { String($0.held.number) } == [number])
            try namespace.write("none", 0)
            #expect(try waiter.line() == #"ok ["none",0]"#)
            try block(waiter, "take-wait 60000 [\"job\", \"?int\"]", in: namespace)
            try holder.kill()
            #expect(try waiter.line() == #"ok ["job",1]"#)
            #expect(try namespace.verify() == [])
            return try waiter.run("late")
        }
    }

    @Test func whoeverKnowsItsNumberEndsAHeldClaim() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let holder = try Agent()
        let claimer = try Agent(root, "jobs")
        try namespace.write("job", 1)
        guard let number = UInt64(try claimer.run("claim-for \(holder.pid) [\"job\", 1]")),
            let claim = try namespace.claim(numbered: number)
        else { throw TestFailure("no claim") }
        try namespace.complete(claim)
        let error = #expect(throws: SpaceError.self) { try namespace.complete(claim) }
        #expect(error?.code == .claimLost)
        // A session's own claim can't be ended by its number.
        try namespace.write("job", 2)
        try claimer.run("claim-typed [\"job\", 2]")
        let own = try namespace.status().claims[0].held.number
        let refused = #expect(throws: SpaceError.self) { _ = try namespace.claim(numbered: own) }
        #expect(refused?.code == .invalidArgument)
    }

    /// A process in which nothing waits listens to no claimer: it has no thread and no descriptors for that.
    @Test func nobodyListensWhenNobodyWaits() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let claimer = try Agent(root, "jobs")
        let waiter = try Agent(root, "jobs")
        try namespace.write("job", 1)
        try claimer.run("claim-typed [\"job\", 1]")
        #expect(try waiter.run("listens") == "0")
        try waiter.send("take-async [\"work\", \"?int\"]")
        #expect(try waiter.line() == "waiting")
        #expect(try eventually { try pidfds(of: waiter) == 1 })
        try namespace.write("work", 1)
        #expect(try waiter.line() == #"ok ["work",1]"#)
        #expect(try eventually { try waiter.run("listens") == "0" })
        #expect(try eventually { try pidfds(of: waiter) == 0 })
    }

    private func pidfds(of agent: Agent) throws -> Int {
        // Another process may read the links of /proc/PID/fd if it may trace the process.
        var count = 0
        for number in 0..<64 {
            var buffer = [CChar](repeating: 0, count: 256)
            let length = readlink("/proc/\(agent.pid)/fd/\(number)", &buffer, buffer.count - 1)
            guard length > 0 else { continue }
            let target = String(decoding: buffer[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
            if target.contains("pidfd") { count += 1 }
        }
        return count
    }

    /// Workers are killed at random while they claim and complete with results: each job is done once.
    @Test func killedWorkersLoseAndDoubleNothing() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let jobs = 1500
        func startWorker() throws -> Agent {
            let worker = try Agent(root, "jobs")
            try worker.send("claim-loop")
            return worker
        }
        var workers = try (0..<3).map { _ in try startWorker() }
        for first in stride(from: 0, to: jobs, by: 100) {
            try namespace.write(contentsOf: (first..<first + 100).map { ["job", $0] as Tuple })
            let before = try namespace.status().sequence
            #expect(
                try eventually {
                    let isIdle = try namespace.count(matching: ["job", .any]) == 0
                    return try isIdle || namespace.status().sequence > before + 20
                }
            )
            try workers.removeFirst().kill()
            workers.append(try startWorker())
        }
        #expect(try eventually { try namespace.count(matching: ["done", .any]) == jobs })
        for worker in workers { try worker.kill() }
        #expect(try namespace.count(matching: ["job", .any]) == 0)
        #expect(try Set(namespace.readAll(matching: ["done", .any])).count == jobs)
        #expect(try namespace.status().claims == [])
    }

    // MARK: Transactions

    @Test(arguments: [CrashPoint.begun, .beforeCommit, .afterCommit, .granted])
    func aTransactionKilledHalfwayIsDoneOrNot(_ point: CrashPoint) throws {
        let namespace = try SpaceTest.namespace("jobs")
        let victim = try Agent(root, "jobs")
        try namespace.write("job", 1)
        try victim.run("arm kill \(point)")
        try victim.send("transact")
        #expect(try victim.line() == nil)
        #expect(try victim.ended() == .killed(by: SIGKILL))
        let isDone = point == .afterCommit || point == .granted
        #expect(try eventually { try namespace.readAll() == (isDone ? [["a", 1]] : [["job", 1]]) })
        #expect(try namespace.get("cell") == (isDone ? 1 as Int? : nil))
    }

    @Test func killedTransfersKeepTheSum() throws {
        let namespace = try SpaceTest.namespace("bank")
        try namespace.write(contentsOf: [["account", 0, 0], ["account", 1, 0]])
        var movers = try (0..<2).map { _ in try Agent(root, "bank") }
        for mover in movers { try mover.send("transfer-loop") }
        for _ in 0..<10 {
            let before = try namespace.status().sequence
            #expect(try eventually { try namespace.status().sequence > before + UInt64.random(in: 20...200) })
            try movers.removeFirst().kill()
            let mover = try Agent(root, "bank")
            try mover.send("transfer-loop")
            movers.append(mover)
            let accounts = try namespace.readAll(matching: ["account", .any, .any])
            #expect(accounts.count == 2)
            #expect(accounts.reduce(0) { sum, tuple in if case .int(let n) = tuple[2] { sum + n } else { sum } } == 0)
        }
        try namespace.write("stop")
        for mover in movers { #expect(try mover.line()?.hasPrefix("ok ") == true) }
    }

    /// If a transaction's body is stopped, other writers get an error that names its process, and do not hang.
    @Test func whoStopsWithinATransactionIsNamed() throws {
        _ = try SpaceTest.namespace("jobs")
        let victim = try Agent(root, "jobs")
        let impatient = try Agent(root, "jobs", "timeout=200")
        try victim.run("arm stop beforeCommit")
        try victim.send("transact")
        try victim.waitUntilStopped()
        #expect(try impatient.ask("write [1]").hasPrefix("error holderStopped \(victim.pid) "))
        victim.resume()
        #expect(try victim.line() == "ok")
    }
}
