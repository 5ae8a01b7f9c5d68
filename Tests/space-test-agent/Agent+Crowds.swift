import Glibc
import SharedSpace
import SpaceSystem
import Synchronization

// Many waiters in this one process.

/// The results of a crowd's waiters.
private final class Tally: Sendable {
    private struct State {
        var served = 0
        var unserved = 0
        var errors: [String: Int] = [:]
    }

    private let state = Mutex(State())
    private let started = Atomic<Int>(0)

    func start() { started.add(1, ordering: .relaxed) }
    var hasStarted: Int { started.load(ordering: .relaxed) }

    func note(_ body: () throws(SpaceError) -> Bool) {
        do throws(SpaceError) {
            let isServed = try body()
            state.withLock { state in
                if isServed { state.served += 1 } else { state.unserved += 1 }
            }
        } catch {
            state.withLock { $0.errors["\(error)", default: 0] += 1 }
        }
    }

    var ended: Int { state.withLock { $0.served + $0.unserved + $0.errors.values.reduce(0, +) } }

    var answer: String {
        state.withLock { state in
            let errors = state.errors.map { "; \($0.value) × \($0.key)" }.joined()
            return "ok \(state.served) served, \(state.unserved) not\(errors)"
        }
    }
}

extension Agent {
    func performInCrowds(_ command: String, _ words: [String]) throws -> String? {
        switch command {
        case "take-crowd": return try crowd(try number(words, 0), timeout: .milliseconds(try number(words, 1) as Int))
        case "wait-everywhere":
            try waitEverywhere(in: try Space(root: try word(words, 0)), try number(words, 1))
            return "ok"
        case "reader-slots": return "ok \(try namespace().readerSlots)"
        case "keep-slots-few":
            WaitTable.keepSmall()
            return "ok"
        default: return nil
        }
    }

    /// `wait-everywhere <root> <count>`: waits and watches in `count` namespaces, in each with a thread, a task, a
    /// watcher and an observer, until the process ends.
    private func waitEverywhere(in space: Space, _ count: Int) throws {
        for number in 0..<count {
            let namespace = try space.namespace("n\(number)")
            try DetachedThread.start { _ = try? namespace.take("thread", any(Int.self), timeout: .seconds(600)) }
            Task.detached { _ = try? await namespace.take("task", any(Int.self)) as (String, Int) }
            Task.detached { for try await _ in try namespace.changes(.everything, from: .now) {} }
            observations.append(try namespace.observe("cell") { _ in })
        }
    }

    /// `take-crowd <count> <timeout>`: `count` threads, each of which takes one tuple: every other one of its own, `["own", n]`,
    /// the rest any of `["any", n]`.
    private func crowd(_ count: Int, timeout: Duration) throws -> String {
        let namespace = try namespace()
        let tally = Tally()
        for number in 0..<count {
            try DetachedThread.start {
                tally.start()
                tally.note { () throws(SpaceError) in
                    if number % 2 == 0 { return try namespace.take("own", number, timeout: timeout) != nil }
                    return try namespace.take("any", any(Int.self), timeout: timeout) != nil
                }
            }
        }
        while tally.hasStarted < count { poll(nil, 0, 5) }
        say("waiting")
        while tally.ended < count { poll(nil, 0, 5) }
        return tally.answer
    }
}
