import SharedSpace
import SpaceInspection
import SpaceSystem
import TupleSpace

// Tasks of one process that wait for each other's tuples.

extension Agent {
    func performWithTasks(_ command: String, _ words: [String]) async throws -> String? {
        switch command {
        case "ticks-off": Ticking.turnOff()
        case "hand-on": return "ok \(try await handOn(try number(words, 0)))"
        case "crowd": return "ok \(try await crowd(try number(words, 0)))"
        case "takers-in-order": return try await takersInOrder(try number(words, 0), try template(words, from: 1))
        default: return nil
        }
        return "ok"
    }

    /// Two tasks wait, one tuple is written, and the first task is cancelled: the second gets that tuple, or the one
    /// that is written then.
    private func handOn(_ count: Int) async throws -> Int {
        let namespace = try namespace()
        func waitUntilBlocked(_ count: Int) async throws {
            while try namespace.status().waiters.count != count { await Task.yield() }
        }
        for _ in 0..<count {
            let first = Task { try await namespace.take("job", any(Int.self)) }
            try await waitUntilBlocked(1)
            let second = Task { try await namespace.take("job", any(Int.self)) }
            try await waitUntilBlocked(2)
            try namespace.write("job", 1)
            first.cancel()
            if (try? await first.value) != nil { try namespace.write("job", 2) }
            _ = try await second.value
        }
        return count
    }

    /// `takers-in-order <count> <template>`: tasks that wait, each from when the one before has its slot; then the last
    /// fields of what they took, in the order of their waits.
    private func takersInOrder(_ count: Int, _ template: Template) async throws -> String {
        let namespace = try namespace()
        let (slots, session) = (namespace.core.slots, namespace.session)
        GrantPatience.lengthen()
        func isWaiting(_ slot: WaitSlots.Slot) -> Bool {
            slot.current.state == .active && slot.session.load() == session
        }
        var tasks: [Task<Tuple, any Error>] = []
        for number in 0..<count {
            tasks.append(Task { try await namespace.take(matching: template) })
            while slots.range.count(where: { isWaiting(slots.slot($0)) }) <= number { await Task.yield() }
        }
        say("waiting")
        var taken: [String] = []
        for task in tasks { taken.append("\(try await task.value.fields.last ?? .null)") }
        return "ok " + taken.joined(separator: " ")
    }

    /// Runs as many tasks that take as tasks that write.
    ///
    /// - Returns: How many different tuples were taken.
    private func crowd(_ count: Int) async throws -> Int {
        let namespace = try namespace()
        return try await withThrowingTaskGroup(of: Int?.self) { group in
            for _ in 0..<count { group.addTask { try await namespace.take("job", any(Int.self)).1 } }
            for number in 0..<count {
                group.addTask {
                    try namespace.write("job", number)
                    return nil
                }
            }
            var taken: Set<Int> = []
            while let number = try await group.next() { if let number { taken.insert(number) } }
            return taken.count
        }
    }
}
