import SharedSpace
import SpaceSystem

// What people do with tasks from the shell, even with tasks that an agent has claimed.

extension TaskList {
    /// A state of a task, with the task.
    package struct Listed: Sendable {
        package enum State: String, Sendable {
            case free, claimed, later, aside
        }

        let task: TaskRow
        package let state: State
        let tries: Int

        package var id: Int { task.id }
        package var priority: Int { task.priority }
        package var title: String { task.title }
        /// The tasks that must be done first.
        package var after: [Int] { task.after }

        /// The task as a JSON object on one line.
        package var json: String {
            let object: JSONObject = [
                "id": id, "state": state.rawValue, "priority": priority, "title": title,
                "detail": task.detail.orLeftOut, "key": task.key.orLeftOut, "after": after.orLeftOut,
                "tried_before": tries,
            ]
            return object.json
        }
    }

    /// The tasks that are not done, by their numbers.
    package func all() throws -> [Listed] {
        var found = try namespace.rows(.anyOf(TaskRow.free, TaskRow.later), as: TaskRow.self).map { task in
            Listed(task: task, state: task.after.isEmpty ? .free : .later, tries: 0)
        }
        found += try namespace.claimedTasks().map { Listed(task: $0.task, state: .claimed, tries: $0.claim.deliveries) }
        found += try namespace.buried(matching: TaskRow.free).compactMap { buried in
            TaskRow(buried.tuple.fields).map { Listed(task: $0, state: .aside, tries: buried.deliveries) }
        }
        return found.sorted { $0.task.id < $1.task.id }
    }

    /// Puts a task that an agent has, or that was set aside, back in the list.
    ///
    /// - Throws: `AgentError` if no agent has it, and it was not set aside.
    package func takeBack(_ id: Int) throws {
        if let task = try namespace.claimedTasks().first(where: { $0.task.id == id }) {
            try namespace.release(task.claim)
            _ = try namespace.takeAll(matching: WorkRow.of(id))
            return
        }
        guard try namespace.kick(matching: Self.template(of: id)) > 0 else {
            throw AgentError("task \(id) is neither claimed nor set aside")
        }
    }

    /// Sets a task aside: no agent gets it until it is taken back.
    ///
    /// - Throws: `AgentError` if it is neither free nor claimed.
    package func setAside(_ id: Int) throws {
        if let task = try namespace.claimedTasks().first(where: { $0.task.id == id }) {
            try namespace.bury(task.claim)
            _ = try namespace.takeAll(matching: WorkRow.of(id))
            return
        }
        guard try namespace.bury(matching: Self.template(of: id)) > 0 else {
            throw AgentError("task \(id) is neither free nor claimed")
        }
    }

    /// Ends a task as done, whatever its state; the tasks that waited only for it are free then.
    ///
    /// - Returns: The numbers of those.
    /// - Throws: `AgentError` if there is no such task.
    package func finish(_ id: Int, by name: String) throws -> [Int] {
        let now = Clock.realtimeMilliseconds()
        // A task that was set aside is free for a moment, so that it can be taken.
        if try namespace.buried(matching: Self.template(of: id), max: 1).first != nil {
            try namespace.kick(matching: Self.template(of: id))
        }
        let claimed = try namespace.claimedTasks().first { $0.task.id == id }
        return try Self.rememberingIfPossible { remembers in
            try namespace.transaction { t in
                let task: TaskRow?
                if let claimed {
                    try t.complete(claimed.claim)
                    task = claimed.task
                } else {
                    let later: Template = ["later", id, .any, .any, .any, .any, .any]
                    task = try t.takeAll(matching: .anyOf(Self.template(of: id), later)).first.flatMap {
                        TaskRow($0.fields)
                    }
                }
                guard let task else { throw Self.notOpen(id) }
                return try Self.finish(task, by: name, at: now, remembers: remembers, in: t).map(\.id)
            }
        }
    }

    private static func template(of id: Int) -> Template { ["task", id, .any, .any, .any, .any] }
}
