import CommandWords
import SharedSpace
import SpaceAgents
import SpaceSystem

/// The command `space agents [ACTION …]`.
struct AgentsCommand: ParsableCommand {
    static let commandName = "agents"
    static let configuration = CommandConfiguration(
        abstract: "Show the coding agents of a repository, and give them tasks.",
        usage: """
            space agents [<options>] [--watch]
            space agents [<options>] <action> [<word> ...]
            """,
        discussion: """
            Shows who works on what, holds what, waits for whom, since when, in which worktree and on which branch; deadlocks \
            are named first. The agents are those that have called a tool of 'space mcp'. With --watch it shows that again \
            after each change, until ^C.

            add TITLE… adds tasks, and prints their numbers. tasks lists those that are not done. take-back ID… puts tasks \
            back in the list that an agent has, or that were set aside; set-aside ID… keeps them from all agents; done ID… \
            ends them as done.

            All of it is tuples in one namespace, whose root and name the last line has: 'space show', 'watch' and 'take' \
            work on them.

            EXAMPLES:
              space agents
              space agents add 'Fix the login' --detail 'See issue 12' --priority 8
              space agents add 'Write its test' --after 1
              space agents take-back 3
              space agents --json | jq -r '.agents[].name'
            """
    )

    enum Action: String, ExpressibleByArgument, CaseIterable {
        case add, tasks
        case takeBack = "take-back"
        case setAside = "set-aside"
        case done
    }

    @OptionGroup var agents: AgentOptions

    @Flag(help: "Show it again after each change.")
    var watch = false

    @Flag(help: "One JSON object; for tasks and add one a line.")
    var json = false

    @Option(help: "<text> For add: what an agent has to know.")
    var detail: String?

    @Option(help: "<n> For add: 0 to 9; 9 comes first (default: 5).")
    var priority: Int?

    @Option(help: "<id> For add: a task that must be done first, by its number or key; may be repeated.")
    var after: [String] = []

    @Option(help: "<key> For add: a name; while a task has it, and 30 days after, no other is added with it.")
    var key: String?

    @Argument(help: "<action> add, tasks, take-back, set-aside or done.")
    var action: Action?

    @Argument(help: "<word> For add titles, for the others numbers of tasks.")
    var words: [String] = []

    func validate() throws {
        if action != .add, detail != nil || priority != nil || !after.isEmpty || key != nil {
            throw ValidationError("--detail, --priority, --after and --key are for add")
        }
        if watch, action != nil { throw ValidationError("--watch takes no action") }
        switch action {
        case nil, .tasks: if !words.isEmpty { throw ValidationError("nothing follows here") }
        case .add: if words.isEmpty { throw ValidationError("give the title of a task") }
        case .takeBack, .setAside, .done: if words.isEmpty { throw ValidationError("give the number of a task") }
        }
        if key != nil, words.count > 1 { throw ValidationError("--key is for one task") }
    }

    func run() throws {
        let space = try agents.space()
        do {
            switch action {
            case nil: try watch ? watch(space) : show(space)
            case .tasks: try tasks(space)
            case .add: try add(space)
            case .takeBack: try each(space) { list, id in try list.takeBack(id) }
            case .setAside: try each(space) { list, id in try list.setAside(id) }
            case .done:
                try each(space) { list, id in
                    for freed in try list.finish(id, by: "a person") {
                        Messages.print("space: task \(freed) is free now")
                    }
                }
            }
        } catch let error as AgentError {
            throw CommandFailure.usage("\(error)")
        }
    }

    // MARK: Tasks

    private func add(_ space: AgentSpace) throws {
        let references = after.map { word in Int(word).map { NewTask.Reference.id($0) } ?? .key(word) }
        let tasks = try words.map { title in
            try NewTask(title: title, detail: detail ?? "", priority: priority ?? 5, after: references, key: key ?? "")
        }
        try Output().checkTaken()
        for task in try space.use({ try TaskList($0).add(tasks) }) {
            let object: JSONObject = ["id": task.id, "new": task.isNew]
            try Output.print(line: json ? object.json : "\(task.id)")
        }
    }

    private func each(_ space: AgentSpace, _ body: (TaskList, Int) throws -> Void) throws {
        let ids = try words.map { word in
            guard let id = Int(word) else {
                throw CommandFailure.usage("\(word.quotedForPeople) is no number of a task")
            }
            return id
        }
        try look(at: space) { namespace in
            do {
                for id in ids { try body(TaskList(namespace), id) }
            } catch let error as AgentError {
                throw CommandFailure(.nothing, "\(error)")
            }
        }
    }

    private func tasks(_ space: AgentSpace) throws {
        let tasks = try space.look { try TaskList($0).all() } ?? []
        if json {
            for task in tasks { try Output.print(line: task.json) }
            return
        }
        try Output.print(lines: PeopleText.table(tasks.map(\.cells)))
    }

    // MARK: The report

    /// Looks at the namespace of the agents, which they make.
    private func look(at space: AgentSpace, _ body: (Namespace) throws -> Void) throws {
        let found: Void? = try space.look(body)
        if found != nil { return }
        throw CommandFailure(
            .unavailable,
            "no agent has worked on \(space.repository.worktree.quotedForPeople) yet: there is no namespace "
                + "\(space.name.quotedForPeople) in \(space.root.quotedForPeople)"
        )
    }

    private func show(_ space: AgentSpace) throws {
        try look(at: space) { namespace in try Output.print(lines: try lines(of: namespace, space)) }
    }

    private func lines(of namespace: Namespace, _ space: AgentSpace) throws -> [String] {
        let survey = try Survey(namespace)
        return json ? [survey.report(for: nil, of: space).json] : AgentReport(survey, space).lines
    }

    private func watch(_ space: AgentSpace) throws {
        try look(at: space) { namespace in
            let changes = try namespace.changes()
            while true {
                let lines = try lines(of: namespace, space)
                try Output.print(lines: json ? lines : lines + [""])
                // The next look tells of all that has come until then.
                _ = try Lookout.next(until: .distantFuture, printingTo: Output()) { duration in
                    try changes.nextBlocking(timeout: duration, interruption: Signals.interruption)
                }
                while try changes.nextBlocking(timeout: .milliseconds(50), interruption: Signals.interruption) != nil {}
            }
        }
    }
}
