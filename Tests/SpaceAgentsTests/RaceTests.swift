import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceAgents

/// Eight agents race for 200 tasks while some are killed, restarted or stopped.
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
                        try Self.work(number, seed, shared, ledger)
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
            #expect(try handle.status().claims.isEmpty)
            #expect(try TaskList(handle).all().isEmpty)
        }
    }

    /// The work of one agent, which is followed by another one each time it is killed.
    private static func work(_ number: Int, _ seed: UInt64, _ checkout: Checkout, _ ledger: Ledger) throws {
        var random = SeededGenerator(seed: seed &+ UInt64(number))
        var deaths = kills / agents
        var agent = try ScriptedAgent(in: checkout, number % 2 == 0 ? nil : checkout.other)
        while true {
            let task = try agent.call("task_claim", #"{"wait_s":2}"#)
            guard case .int(let id)? = task["id"] else {
                // Others may still have what others wait for.
                if ledger.state.withLock({ $0.done.count == tasks }) { return }
                continue
            }
            let path = "src/\(id % paths).swift"
            let dies = deaths > 0 && Int.random(in: 0..<4, using: &random) == 0
            let held = try agent.call("hold", #"{"names":["file:\#(path)"],"wait_s":50}"#)
            guard held["held"] != nil else { throw TestFailure("\(path) was not had: \(held)") }
            ledger.begin(path, agent.pid)
            if dies {
                deaths -= 1
                ledger.end(path)
                try agent.killAlone()
                agent = try ScriptedAgent(in: checkout)
                continue
            }
            // One server in eight is stopped while it has a request, and goes on when others have gone on.
            let isStopped = Int.random(in: 0..<8, using: &random) == 0
            let server = isStopped ? try agent.server() : 0
            if isStopped { kill(server, SIGSTOP) }
            let end = try agent.begin("task_end", #"{"id":\#(id),"how":"done"}"#)
            if isStopped {
                let count = ledger.state.withLock { $0.done.count }
                let patience = MonotonicInstant.now.advanced(by: .milliseconds(300))
                _ = try eventually { patience.hasPassed || ledger.state.withLock { $0.done.count } > count }
                kill(server, SIGCONT)
            }
            let ended = try agent.result(of: end)
            guard ended["ended"] == .int(id) else { throw TestFailure("task \(id) was not ended: \(ended)") }
            ledger.state.withLock { $0.done[id, default: 0] += 1 }
            ledger.end(path)
            try agent.call("let_go")
        }
    }
}
