import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Locks, semaphores and elections between processes: their holders, their waiters, and the effects of a death.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct HoldTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Has an agent ask for a hold, and returns when the agent stands in the queue.
    private func queue(_ agent: Agent, _ command: String, in namespace: Namespace) throws {
        let before = try namespace.status().holds.count
        try agent.send(command)
        #expect(try agent.line() == "waiting")
        #expect(try eventually { try namespace.status().holds.count == before + 1 })
    }

    private func fencing(_ line: String?) throws -> UInt64 {
        guard let line, line.hasPrefix("ok "), let number = UInt64(line.dropFirst(3)) else {
            throw TestFailure("no fencing number: \(line ?? "it ended")")
        }
        return number
    }

    /// If the holder is killed while others wait, the kernel's notice of its death lets the next one hold, in the order
    /// of asking.
    @Test func aKilledHolderIsFollowedByTheNextInTurn() throws {
        let namespace = try SpaceTest.namespace("locks")
        let agents = try (0..<4).map { _ in try Agent(root, "locks") }
        for agent in agents { try queue(agent, "lock build 60000", in: namespace) }
        var last: UInt64 = 0
        for (index, agent) in agents.enumerated() {
            let number = try fencing(agent.line())
            #expect(number > last)
            last = number
            let holds = try namespace.status().holds
            #expect(holds.map(\.pid) == agents[index...].map(\.pid))
            #expect(holds.map(\.isHeld) == agents[index...].indices.map { $0 == index })
            #expect(try namespace.verify() == [])
            try agent.kill()
        }
        #expect(try eventually { try namespace.lock("build").tryAcquire() != nil })
    }

    /// A waiter that dies is passed over.
    @Test func aKilledWaiterIsPassedOver() throws {
        let namespace = try SpaceTest.namespace("locks")
        let (holder, doomed, next) = (try Agent(root, "locks"), try Agent(root, "locks"), try Agent(root, "locks"))
        for agent in [holder, doomed, next] { try queue(agent, "lock build 60000", in: namespace) }
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        try doomed.kill()
        #expect(try eventually { try namespace.status().holds.count == 2 })
        #expect(try holder.run("unlock build") == "")
        #expect(try next.line()?.hasPrefix("ok ") == true)
    }

    /// If a process dies that held two locks with names equal to Swift and different as UTF-8, the waiters for both are
    /// served.
    @Test func aKilledHolderOfTwinNamesIsFollowedAtBoth() throws {
        let namespace = try SpaceTest.namespace("locks")
        let holder = try Agent(root, "locks")
        for name in TwinNames.both {
            try queue(holder, "lock \(name) 60000", in: namespace)
            _ = try fencing(holder.line())
        }
        let waiters = try TwinNames.both.map { name in
            let waiter = try Agent(root, "locks")
            try queue(waiter, "lock \(name) 60000", in: namespace)
            return waiter
        }
        try holder.kill()
        for waiter in waiters { _ = try fencing(waiter.line()) }
        #expect(try namespace.status().holds.allSatisfy(\.isHeld))
        for (name, waiter) in zip(TwinNames.both, waiters) {
            let error = #expect(throws: SpaceError.self) {
                _ = try namespace.lock(name).acquireOrTell(.exclusive, timeout: .zero, interruption: nil)
            }
            #expect(error?.code == .timedOut && error?.holder == waiter.pid)
        }
    }

    /// The kinds of hold, each as the command that asks for it, with the commands of the next waiter and of the
    /// release.
    enum Asking: String, CaseIterable, CustomTestStringConvertible {
        case exclusive = "lock build 60000"
        case shared = "lock build 60000 shared"
        case semaphore = "semaphore build 60000 1 1"
        case election = "elect build 60000"

        /// The command of the next process, which must have to wait.
        var next: String { self == .shared ? Self.exclusive.rawValue : rawValue }
        var end: String { self == .election ? "resign" : "unlock build" }
        var testDescription: String { "\(rawValue)" }
    }

    /// If a process is killed at any step of asking for a hold or releasing it, the next process gets the hold.
    @Test(arguments: [CrashPoint.begun, .beforeCommit, .afterCommit, .granted, .gateReleased, .woken], Asking.allCases)
    func killedHalfwayNothingIsStuck(_ point: CrashPoint, _ asking: Asking) throws {
        let namespace = try SpaceTest.namespace("locks")
        for command in [asking.rawValue, asking.end] {
            let (victim, waiter) = (try Agent(root, "locks"), try Agent(root, "locks"))
            if command == asking.end {
                try victim.send(asking.rawValue)
                #expect(try victim.line() == "waiting")
                _ = try fencing(victim.line())
                try queue(waiter, asking.next, in: namespace)
            }
            try victim.run("arm kill \(point)")
            try victim.send(command)
            #expect(try victim.ended() == .killed(by: SIGKILL))
            if command == asking.rawValue {
                try waiter.send(asking.next)
                #expect(try waiter.line() == "waiting")
            }
            _ = try fencing(waiter.line())
            #expect(try namespace.verify() == [])
            try waiter.kill()
            // A process that waits for anything looks after the dead.
            let isFree = try eventually {
                _ = try namespace.take(matching: ["nothing"], timeout: .milliseconds(1))
                return try namespace.status().holds.isEmpty
            }
            #expect(isFree)
        }
    }

    @Test func readersShareAndAWriterIsNotOvertaken() throws {
        let namespace = try SpaceTest.namespace("locks")
        let agents = try (0..<4).map { _ in try Agent(root, "locks") }
        for agent in agents[..<2] {
            try queue(agent, "lock data 60000 shared", in: namespace)
            _ = try fencing(agent.line())
        }
        try queue(agents[2], "lock data 60000", in: namespace)
        try queue(agents[3], "lock data 60000 shared", in: namespace)
        #expect(try namespace.status().holds.map(\.isHeld) == [true, true, false, false])
        #expect(try namespace.lock("data").tryAcquire(.shared) == nil)
        try agents[0].kill()
        #expect(try eventually { try namespace.status().holds.count == 3 })
        #expect(try namespace.status().holds.map(\.isHeld) == [true, false, false])
        try agents[1].run("unlock data")
        _ = try fencing(agents[2].line())
        #expect(try namespace.status().holds.map(\.isHeld) == [true, false])
        try agents[2].kill()
        _ = try fencing(agents[3].line())
    }

    @Test func permitsOfTheDeadAreFree() throws {
        let namespace = try SpaceTest.namespace("locks")
        let agents = try (0..<4).map { _ in try Agent(root, "locks") }
        try queue(agents[0], "semaphore slots 60000 3 2", in: namespace)
        _ = try fencing(agents[0].line())
        // The first waiter wants two permits and one is left; a waiter that wants one does not overtake it.
        try queue(agents[1], "semaphore slots 60000 3 2", in: namespace)
        try queue(agents[2], "semaphore slots 60000 3 1", in: namespace)
        #expect(try namespace.status().holds.map(\.isHeld) == [true, false, false])
        try agents[0].kill()
        _ = try fencing(agents[1].line())
        _ = try fencing(agents[2].line())
        let other = try agents[3].ask("semaphore slots 10 5 1")
        #expect(other == "waiting")
        #expect(try agents[3].line()?.hasPrefix("error typeMismatch") == true)
    }

    /// The error of a time-out names the holder, and the waiter leaves no place in the queue.
    @Test func aTimeOutNamesTheHolder() throws {
        let namespace = try SpaceTest.namespace("locks")
        let holder = try Agent(root, "locks")
        try queue(holder, "lock build 60000", in: namespace)
        _ = try fencing(holder.line())
        let error = #expect(throws: SpaceError.self) {
            _ = try namespace.lock("build").acquireOrTell(.exclusive, timeout: .milliseconds(20), interruption: nil)
        }
        #expect(error?.code == .timedOut)
        #expect(error?.holder == holder.pid)
        #expect(try namespace.status().holds.count == 1)
        try holder.stop()
        let stopped = #expect(throws: SpaceError.self) {
            _ = try namespace.lock("build").acquireOrTell(.exclusive, timeout: .zero, interruption: nil)
        }
        #expect(stopped?.description.contains("is stopped") == true)
        holder.resume()
    }

    /// A refusal names the holder at the time of the refusal, also if it has released the hold before the error is made.
    @Test(arguments: ["lock build %", "semaphore build % 1 1"])
    func aRefusalNamesTheHolderThatHasReleasedSince(_ command: String) throws {
        func asking(for milliseconds: Int) -> String {
            command.split(separator: "%", omittingEmptySubsequences: false).joined(separator: "\(milliseconds)")
        }
        let namespace = try SpaceTest.namespace("locks")
        let (holder, refused) = (try Agent(root, "locks"), try Agent(root, "locks"))
        try queue(holder, asking(for: 60000), in: namespace)
        _ = try fencing(holder.line())
        // It stops once the transaction that refuses the request has released the gate.
        try refused.run("arm stop gateReleased")
        try refused.send(asking(for: 0))
        #expect(try refused.line() == "waiting")
        try refused.waitUntilStopped()
        try holder.run("unlock build")
        #expect(try namespace.status().holds.isEmpty)
        refused.resume()
        let error = try refused.line() ?? ""
        #expect(error.hasPrefix("error timedOut \(holder.pid) "), "\(error)")
        #expect(error.contains("was held by process \(holder.pid)"), "\(error)")
        #expect(error.contains("until just now"), "\(error)")
        #expect(try namespace.verify() == [])
    }

    /// A waiter hears of a death from the kernel, and not at a tick.
    @Test func aDeathIsNotNoticedByTickingAlone() throws {
        let namespace = try root.space.namespace("locks")
        // On a busy machine a tick may come first, but not each time.
        for _ in 0..<3 {
            let (holder, waiter) = (try Agent(root, "locks"), try Agent(root, "locks"))
            try queue(holder, "lock build 60000", in: namespace)
            _ = try fencing(holder.line())
            try queue(waiter, "lock build 60000", in: namespace)
            // The waiter sleeps once it has published what it waits for.
            #expect(try eventually { try namespace.status().waiters.first?.template == #""lock build""# })
            try holder.kill()
            _ = try fencing(waiter.line())
            #expect(try namespace.verify() == [])
            if try waiter.run("late") == "0" { return }
        }
        Issue.record("served by ticks alone")
    }
}
