import SharedSpace
import SpaceEngine
import SpaceSystem
import TupleCoding

/// What a tool answers: one JSON object.
struct ToolAnswer {
    var json: String
    var isError = false
    /// Called once the client has the answer.
    var delivered: @Sendable () -> Void = {}
    /// Called if the answer can't be given: the call was cancelled, or the client is gone.
    var undelivered: @Sendable () -> Void = {}

    init(_ object: JSONObject) { json = object.json }

    init(error: String) {
        self.init(["error": error])
        isError = true
    }
}

/// The tools of one agent.
struct Tools {
    let agent: Agent

    /// Calls a tool.
    ///
    /// - Parameters:
    ///   - tool: The tool.
    ///   - arguments: Its arguments.
    ///   - interruption: Ends a wait.
    /// - Returns: The answer; what can't be done is an answer too.
    /// - Throws: `cancelled` if a wait is ended.
    func call(_ tool: ToolName, _ arguments: ToolArguments, _ interruption: Interruption) throws -> ToolAnswer {
        do {
            return try agent.space.use { namespace in
                try agent.arrive(in: namespace)
                switch tool {
                case .taskAdd: return try add(arguments, namespace)
                case .taskClaim: return try claim(arguments, namespace, interruption)
                case .taskEnd: return try end(arguments, namespace)
                case .hold: return try hold(arguments, namespace, interruption)
                case .letGo: return try letGo(arguments, namespace)
                case .say: return try say(arguments, namespace, interruption)
                case .who: return try who(arguments, namespace)
                }
            }
        } catch let error as SpaceError where error.code == .cancelled {
            throw error
        } catch let error as SpaceError where error.isOfRoom {
            return ToolAnswer(
                error:
                    "there is no room for it, and nothing was changed: \(error). Tasks that are ended make room: task_end "
                    + "yours if they are done, or ask the user to end some with \"space agents done ID\", or to free the disk"
            )
        } catch {
            return ToolAnswer(error: "\(error)")
        }
    }

    /// Whether a call may wait, so that others must not wait for it.
    static func mayWait(_ tool: ToolName, _ arguments: ToolArguments) -> Bool {
        switch tool {
        case .taskClaim, .hold, .say: (try? arguments.wait) ?? .zero > .zero
        case .taskAdd, .taskEnd, .letGo, .who: false
        }
    }

    // MARK: Tasks

    private func add(_ arguments: ToolArguments, _ namespace: Namespace) throws -> ToolAnswer {
        try arguments.check(["tasks"])
        let added = try TaskList(namespace).add(try arguments.tasks())
        let tasks = added.map { task -> JSONObject in
            ["id": task.id, "was_there": (!task.isNew).orLeftOut, "after": task.after.orLeftOut]
        }
        return ToolAnswer(["tasks": tasks, "next": "task_claim gives you one to work on"])
    }

    private func claim(
        _ arguments: ToolArguments,
        _ namespace: Namespace,
        _ interruption: Interruption
    ) throws -> ToolAnswer {
        try arguments.check(["match", "id", "wait_s", "as"])
        let who = try agent.named(try arguments.text("as"))
        let match = try arguments.text("match").map { (text) throws(AgentError) in
            do { return try Pattern(text) } catch { throw AgentError("match is no regular expression: \(error)") }
        }
        let tasks = TaskList(namespace)
        let claimed = try tasks.claim(
            for: who,
            matching: match,
            id: try arguments.number("id"),
            wait: try arguments.wait,
            interruption: interruption
        )
        guard let claimed else { return try nothing(for: who, namespace) }
        let notes = claimed.notes.map { note -> JSONObject in ["from": note.author, "text": note.text] }
        let others = try Survey(namespace).tasks(of: who).filter { $0.id != claimed.task.id }
        var result = ToolAnswer([
            "id": claimed.task.id, "title": claimed.task.title, "detail": claimed.task.detail.orLeftOut,
            "tried_before": claimed.claim.deliveries, "notes": notes.orLeftOut,
            "you_also_have": others.map(\.object).orLeftOut,
            "next": "hold the files that you will edit, do the task, then task_end with id \(claimed.task.id)",
        ])
        result.undelivered = { tasks.giveBackUntold(claimed) }
        return result
    }

    private func nothing(for who: AgentName, _ namespace: Namespace) throws -> ToolAnswer {
        let survey = try Survey(namespace)
        let own = survey.tasks(of: who)
        let advice =
            own.isEmpty
            ? "wait in line with wait_s, or tell the user that nothing is left to do"
            : "you have tasks; end them with task_end"
        return ToolAnswer([
            "nothing": true, "you_have": own.map(\.object).orLeftOut, "others": survey.claimedByOthers(than: who),
            "waiting_for_others": survey.later, "set_aside": survey.aside, "next": advice,
        ])
    }

    private func end(_ arguments: ToolArguments, _ namespace: Namespace) throws -> ToolAnswer {
        try arguments.check(["id", "how", "note", "as"])
        guard let id = try arguments.number("id") else { throw AgentError("id is the number of the task") }
        let how = try arguments.text("how") ?? ""
        guard let end = TaskList.End(rawValue: how) else {
            throw AgentError("how is done, give_back or set_aside")
        }
        let who = try agent.named(try arguments.text("as"))
        let name = try AgentDirectory(of: namespace).name(of: who)
        let note = try arguments.text("note") ?? ""
        let freed = try TaskList(namespace).end(id, end, note: note, by: who, named: name)
        return ToolAnswer([
            "ended": id, "how": how, "frees": freed.map { Survey.Task($0.id, $0.title).object }.orLeftOut,
            "next": "let_go of what you hold for it; task_claim gives you the next one",
        ])
    }

    // MARK: Holds

    private func names(_ arguments: ToolArguments) throws -> [HoldName]? {
        guard let texts = try arguments.texts("names") else { return nil }
        guard texts.count <= AgentLimits.namesAtOnce else {
            throw AgentError("\(texts.count) names at once are too many; \(AgentLimits.namesAtOnce) are the most")
        }
        let repository = agent.space.repository
        var names: [HoldName] = []
        for text in texts {
            let name = try HoldName(text, in: repository, from: agent.worktree)
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private func hold(
        _ arguments: ToolArguments,
        _ namespace: Namespace,
        _ interruption: Interruption
    ) throws -> ToolAnswer {
        try arguments.check(["names", "why", "wait_s", "as"])
        guard let names = try names(arguments), !names.isEmpty else {
            throw AgentError("names is an array such as [\"file:src/**\", \"port:3000-3010\"]")
        }
        let why = try arguments.text("why") ?? ""
        try AgentLimits.check(why, "why", most: AgentLimits.titleBytes)
        let who = try agent.named(try arguments.text("as"))
        let holding = Holding(namespace: namespace)
        let outcome = try holding.hold(
            names,
            for: who,
            why: why,
            wait: try arguments.wait,
            interruption: interruption
        )
        let hints = names.compactMap { $0.hint(in: agent.worktree) }
        var answer: JSONObject = ["hint": hints.joined(separator: "; ").orLeftOut]
        switch outcome {
        case .granted(let granted, let new):
            answer.add(["held": granted.map(\.text), "next": "let_go when you are done with it"])
            var result = ToolAnswer(answer)
            result.undelivered = { _ = try? holding.letGo(new, by: who) }
            return result
        case .refused(let obstacles, let ahead, let deadlock):
            let directory = try AgentDirectory(of: namespace)
            let advice =
                deadlock == nil
                ? "nothing was held; do something else, wait in line with wait_s, or say to who has it"
                : "you hold what the others wait for: let_go of it, then hold all that you need in one call"
            answer.add([
                "refused": true, "in_the_way": obstacles.flatMap { $0.objects(directory, who) },
                "place_in_line": ahead + 1, "deadlock": deadlock.map { Survey.text(of: $0, directory) }.orLeftOut,
                "next": advice,
            ])
            return ToolAnswer(answer)
        }
    }

    private func letGo(_ arguments: ToolArguments, _ namespace: Namespace) throws -> ToolAnswer {
        try arguments.check(["names", "as"])
        let who = try agent.named(try arguments.text("as"))
        let gone = try Holding(namespace: namespace).letGo(try names(arguments), by: who)
        let left = try namespace.rows(HoldRow.all, as: HoldRow.self).filter { $0.who == who }
        return ToolAnswer(["let_go": gone.map(\.text), "held": left.map(\.name.text)])
    }

    // MARK: Messages

    private func say(
        _ arguments: ToolArguments,
        _ namespace: Namespace,
        _ interruption: Interruption
    ) throws -> ToolAnswer {
        try arguments.check(["to", "text", "wait_s", "as"])
        let who = try agent.named(try arguments.text("as"))
        let mail = Mail(namespace: namespace)
        let directory = try AgentDirectory(of: namespace)
        var isSent = false
        let to = try arguments.text("to") ?? ""
        if let text = try arguments.text("text"), !text.isEmpty {
            try mail.send(text, to: to == "all" ? "" : to, from: who, in: directory)
            isSent = true
        } else if !to.isEmpty {
            throw AgentError("to needs a text")
        }
        let deadline = MonotonicInstant.now.advanced(by: try arguments.wait)
        var unread: (messages: [MailRow], more: Int) = ([], 0)
        _ = try namespace.wait(until: deadline, interruption: interruption) { () -> Bool? in
            unread = try mail.unread(by: who, in: directory)
            return unread.messages.isEmpty ? nil : true
        }
        let messages = unread.messages.map { message -> JSONObject in
            [
                "from": message.from, "to": (message.to.isEmpty ? "all" : nil).orLeftOut,
                "time": Clock.moment(message.time), "text": message.text,
            ]
        }
        var result = ToolAnswer([
            "sent": isSent.orLeftOut, "messages": messages, "more": (unread.more > 0 ? unread.more : nil).orLeftOut,
        ])
        if let last = unread.messages.last?.number { result.delivered = { try? mail.note(last, seenBy: who) } }
        return result
    }

    private func who(_ arguments: ToolArguments, _ namespace: Namespace) throws -> ToolAnswer {
        try arguments.check(["as"])
        let who = try agent.named(try arguments.text("as"))
        return ToolAnswer(try Survey(namespace).report(for: who, of: agent.space))
    }
}

extension HoldRules.Obstacle {
    /// What is in the way, for a model.
    fileprivate func objects(_ directory: AgentDirectory, _ who: AgentName) -> [JSONObject] {
        var objects = holds.map { hold -> JSONObject in
            [
                "name": name.text, "held": hold.name.text, "by": directory.name(of: hold.who),
                "pid": hold.who.process.pid, "since": Clock.moment(hold.since), "why": hold.why,
                "same_process": (hold.who.process == who.process).orLeftOut,
            ]
        }
        objects += ahead.map { ask -> JSONObject in
            [
                "name": name.text, "waits_before_you": directory.name(of: ask.who), "pid": ask.who.process.pid,
                "since": Clock.moment(ask.since), "why": ask.why,
            ]
        }
        if isTaken || isOwn, objects.isEmpty {
            let reason = isTaken ? "another program uses it" : "the other names of this call take it"
            objects.append(["name": name.text, "why": reason])
        }
        return objects
    }
}
