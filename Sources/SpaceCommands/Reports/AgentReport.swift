import SpaceAgents
import SpaceSystem

/// What `space agents` shows.
struct AgentReport {
    private let survey: Survey
    private let space: AgentSpace
    private let now = Clock.realtimeMilliseconds()

    init(_ survey: Survey, _ space: AgentSpace) { (self.survey, self.space) = (survey, space) }

    var lines: [String] {
        var lines = survey.deadlocks.map { PeopleText.escaped("DEADLOCK: \($0)") }
        for agent in survey.lines {
            let branch = agent.branch.map { " (\($0))" } ?? ""
            let since = agent.since.map { ", here since \(PeopleText.clock($0, now: now))" } ?? ""
            lines.append(PeopleText.escaped("\(agent.name)  \(agent.folder)\(branch), pid \(agent.pid)\(since)"))
            var rows: [[String]] = agent.tasks.map { task in
                ["works on", "\(task.id) \(task.title)", task.since.map { PeopleText.relative($0, to: now) } ?? ""]
            }
            rows += agent.holds.map { hold in
                [
                    "holds", hold.name + (hold.why.isEmpty ? "" : ": \(hold.why)"),
                    PeopleText.relative(hold.since, to: now),
                ]
            }
            rows += agent.waits.map { wait in
                let blockers = wait.for.isEmpty ? "" : " from \(wait.for.joined(separator: ", "))"
                return [
                    "waits for", wait.names.joined(separator: " ") + blockers, PeopleText.relative(wait.since, to: now),
                ]
            }
            lines += PeopleText.table(rows, indent: "  ")
        }
        if survey.lines.isEmpty { lines.append("no agent is here") }
        let counts = survey.counts
        lines.append(
            "tasks: \(counts.free) free, \(counts.claimed) claimed, \(counts.later) waiting for others, \(counts.aside) set aside"
        )
        lines.append(PeopleText.escaped("space --root \(space.root) show \(space.name)"))
        return lines
    }
}

extension TaskList.Listed {
    var cells: [String] {
        let cells = ["\(id)", state.rawValue, "\(priority)", title]
        return after.isEmpty ? cells : cells + ["after \(after.map { "\($0)" }.joined(separator: ", "))"]
    }
}
