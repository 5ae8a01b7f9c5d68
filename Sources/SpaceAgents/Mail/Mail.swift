import SharedSpace
import SpaceSystem

/// Messages among agents, to one or to all.
///
/// Each agent has a row with the last message that it got. The row moves after the answer was written, so if a server
/// is killed in between, the agent gets a message twice, but never loses one.
struct Mail {
    let namespace: Namespace

    /// Sends a message.
    ///
    /// - Throws: `AgentError` if there is no agent of that name.
    func send(_ text: String, to name: String, from who: AgentName, in directory: AgentDirectory) throws {
        try AgentLimits.check(text, "a message", most: AgentLimits.messageBytes)
        var reader: PresenceRow?
        if !name.isEmpty {
            let process = name.prefix { $0 != "/" }
            reader = directory.all.first {
                directory.name(of: AgentName($0.process)) == process || "\($0.process.pid)" == process
            }
            guard reader != nil else {
                let names = directory.all.filter { $0.process != who.process }.map {
                    directory.name(of: AgentName($0.process))
                }
                throw AgentError(
                    "there is no agent \"\(name)\"; here are: \(names.isEmpty ? "no others" : names.joined(separator: ", "))"
                )
            }
        }
        let from = directory.name(of: who)
        let label = String(name.drop { $0 != "/" }.dropFirst())
        let to = reader.map { Self.address(of: AgentName($0.process, label)) } ?? ""
        try namespace.transaction { t in
            let number = try t.increment("mail")
            let row = MailRow(number: number, to: to, from: from, time: Clock.realtimeMilliseconds(), text: text)
            if let reader {
                try t.write(row, endingWith: reader.process, expires: AgentLimits.mail)
            } else {
                try t.write(tuple: row.tuple, expires: AgentLimits.mail)
            }
            // Each look walks through all kept messages; to remove one with each new message would be a walk too.
            guard number.isMultiple(of: AgentLimits.messagesRemovedAtOnce) else { return }
            try t.takeAll(matching: ["mail", ...(number - AgentLimits.messagesKept), .any, .any, .any, .any])
        }
    }

    /// The messages that an agent has not got yet, the oldest first, and how many more there are.
    func unread(by who: AgentName, in directory: AgentDirectory) throws -> (messages: [MailRow], more: Int) {
        let seen = try position(of: who, in: directory)
        let (name, receivers) = (directory.name(of: who), ["", Self.address(of: who)])
        let rows = try receivers.flatMap { try first($0, after: seen, notFrom: name) }.sorted { $0.number < $1.number }
        var bytes = 0
        let messages = Array(
            rows.prefix(AgentLimits.messagesAtOnce).prefix { row in
                defer { bytes += row.text.utf8.count }
                return bytes == 0 || bytes + row.text.utf8.count <= AgentLimits.messageBytes
            }
        )
        guard let last = messages.last?.number, messages.count < rows.count else { return (messages, 0) }
        let more = try receivers.reduce(0) { sum, to in
            let all = try namespace.count(matching: Self.messages(after: last, to: to))
            return try sum + all - namespace.count(matching: Self.messages(after: last, to: to, from: name))
        }
        return (messages, more)
    }

    /// The oldest messages to an agent or to all, one more than an answer has at most.
    ///
    /// They are read in parts: thousands may be there, of which most may be the agent's own.
    private func first(_ to: String, after seen: Int, notFrom name: String) throws -> [MailRow] {
        let most = AgentLimits.messagesAtOnce + 1
        var found: [MailRow] = []
        var last = seen
        while found.count < most {
            let part = try namespace.readAll(matching: Self.messages(after: last, to: to), max: most)
            let rows = part.compactMap { MailRow($0.fields) }
            found += rows.filter { $0.from != name }
            guard part.count == most, let end = rows.last?.number else { break }
            last = end
        }
        return Array(found.prefix(most))
    }

    private static func messages(after number: Int, to: String, from: String? = nil) -> Template {
        if let from { return ["mail", (number + 1)..., to, from, .any, .any] }
        return ["mail", (number + 1)..., to, .any, .any, .any]
    }

    private func position(of who: AgentName, in directory: AgentDirectory) throws -> Int {
        let seen = try namespace.readAll(matching: Self.seen(who)).compactMap { $0[3].number }.max()
        return seen ?? directory[who.process]?.mail ?? 0
    }

    /// Notes that an agent has got the messages up to a number.
    func note(_ number: Int, seenBy who: AgentName) throws {
        try namespace.transaction { t in
            let known = try t.takeAll(matching: Self.seen(who)).compactMap { $0[3].number }.max() ?? 0
            try t.write(
                tuple: ["seen", who.process.agentKey, who.label, max(known, number)],
                lifetime: .process(who.process.pid)
            )
        }
    }

    /// A client may change its name, but not its process.
    private static func address(of who: AgentName) -> String { "\(who.process.agentKey)/\(who.label)" }

    private static func seen(_ who: AgentName) -> Template { ["seen", who.process.agentKey, who.label, .any] }
}
