import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Locks, semaphores and elections between processes: who holds, who waits, and what a death does.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct HoldTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// Has an agent ask for something, and returns when it stands in the queue.
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

    /// Kills the holder, in the middle of others' waiting: the next holds by the kernel's word, in the order of asking.
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

    /// Who waits and dies is not waited for.
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

    /// A process that held two locks, equal to Swift and different as UTF-8, dies: both waiters are served.
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
            let error = #expect(throws: SpaceError.self) { _ = try namespace.lock(name).acquire(timeout: .zero) }
            #expect(error?.code == .timedOut && error?.holder == waiter.pid)
        }
    }

    /// What is asked for in the ways that there are, with what is let go of, and by whom that is awaited.
    enum Asking: String, CaseIterable, CustomTestStringConvertible {
        case exclusive = "lock build 60000"
        case shared = "lock build 60000 shared"
        case semaphore = "semaphore build 60000 1 1"
        case election = "elect build 60000"

        /// Who waits must have to.
        var next: String { self == .shared ? Self.exclusive.rawValue : rawValue }
        var end: String { self == .election ? "resign" : "unlock build" }
        var testDescription: String { "\(rawValue)" }
    }

    /// Killed at each step of asking and of letting go: it is to be had afterwards.
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
            // Whoever waits for anything looks after the dead.
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
        // Two are wanted and one is left; who wants one does not overtake.
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

    /// The error of a time-out names who holds, and leaves no place in the queue.
    @Test func aTimeOutNamesTheHolder() throws {
        let namespace = try SpaceTest.namespace("locks")
        let holder = try Agent(root, "locks")
        try queue(holder, "lock build 60000", in: namespace)
        _ = try fencing(holder.line())
        let error = #expect(throws: SpaceError.self) {
            _ = try namespace.lock("build").acquire(timeout: .milliseconds(20))
        }
        #expect(error?.code == .timedOut)
        #expect(error?.holder == holder.pid)
        #expect(try namespace.status().holds.count == 1)
        try holder.stop()
        let stopped = #expect(throws: SpaceError.self) { _ = try namespace.lock("build").acquire(timeout: .zero) }
        #expect(stopped?.description.contains("is stopped") == true)
        holder.resume()
    }

    /// A death is heard of from the kernel, and not at a tick.
    @Test func aDeathIsNotNoticedByTickingAlone() throws {
        let namespace = try root.space.namespace("locks")
        // A tick may come first on a busy machine; not each time.
        for _ in 0..<3 {
            let (holder, waiter) = (try Agent(root, "locks"), try Agent(root, "locks"))
            try queue(holder, "lock build 60000", in: namespace)
            _ = try fencing(holder.line())
            try queue(waiter, "lock build 60000", in: namespace)
            // It sleeps once it has said what for.
            #expect(try eventually { try namespace.status().waiters.first?.template == #""lock build""# })
            try holder.kill()
            _ = try fencing(waiter.line())
            #expect(try namespace.verify() == [])
            if try waiter.run("late") == "0" { return }
        }
        Issue.record("served by ticks alone")
    }
}
