import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceAgents

/// Eight agents race for 200 tasks while agents are killed, servers killed and started again, and half of them stopped for a
/// while.
@Suite("A race of agents", .blocking, .timeLimit(.minutes(10)))
struct RaceTests {
    private static let agents = 8
    private static let tasks = 200
    private static let paths = 5
    /// How many times an agent is killed: the test says in which of its tasks.
    private static let kills = 24

    /// What is known of the tasks and paths from the outside.
    private final class Ledger: Sendable {
        struct State {
            var done: [Int: Int] = [:]
            var holder: [String: Int32] = [:]
            var overlaps: [String] = []
        }

        let state = Mutex(State())

        /// Notes that an agent edits a path from now on; no other may.
        func begin(_ path: String, _ pid: Int32) {
            state.withLock { state in
                if let other = state.holder[path] { state.overlaps.append("\(path): \(other) and \(pid)") }
                state.holder[path] = pid
            }
        }

        /// Notes that it edits it no more: before it lets go, or is killed.
        func end(_ path: String) { state.withLock { $0.holder[path] = nil } }
    }

    @Test("Every task is done once, and no path has two holders", arguments: [2026 as UInt64])
    func race(_ seed: UInt64) throws {
        try withCheckout { checkout in
            let ledger = Ledger()
            let first = try ScriptedAgent(in: checkout)
            // A fifth of the tasks come after an earlier one.
            let list = (1...Self.tasks).map { number in
                let after = number % 5 == 0 ? ",\"after\":[\(number - 3)]" : ""
                return #"{"title":"task \#(number)","priority":\#(number % 10)\#(after)}"#
            }
            try first.call("task_add", #"{"tasks":[\#(list.joined(separator: ","))]}"#)
            let failures = Mutex<[String]>([])
            let left = Mutex(Self.agents)
            nonisolated(unsafe) let shared = checkout
            for number in 0..<Self.agents {
                try DetachedThread.start {
                    do {
                        var worker = Worker(
                            checkout: shared,
                            ledger: ledger,
                            random: SeededGenerator(seed: seed &+ UInt64(number)),
                            agent: try ScriptedAgent(in: shared, number % 2 == 0 ? nil : shared.other, restarts: true)
                        )
                        try worker.work()
                    } catch {
                        failures.withLock { $0.append("agent \(number): \(error)") }
                    }
                    left.withLock { $0 -= 1 }
                }
            }
            // On a busy machine it takes longer than one watchdog's time.
            for _ in 0..<8 where try !eventually({ left.withLock { $0 == 0 } }) { continue }
            #expect(left.withLock { $0 } == 0)
            #expect(failures.withLock { $0 } == [])
            let state = ledger.state.withLock { $0 }
            #expect(state.overlaps == [], "seed \(seed)")
            #expect(state.done.count == Self.tasks && state.done.values.allSatisfy { $0 == 1 }, "seed \(seed)")
            let handle = try checkout.namespaceHandle()
            #expect(try handle.count(matching: ["open", .any, .any]) == 0)
            let done = try handle.readAll(matching: ["done", .any, .any, .any, .any, .any]).map { $0[1] }
            #expect(done.count == Self.tasks && Set(done).count == Self.tasks, "seed \(seed)")
            #expect(try handle.status().claims.isEmpty)
            #expect(try TaskList(handle).all().isEmpty)
        }
    }

    /// An agent of the race, which is followed by another one when it is killed.
    private struct Worker {
        let checkout: Checkout
        let ledger: Ledger
        var random: SeededGenerator
        var agent: ScriptedAgent
        var deaths = kills / agents
        /// The tasks that it knows to be its own.
        var own: [Int] = []

        mutating func isDue(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }

        /// Calls a tool; of six servers one is killed meanwhile, and the call is made again unless it was answered.
        mutating func call(_ tool: String, _ arguments: String = "{}") throws -> Value {
            let id = try agent.begin(tool, arguments)
            guard isDue(oneIn: 6) else { return try agent.result(of: id) }
            try agent.restartServer()
            return try agent.hasRead(answerTo: id) ? agent.result(of: id) : agent.call(tool, arguments)
        }

        /// Works until all tasks are done.
        mutating func work() throws {
            while true {
                let task = try call("task_claim", #"{"wait_s":2}"#)
                // A server that is killed may have claimed a task and not told of it.
                let known = [task] + ((task["you_also_have"] ?? task["you_have"])?.elements ?? [])
                own = known.compactMap { if case .int(let id)? = $0["id"] { id } else { nil } }
                // Others may still have what others wait for.
                if own.isEmpty, ledger.state.withLock({ $0.done.count == tasks }) { return }
                for id in own where try !edit(for: id) { break }
            }
        }

        /// Does a task; `false` if the agent was killed over it.
        private mutating func edit(for id: Int) throws -> Bool {
            let path = "src/\(id % paths).swift"
            let held = try call("hold", #"{"names":["file:\#(path)"],"wait_s":50}"#)
            guard held["held"] != nil else { throw TestFailure("\(path) was not had: \(held)") }
            ledger.begin(path, agent.pid)
            if deaths > 0, isDue(oneIn: 4) {
                deaths -= 1
                ledger.end(path)
                try agent.killAlone()
                agent = try ScriptedAgent(in: checkout, restarts: true)
                return false
            }
            // Half of the servers are stopped while they have a request, and go on when others have gone on.
            let isStopped = isDue(oneIn: 2)
            let end: Value
            if isStopped {
                let server = try agent.server()
                kill(server, SIGSTOP)
                let request = try agent.begin("task_end", #"{"id":\#(id),"how":"done"}"#)
                let count = ledger.state.withLock { $0.done.count }
                let patience = MonotonicInstant.now.advanced(by: .milliseconds(100))
                _ = try eventually { patience.hasPassed || ledger.state.withLock { $0.done.count } > count }
                kill(server, SIGCONT)
                end = try agent.result(of: request)
            } else {
                end = try call("task_end", #"{"id":\#(id),"how":"done"}"#)
            }
            // A server that was killed may have ended it and not said so.
            let isEnded = end["ended"] == .int(id)
            guard isEnded || !isStopped && "\(end)".contains("no open task") else {
                throw TestFailure("task \(id) was not ended: \(end)")
            }
            ledger.state.withLock { $0.done[id, default: 0] += 1 }
            ledger.end(path)
            _ = try call("let_go")
            return true
        }
    }
}
