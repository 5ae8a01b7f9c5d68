import Glibc
import SharedSpace
package import SpaceSystem
import Synchronization

/// An agent at work: its process, where it works, and what it calls itself.
package final class Agent: Sendable {
    package let process: ProcessIdentity
    package let space: AgentSpace
    /// The folder in which it works.
    package let folder: String
    /// The folder of its worktree, from which its paths lead.
    var worktree: String { space.repository.worktree }
    private let state = Mutex(State())

    private struct State {
        var client = ""
        var lastRenewal: MonotonicInstant?
    }

    package init(_ process: ProcessIdentity, in space: AgentSpace, folder: String) {
        (self.process, self.space, self.folder) = (process, space, folder)
    }

    /// Notes how the client calls itself.
    func note(client: String) {
        state.withLock {
            $0.client = String(client.unicodeScalars.filter { !$0.isControl }.prefix(64).map(Character.init))
        }
    }

    /// The subagent of this name, or the agent itself.
    func named(_ label: String?) throws(AgentError) -> AgentName {
        let label = label ?? ""
        try AgentLimits.check(label, "as", most: AgentLimits.labelBytes)
        guard !label.unicodeScalars.contains(where: { $0.isControl || $0 == "/" }) else {
            throw AgentError("as has a control character or \"/\" in it")
        }
        return AgentName(process, label)
    }

    /// Enters the agent in the list of present agents, unless it is listed already, and renews what it has.
    ///
    /// In a full namespace there may be no room for either; the agent can still look, and end what it has.
    func arrive(in namespace: Namespace) throws {
        do {
            try enter(namespace)
            try renew(in: namespace)
        } catch let error as SpaceError where error.isOfRoom {}
    }

    private func enter(_ namespace: Namespace) throws {
        let template: Template = ["agent", process.agentKey, .any, .any, .any, .any]
        if try namespace.count(matching: template) == 0 {
            let client = state.withLock { $0.client }
            try namespace.transaction { t in
                guard try t.count(matching: template) == 0 else { return }
                let mail = try t.get("mail", as: Int.self) ?? 0
                let row = PresenceRow(
                    process: process,
                    client: client,
                    folder: folder,
                    mail: mail,
                    since: Clock.realtimeMilliseconds()
                )
                try t.write(row, endingWith: process)
            }
            namespace.core.claimants.ring()
        }
    }

    /// Moves the deadlines of the agent's claims and holds, at most once a minute.
    private func renew(in namespace: Namespace) throws {
        let isDue = state.withLock { state in
            if let last = state.lastRenewal, MonotonicInstant.now.duration(since: last) < AgentLimits.renewal {
                return false
            }
            state.lastRenewal = .now
            return true
        }
        guard isDue else { return }
        for task in try namespace.claimedTasks() where task.isHeld(by: process) {
            _ = try namespace.extend(claimNumbered: task.claim.number, by: AgentLimits.deadline)
        }
        for match in try namespace.matches(["hold", .any, process.agentKey, .any, .any, .any]) {
            try namespace.renew(match.id, expires: AgentLimits.deadline)
        }
    }
}
