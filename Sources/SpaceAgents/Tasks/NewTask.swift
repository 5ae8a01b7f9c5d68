import TupleCoding

/// A task that is to be added.
package struct NewTask: Sendable {
    /// A task that must be done first: its number, or its key, which may belong to a task that is added in the same
    /// call.
    package enum Reference: Sendable, Hashable {
        case id(Int)
        case key(String)
    }

    var title: String
    var detail: String
    var priority: Int
    var after: [Reference]
    /// A name that no two tasks have; empty for none.
    var key: String

    /// Makes a task.
    ///
    /// - Throws: `AgentError` for a text that is empty or too long, and for a priority outside of 0 to 9.
    package init(
        title: String,
        detail: String = "",
        priority: Int = 5,
        after: [Reference] = [],
        key: String = ""
    ) throws(AgentError) {
        guard title.unicodeScalars.contains(where: { !$0.properties.isWhitespace && !$0.isControl }) else {
            throw AgentError("a task's title is empty")
        }
        try AgentLimits.check(title, "a task's title", most: AgentLimits.titleBytes)
        try AgentLimits.check(detail, "a task's detail", most: AgentLimits.detailBytes)
        try AgentLimits.check(key, "a task's key", most: AgentLimits.nameBytes)
        guard (0...9).contains(priority) else { throw AgentError("a priority is 0 to 9, and 9 comes first") }
        (self.title, self.detail, self.priority) = (title, detail, priority)
        (self.after, self.key) = (after, key)
    }
}
