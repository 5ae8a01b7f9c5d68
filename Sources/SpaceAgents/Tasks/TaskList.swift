package import SharedSpace
import SpaceSystem

// The tasks of a repository.
//
// A task is one tuple, which is visible while it is free. An agent claims it for its process, so it returns when the
// process ends. What the agent says about the claim (which subagent, since when) is a row of its own, written after the
// claim. A server that is killed between the two leaves a claim without a row; the agent's next call finds the claim,
// and gets that task. The row is written only if there is none, so of two calls one gets the task.

/// The tasks of the repository that a namespace is for.
package struct TaskList {
    let namespace: Namespace

    package init(_ namespace: Namespace) { self.namespace = namespace }

    // MARK: Adding

    /// How many prerequisites the tasks of one call can have, counted for each task.
    private static let referencesAtOnce = 10_000

    /// A task that was added, or that was there already.
    package struct Added: Sendable {
        package let id: Int
        package let isNew: Bool
        /// The tasks that must be done first.
        package let after: [Int]
    }

    /// Adds tasks, all or none; a task whose key already exists is not added.
    ///
    /// - Throws: `AgentError` if one is to come after a task that there never was, and if there are too many.
    package func add(_ tasks: [NewTask]) throws -> [Added] {
        guard tasks.count <= AgentLimits.tasksAtOnce else {
            throw AgentError("\(tasks.count) tasks at once are too many; \(AgentLimits.tasksAtOnce) are the most")
        }
        let references = tasks.reduce(0) { $0 + $1.after.count }
        guard references <= Self.referencesAtOnce else {
            throw AgentError(
                "\(references) references in after are too many for one call; \(Self.referencesAtOnce) are the most"
            )
        }
        return try namespace.transaction { t in
            var numbers = try TaskNumbers(in: t)
            var added: [Added] = []
            for task in tasks {
                if !task.key.isEmpty, let id = try numbers.id(ofKey: task.key, in: t) {
                    added.append(Added(id: id, isNew: false, after: []))
                    continue
                }
                var after: [Int] = []
                var known: Set<Int> = []
                for reference in task.after {
                    let id = try numbers.id(reference, in: t)
                    if numbers.isOpen(id), known.insert(id).inserted { after.append(id) }
                }
                let id = try t.increment("tasks")
                numbers.add(id, key: task.key)
                let row = TaskRow(
                    id: id,
                    priority: task.priority,
                    title: task.title,
                    detail: task.detail,
                    key: task.key,
                    after: after
                )
                try t.write(tuple: row.tuple)
                try t.write(tuple: ["open", id, task.key])
                added.append(Added(id: id, isNew: true, after: after))
            }
            return added
        }
    }

    // MARK: Claiming

    /// A task that an agent has claimed.
    package struct Claimed: Sendable {
        let task: TaskRow
        let claim: HeldClaim
        let notes: [NoteRow]
    }

    /// Claims the free task with the highest priority (among equals, the oldest) for an agent.
    ///
    /// - Parameters:
    ///   - who: The agent.
    ///   - match: What the title must match.
    ///   - id: The task's number, if it is to be a certain one.
    ///   - wait: How long to wait for one.
    ///   - interruption: Ends the wait.
    /// - Returns: The task; `nil` if there was none in time.
    /// - Throws: `cancelled` if the wait is ended, and `AgentError` if no open task has the number.
    package func claim(
        for who: AgentName,
        matching match: Pattern?,
        id: Int?,
        wait: Duration,
        interruption: Interruption?
    ) throws -> Claimed? {
        if id == nil, match == nil, let left = try unclaimedByName(of: who) { return left }
        let deadline = MonotonicInstant.now.advanced(by: wait)
        while true {
            var claim = try best(above: -1, id, match, for: who, interruption)
            if claim == nil, let id, try namespace.count(matching: ["open", id, .any]) == 0 {
                throw Self.notOpen(id)
            }
            if claim == nil, wait > .zero {
                let rest = deadline.remaining
                claim = try self.claim(Self.template(id, nil, match), for: who, .upTo(rest), interruption)
                if id == nil, let first = claim { claim = try swap(first, match, for: who, interruption) }
            }
            guard let claim else { return nil }
            guard let task = TaskRow(claim.tuple.fields) else {
                // It looks like a task but is none; a person has to look at it.
                try namespace.bury(claim)
                continue
            }
            let isNoted: Bool
            do {
                isNoted = try note(claim, of: task.id, for: who)
            } catch {
                // The agent is told of the error, and not of the task: on a full disk, for example.
                try? namespace.release([claim], wasDelivered: false)
                throw error
            }
            if isNoted {
                return Claimed(task: task, claim: claim, notes: try namespace.rows(NoteRow.of(task.id)))
            }
        }
    }

    /// Claims the free task with the highest priority (among equals, the oldest), if that priority is above another
    /// one.
    private func best(
        above least: Int,
        _ id: Int?,
        _ match: Pattern?,
        for who: AgentName,
        _ interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        for priority in stride(from: 9, to: least, by: -1) {
            let template = Self.template(id, priority, match)
            if let claim = try claim(template, for: who, .none, interruption) { return claim }
        }
        return nil
    }

    /// Gives back a task that a wait has got if a free task has a higher priority, and returns the claim of that task.
    ///
    /// If several tasks come at once, a waiter is given the first. If the server is killed in this function, it leaves
    /// both claims to its agent, whose next calls are told of them.
    private func swap(
        _ first: HeldClaim,
        _ match: Pattern?,
        for who: AgentName,
        _ interruption: Interruption?
    ) throws -> HeldClaim {
        guard let task = TaskRow(first.tuple.fields) else { return first }
        let better: HeldClaim?
        do {
            better = try best(above: task.priority, nil, match, for: who, interruption)
        } catch {
            try? namespace.release([first], wasDelivered: false)
            throw error
        }
        guard let better else { return first }
        // Another call of the agent may have found the first one and have it now.
        if (try? note(first, of: task.id, for: who)) ?? true { giveBackUntold(first, of: task.id) }
        return better
    }

    private func claim(
        _ template: Template,
        for who: AgentName,
        _ wait: Wait,
        _ interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        try namespace.claim(
            matching: template,
            holder: who.process,
            deadline: AgentLimits.deadline,
            wait,
            interruption: interruption
        )
    }

    private static func template(_ id: Int?, _ priority: Int?, _ match: Pattern?) -> Template {
        func given(_ element: (some TemplateElement)?) -> any TemplateElement { element ?? any(Value.self) }
        return ["task", given(id), given(priority), given(match), .any, .any]
    }

    /// Writes down who has a claim; `false` if another call has done so for itself.
    private func note(_ claim: HeldClaim, of id: Int, for who: AgentName) throws -> Bool {
        let row = WorkRow(id: id, claim: claim.number, who: who, since: Clock.realtimeMilliseconds())
        return try namespace.transaction { t in
            let known: [WorkRow] = try t.rows(WorkRow.of(id))
            if known.contains(where: { $0.claim == claim.number }) { return false }
            try t.takeAll(matching: WorkRow.of(id))
            try t.write(row, endingWith: who.process)
            return true
        }
    }

    /// A task that a server has claimed for the agent's process, and has not reported because it was killed.
    private func unclaimedByName(of who: AgentName) throws -> Claimed? {
        let claimed = try namespace.claimedTasks().filter { $0.isHeld(by: who.process) }
        guard !claimed.isEmpty else { return nil }
        let known = Set(try namespace.rows(WorkRow.all, as: WorkRow.self).map(\.claim))
        for task in claimed where !known.contains(task.claim.number) {
            guard try note(task.claim, of: task.task.id, for: who) else { continue }
            return Claimed(task: task.task, claim: task.claim, notes: try namespace.rows(NoteRow.of(task.task.id)))
        }
        return nil
    }

    /// Gives back a task that could not be reported to the agent.
    func giveBackUntold(_ claimed: Claimed) { giveBackUntold(claimed.claim, of: claimed.task.id) }

    private func giveBackUntold(_ claim: HeldClaim, of id: Int) {
        try? namespace.release([claim], wasDelivered: false)
        // Only the row of this claim: another agent may have the task already.
        _ = try? namespace.takeAll(matching: WorkRow.of(id, claim: claim.number))
    }

    // MARK: Ending

    /// What becomes of a task that an agent had.
    package enum End: String, Sendable, CaseIterable {
        case done
        case giveBack = "give_back"
        case setAside = "set_aside"
    }

    /// Ends an agent's claim.
    ///
    /// - Returns: The tasks that are free now because this one is done.
    /// - Throws: `AgentError` if the agent has not claimed the task.
    func end(_ id: Int, _ end: End, note: String, by who: AgentName, named name: String) throws -> [TaskRow] {
        try AgentLimits.check(note, "a note", most: AgentLimits.detailBytes)
        let task = try held(id, by: who)
        let now = Clock.realtimeMilliseconds()
        let freed = try Self.rememberingIfPossible { remembers in
            try namespace.transaction { t -> [TaskRow] in
                if remembers, !note.isEmpty, end != .done {
                    try t.write(tuple: NoteRow(id: id, author: name, time: now, text: note).tuple)
                }
                switch end {
                case .done:
                    try t.complete(task.claim)
                    return try Self.finish(task.task, by: name, at: now, remembers: remembers, in: t)
                case .giveBack:
                    guard try t.release(task.claim) else { throw Self.lost(id) }
                    try t.takeAll(matching: WorkRow.of(id))
                case .setAside:
                    break
                }
                return []
            }
        }
        if end == .setAside { try setAside(task) }
        return freed
    }

    /// Ends a task; if there is no room, nothing is remembered of the task, but it is ended even so.
    static func rememberingIfPossible<Result>(_ end: (_ remembers: Bool) throws -> Result) throws -> Result {
        do {
            return try end(true)
        } catch let error as SpaceError where error.isOfStorage {
            return try end(false)
        }
    }

    /// The claim of an agent on a task.
    private func held(_ id: Int, by who: AgentName) throws -> ClaimedTask {
        guard let task = try namespace.claimedTasks().first(where: { $0.task.id == id }) else {
            if try namespace.count(matching: ["task", id, .any, .any, .any, .any]) > 0 { throw Self.lost(id) }
            guard try namespace.count(matching: ["open", id, .any]) > 0 else { throw Self.notOpen(id) }
            throw AgentError(
                "task \(id) is not claimed: it waits for others, or was set aside; claim one with task_claim"
            )
        }
        let works = try namespace.rows(WorkRow.of(id), as: WorkRow.self).first { $0.claim == task.claim.number }
        let directory = try AgentDirectory(of: namespace)
        guard task.isHeld(by: who.process) else {
            let holder = task.holder.map { directory.name(of: works?.who ?? AgentName($0)) } ?? "another process"
            throw AgentError("task \(id) is not yours: \(holder) has it; claim another one with task_claim")
        }
        if let works, works.who.label != who.label {
            throw AgentError("task \(id) is not yours: \(directory.name(of: works.who)) has it, of the same process")
        }
        return task
    }

    static func notOpen(_ id: Int) -> AgentError {
        AgentError("there is no open task \(id); it may be done already")
    }

    private static func lost(_ id: Int) -> AgentError {
        AgentError(
            "task \(id) is not yours any more: it went back to the list (its time was over, or a person took it back); "
                + "claim it again with task_claim and id"
        )
    }

    /// Notes that a task is done, and frees the tasks that waited only for it.
    static func finish(
        _ task: TaskRow,
        by name: String,
        at now: Int64,
        remembers: Bool,
        in t: borrowing Transaction
    ) throws -> [TaskRow] {
        try t.takeAll(matching: WorkRow.of(task.id))
        try t.takeAll(matching: NoteRow.of(task.id))
        try t.takeAll(matching: ["open", task.id, .any])
        if remembers {
            let row: Tuple = ["done", task.id, task.key, task.title, name, Int(now)]
            try t.write(tuple: row, expires: AgentLimits.memory)
        }
        var freed: [TaskRow] = []
        let rows: [TaskRow] = try t.rows(TaskRow.later).filter { $0.after.contains(task.id) }
        if rows.isEmpty { return [] }
        let numbers = try TaskNumbers(in: t)
        for var row in rows {
            try t.takeAll(matching: ["later", row.id, .any, .any, .any, .any, .any])
            row.after = row.after.filter { $0 != task.id && numbers.isOpen($0) }
            try t.write(inPlaceOfTaken: row.tuple)
            if row.after.isEmpty { freed.append(row) }
        }
        return freed
    }

    private func setAside(_ task: ClaimedTask) throws {
        try namespace.bury(task.claim)
        _ = try namespace.takeAll(matching: WorkRow.of(task.task.id))
    }
}
