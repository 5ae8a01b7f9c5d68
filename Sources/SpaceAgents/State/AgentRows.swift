import SpaceSystem
import TupleCoding

// The tuples of agents: this is the layout that the article shows, and that people read and mend with `space`.
//
//   ["task", id, priority, title, detail, key]          a task that is free; claimed or buried it is not visible
//   ["later", id, priority, title, detail, key, [id…]]  a task that waits until others are done
//   ["open", id, key]                                   a task that is not done, whatever its state
//   ["done", id, key, title, who, time]                 a task that is done; forgotten after 30 days
//   ["note", id, who, time, text]                       what an agent has left for the next one that has the task
//   ["work", id, claim, agent, as, since]               who has claimed a task, as the subagent says
//   ["agent", agent, client, folder, mail, since]       an agent
//   ["hold", name, agent, as, why, since]               what an agent holds
//   ["ask", turn, agent, as, [name…], why, since, waits]  what an agent waits for, or waited for until now
//   ["mail", number, to, from, time, text]              a message
//   ["seen", agent, as, number]                         the last message that an agent has got
//
// An agent is "PID:START". What ends with it is written with its lifetime, so the kernel says when it goes. The cells
// "tasks", "turns" and "mail" count.

/// A row: its tuple, and how it is read from one.
protocol AgentRow: Sendable {
    init?(_ fields: [Value])
    var tuple: Tuple { get }
}

/// A task, free or one that waits for others.
struct TaskRow {
    var id: Int
    var priority = 5
    var title: String
    var detail = ""
    var key = ""
    var after: [Int] = []
}

extension TaskRow: AgentRow {
    init?(_ fields: [Value]) {
        let isLater = fields.first?.text == "later"
        guard isLater || fields.first?.text == "task", fields.count == (isLater ? 7 : 6), let id = fields[1].number,
            let priority = fields[2].number, let title = fields[3].text, let detail = fields[4].text,
            let key = fields[5].text
        else { return nil }
        (self.id, self.priority, self.title, self.detail, self.key) = (id, priority, title, detail, key)
        if isLater { after = (fields[6].list ?? []).compactMap(\.number) }
    }

    var tuple: Tuple {
        after.isEmpty
            ? ["task", id, priority, title, detail, key]
            : ["later", id, priority, title, detail, key, Value.array(after.map { .int($0) })]
    }
}

/// What an agent has left for the next one.
struct NoteRow {
    var id: Int
    var author: String
    var time: Int64
    var text: String
}

extension NoteRow: AgentRow {
    init?(_ fields: [Value]) {
        guard fields.count == 5, let id = fields[1].number, let author = fields[2].text, let time = fields[3].number,
            let text = fields[4].text
        else { return nil }
        self.init(id: id, author: author, time: Int64(time), text: text)
    }

    var tuple: Tuple { ["note", id, author, Int(time), text] }
}

/// Who has claimed a task.
struct WorkRow {
    var id: Int
    var claim: UInt64
    var who: AgentName
    var since: Int64
}

extension WorkRow: AgentRow {
    init?(_ fields: [Value]) {
        guard fields.count == 6, let id = fields[1].number, let claim = fields[2].number,
            let who = AgentName(fields[3], fields[4]), let since = fields[5].number
        else { return nil }
        self.init(id: id, claim: UInt64(bitPattern: Int64(claim)), who: who, since: Int64(since))
    }

    var tuple: Tuple { ["work", id, Int(Int64(bitPattern: claim)), who.process.agentKey, who.label, Int(since)] }
}

/// An agent.
struct PresenceRow {
    var process: ProcessIdentity
    var client: String
    var folder: String
    /// The number of the last message before it came.
    var mail: Int
    var since: Int64
}

extension PresenceRow: AgentRow {
    init?(_ fields: [Value]) {
        guard fields.count == 6, let process = fields[1].text.flatMap({ ProcessIdentity(agentKey: $0) }),
            let client = fields[2].text, let folder = fields[3].text, let mail = fields[4].number,
            let since = fields[5].number
        else { return nil }
        self.init(process: process, client: client, folder: folder, mail: mail, since: Int64(since))
    }

    var tuple: Tuple { ["agent", process.agentKey, client, folder, mail, Int(since)] }
}

/// What an agent holds.
struct HoldRow {
    var name: HoldName
    var who: AgentName
    var why: String
    var since: Int64
}

extension HoldRow: AgentRow {
    init?(_ fields: [Value]) {
        guard fields.count == 6, let name = fields[1].text.map({ HoldName(stored: $0) }),
            let who = AgentName(fields[2], fields[3]), let why = fields[4].text, let since = fields[5].number
        else { return nil }
        self.init(name: name, who: who, why: why, since: Int64(since))
    }

    var tuple: Tuple { ["hold", name.text, who.process.agentKey, who.label, why, Int(since)] }
}

/// What an agent waits for, or waited for until now.
struct AskRow {
    var turn: Int
    var who: AgentName
    var names: [HoldName]
    var why: String
    var since: Int64
    var waits: Bool

    /// Whether it belongs to a wait for these names that has ended without success: the next wait takes over its turn.
    func isLeft(for names: [HoldName]) -> Bool { !waits && Set(self.names) == Set(names) }
}

extension AskRow: AgentRow {
    init?(_ fields: [Value]) {
        guard fields.count == 8, let turn = fields[1].number, let who = AgentName(fields[2], fields[3]),
            let names = fields[4].list, let why = fields[5].text, let since = fields[6].number,
            let waits = fields[7].flag
        else { return nil }
        self.init(
            turn: turn,
            who: who,
            names: names.compactMap { $0.text.map { HoldName(stored: $0) } },
            why: why,
            since: Int64(since),
            waits: waits
        )
    }

    var tuple: Tuple {
        let names = Value.array(names.map { .string($0.text) })
        return ["ask", turn, who.process.agentKey, who.label, names, why, Int(since), waits]
    }
}

/// A message.
struct MailRow {
    var number: Int
    /// The agent and its subagent, `PID:START/as`; empty for all.
    var to: String
    var from: String
    var time: Int64
    var text: String
}

extension MailRow: AgentRow {
    init?(_ fields: [Value]) {
        guard fields.count == 6, let number = fields[1].number, let to = fields[2].text, let from = fields[3].text,
            let time = fields[4].number, let text = fields[5].text
        else { return nil }
        self.init(number: number, to: to, from: from, time: Int64(time), text: text)
    }

    var tuple: Tuple { ["mail", number, to, from, Int(time), text] }
}
