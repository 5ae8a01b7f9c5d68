import SharedSpace

/// The arguments of a call of a tool, as a client sends them.
struct ToolArguments {
    private let record: Record

    init(_ record: Record) { self.record = record }

    /// Refuses arguments that the tool doesn't have: a model that has misspelled an argument must be told.
    func check(_ known: [String]) throws(AgentError) {
        for (name, _) in record where !known.contains(name) {
            throw AgentError(
                "there is no argument \(name.quotedForPeople); there are: \(known.joined(separator: ", "))"
            )
        }
    }

    private func value(_ name: String) -> Value? {
        guard let value = record[name], value != .null else { return nil }
        return value
    }

    func text(_ name: String) throws(AgentError) -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.text else { throw AgentError("\(name) is a string") }
        return text
    }

    func number(_ name: String) throws(AgentError) -> Int? {
        guard let value = value(name) else { return nil }
        // Some clients write all numbers with a point.
        if let number = value.number { return number }
        if case .double(let double) = value, let number = Int(exactly: double) { return number }
        throw AgentError("\(name) is a whole number")
    }

    func texts(_ name: String) throws(AgentError) -> [String]? {
        guard let value = value(name) else { return nil }
        guard let list = value.list else { throw AgentError("\(name) is an array of strings") }
        var texts: [String] = []
        for element in list {
            guard let text = element.text else { throw AgentError("\(name) is an array of strings") }
            texts.append(text)
        }
        return texts
    }

    /// How long to wait, at most as long as one call may.
    var wait: Duration {
        get throws(AgentError) {
            guard let value = value("wait_s") else { return .zero }
            let seconds: Double
            switch value {
            case .int(let number): seconds = Double(number)
            case .double(let number): seconds = number
            default: throw AgentError("wait_s is a number of seconds")
            }
            guard seconds >= 0 else { throw AgentError("wait_s is a number of seconds from 0 to 50") }
            return min(.milliseconds(Int(min(seconds, 1000) * 1000)), AgentLimits.longestWait)
        }
    }

    /// The tasks of `task_add`.
    func tasks() throws(AgentError) -> [NewTask] {
        guard let list = value("tasks")?.list, !list.isEmpty else {
            throw AgentError("tasks is an array of objects with a title: [{\"title\": \"fix the login\"}]")
        }
        var tasks: [NewTask] = []
        for element in list {
            guard let members = element.members else { throw AgentError("each of tasks is an object with a title") }
            let one = ToolArguments(members)
            try one.check(["title", "detail", "priority", "after", "key"])
            var after: [NewTask.Reference] = []
            if let references = one.value("after") {
                guard let references = references.list else { throw AgentError("after is an array of ids or keys") }
                for reference in references {
                    switch reference {
                    case .int(let id): after.append(.id(id))
                    case .string(let key): after.append(.key(key))
                    default: throw AgentError("after is an array of ids or keys")
                    }
                }
            }
            tasks.append(
                try NewTask(
                    title: try one.text("title") ?? "",
                    detail: try one.text("detail") ?? "",
                    priority: try one.number("priority") ?? 5,
                    after: after,
                    key: try one.text("key") ?? ""
                )
            )
        }
        return tasks
    }
}
