/// The numbers that bound what agents ask for.
package enum AgentLimits {
    /// How long a claim or hold lasts without a call of its agent.
    static let deadline = Duration.seconds(7200)
    /// How often a server renews what its agent has, at most.
    static let renewal = Duration.seconds(60)
    /// The longest wait of one call: clients abandon a call after 60 s.
    package static let longestWait = Duration.seconds(50)
    /// How long the turn of a call that did not get its hold is kept for the next one.
    static let turn = Duration.seconds(60)
    /// How long a finished task is remembered, for its key.
    static let memory = Duration.seconds(30 * 86_400)
    /// How long a message is kept.
    static let mail = Duration.seconds(86_400)

    static let titleBytes = 1000
    static let detailBytes = 64 << 10
    static let nameBytes = 1000
    static let labelBytes = 64
    static let tasksAtOnce = 1000
    static let namesAtOnce = 64
    static let holdBytes = 500
    static let ports = 1024
    static let messagesAtOnce = 50
    /// How many messages are kept, even of a day in which agents send more.
    static let messagesKept = 1000
    static let messagesRemovedAtOnce = 100
    static let messageBytes = 32 << 10

    /// Checks the size of a text.
    static func check(_ text: String, _ what: String, most: Int) throws(AgentError) {
        guard text.utf8.count <= most else {
            throw AgentError("\(what) has \(text.utf8.count) bytes; \(most) are the most")
        }
    }
}
