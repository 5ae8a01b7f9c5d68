import SharedSpace
import SpaceSystem

/// The agents that are here, and how people and agents call them: `claude-code-4711`, a subagent `claude-code-4711/tests`.
struct AgentDirectory {
    private let agents: [ProcessIdentity: PresenceRow]

    init(_ rows: [PresenceRow]) {
        agents = Dictionary(
            rows.filter { $0.process.life == .alive }.map { ($0.process, $0) },
            uniquingKeysWith: { $1 }
        )
    }

    init(of namespace: Namespace) throws(SpaceError) {
        self.init(try namespace.rows(PresenceRow.all, as: PresenceRow.self))
    }

    /// The agents, in the order in which they came.
    var all: [PresenceRow] { agents.values.sorted { ($0.since, $0.process.pid) < ($1.since, $1.process.pid) } }

    subscript(_ process: ProcessIdentity) -> PresenceRow? { agents[process] }

    func name(of who: AgentName) -> String {
        let name = "\(program(of: who.process))-\(who.process.pid)"
        return who.label.isEmpty ? name : "\(name)/\(who.label)"
    }

    /// What an agent's client calls itself, or the name of its program, as a word.
    func program(of process: ProcessIdentity) -> String {
        let client = agents[process]?.client ?? ""
        let text = client.isEmpty ? ProcessIdentity.commandName(of: process.pid) ?? "" : client
        let word = text.lowercased().unicodeScalars.prefix(24).map { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_"
                    || scalar == ".")
                ? Character(scalar) : "-"
        }
        return word.isEmpty ? "agent" : String(word)
    }
}

extension PresenceRow {
    static var all: Template { ["agent", .any, .any, .any, .any, .any] }
}

extension WorkRow {
    static var all: Template { ["work", .any, .any, .any, .any, .any] }
    static func of(_ id: Int) -> Template { ["work", id, .any, .any, .any, .any] }
    static func of(_ id: Int, claim: UInt64) -> Template {
        ["work", id, Int(Int64(bitPattern: claim)), .any, .any, .any]
    }
}

extension HoldRow {
    static var all: Template { ["hold", .any, .any, .any, .any, .any] }
}

extension AskRow {
    static var all: Template { ["ask", .any, .any, .any, .any, .any, .any, .any] }
    static func of(_ who: AgentName) -> Template {
        ["ask", .any, who.process.agentKey, who.label, .any, .any, .any, .any]
    }
    static func of(_ who: AgentName, turn: Int) -> Template {
        ["ask", turn, who.process.agentKey, who.label, .any, .any, .any, .any]
    }
    /// Those of waits that have ended without success.
    static func left(by who: AgentName) -> Template {
        ["ask", .any, who.process.agentKey, who.label, .any, .any, .any, false]
    }
}

extension NoteRow {
    static func of(_ id: Int) -> Template { ["note", id, .any, .any, .any] }
}

extension TaskRow {
    static var free: Template { ["task", .any, .any, .any, .any, .any] }
    static var later: Template { ["later", .any, .any, .any, .any, .any, .any] }
}
