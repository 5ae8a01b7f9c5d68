package import SpaceSystem
import TupleCoding

/// An agent's process, and the label of one of its subagents; the label of the agent itself is empty.
package struct AgentName: Hashable, Sendable {
    package let process: ProcessIdentity
    package let label: String

    package init(_ process: ProcessIdentity, _ label: String = "") { (self.process, self.label) = (process, label) }

    init?(_ process: Value, _ label: Value) {
        guard let process = process.text.flatMap({ ProcessIdentity(agentKey: $0) }), let label = label.text else {
            return nil
        }
        self.init(process, label)
    }

    /// Whether the process lives; the row of a dead process no longer counts, even if it is not removed yet.
    var isAlive: Bool { process.life == .alive }
}
