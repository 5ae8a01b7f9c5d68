package import SharedSpace
import SpaceSystem

/// What the agents of a repository do, at one moment.
package struct Survey {
    /// A task that an agent has, or that is meant to be shown.
    struct Task {
        let id: Int
        let title: String
        var since: Int64?

        init(_ id: Int, _ title: String, since: Int64? = nil) { (self.id, self.title, self.since) = (id, title, since) }

        var object: JSONObject { ["id": id, "title": title, "since": since.map(Clock.moment).orLeftOut] }
    }

    let directory: AgentDirectory
    let rules: HoldRules
    private let claimed: [(task: Task, who: AgentName?)]
    let free: Int
    let later: Int
    let aside: Int

    package init(_ namespace: Namespace) throws {
        directory = try AgentDirectory(of: namespace)
        rules = try HoldRules { try namespace.readAll(matching: $0) }
        let works = Dictionary(
            try namespace.rows(WorkRow.all, as: WorkRow.self).map { ($0.claim, $0) },
            uniquingKeysWith: { $1 }
        )
        claimed = try namespace.claimedTasks().map { task in
            let work = works[task.claim.number]
            return (
                Task(task.task.id, task.task.title, since: work?.since), work?.who ?? task.holder.map { AgentName($0) }
            )
        }
        free = try namespace.count(matching: TaskRow.free)
        later = try namespace.count(matching: TaskRow.later)
        aside = try namespace.buried(matching: TaskRow.free).count
    }

    /// How many tasks are in which state.
    package var counts: (free: Int, claimed: Int, later: Int, aside: Int) { (free, claimed.count, later, aside) }

    /// The tasks that an agent has.
    func tasks(of who: AgentName) -> [Task] { claimed.filter { $0.who == who }.map(\.task) }

    /// The tasks that others have.
    func claimedByOthers(than who: AgentName) -> [JSONObject] {
        claimed.filter { $0.who != who }.map { task, who in
            var object = task.object
            object.add("by", who.map { directory.name(of: $0) })
            return object
        }
    }

    /// A circle of agents, for people: `a waits for b, which waits for a`.
    static func text(of circle: [AgentName], _ directory: AgentDirectory) -> String {
        let names = circle.map { directory.name(of: $0) }
        return (names + names.prefix(1)).joined(separator: " waits for ")
    }

    /// The agents that are here, and those that have or wait for something though they have said nothing yet.
    package struct Line {
        package let name: String
        package let pid: Int32
        package let since: Int64?
        package let folder: String
        package let branch: String?
        /// What it has and waits for, with times in milliseconds since 1970.
        package let tasks: [(id: Int, title: String, since: Int64?)]
        package let holds: [(name: String, why: String, since: Int64)]
        package let waits: [(names: [String], for: [String], since: Int64)]
        let who: AgentName
    }

    /// A line for each agent and subagent.
    package var lines: [Line] {
        var all: [AgentName] = directory.all.map { AgentName($0.process) }
        for who in claimed.compactMap(\.who) + rules.holds.map(\.who) + rules.asks.map(\.who) where !all.contains(who) {
            all.append(who)
        }
        return all.map { who in
            let row = directory[who.process]
            let folder = row?.folder ?? AgentProcess.folder(of: who.process.pid) ?? ""
            return Line(
                name: directory.name(of: who),
                pid: who.process.pid,
                since: row?.since,
                folder: folder,
                branch: folder.isEmpty ? nil : Repository(of: folder).branch,
                tasks: tasks(of: who).map { ($0.id, $0.title, $0.since) },
                holds: rules.holds.filter { $0.who == who }.map { ($0.name.text, $0.why, $0.since) },
                waits: rules.asks.filter { $0.who == who && $0.waits }.map { ask in
                    let verdict = rules.verdict(on: ask.names, for: ask.who, turn: ask.turn) { _ in true }
                    var blockers: [String] = []
                    for who in verdict.obstacles.flatMap({ $0.holds.map(\.who) + $0.ahead.map(\.who) }) {
                        let name = directory.name(of: who)
                        if !blockers.contains(name) { blockers.append(name) }
                    }
                    return (ask.names.map(\.text), blockers, ask.since)
                },
                who: who
            )
        }
    }

    /// The deadlocks, for people.
    package var deadlocks: [String] { rules.deadlocks().map { Self.text(of: $0.map(\.who), directory) } }

    /// The answer of the tool `who`, and what `space agents --json` prints.
    package func report(for who: AgentName?, of space: AgentSpace) -> JSONObject {
        let agents = lines.map { line -> JSONObject in
            let holds = line.holds.map { hold -> JSONObject in
                ["name": hold.name, "why": hold.why, "since": Clock.moment(hold.since)]
            }
            let waits = line.waits.map { wait -> JSONObject in
                ["names": wait.names, "for": wait.for, "since": Clock.moment(wait.since)]
            }
            return [
                "name": line.name, "pid": line.pid, "folder": line.folder, "branch": line.branch,
                "since": line.since.map(Clock.moment).orLeftOut,
                "tasks": tasks(of: line.who).map(\.object).orLeftOut,
                "holds": holds.orLeftOut, "waits": waits.orLeftOut,
            ]
        }
        let counts: JSONObject = [
            "free": free, "claimed": claimed.count, "waiting_for_others": later, "set_aside": aside,
        ]
        return [
            "you": who.map { directory.name(of: $0) }.orLeftOut, "agents": agents, "deadlocks": deadlocks,
            "tasks": counts, "repository": space.repository.common, "namespace": space.name,
        ]
    }
}
