// Deadlocks in words, and as the values that watchers get.

extension WaitGraph.Subject {
    /// What is waited for: `the lock "db"`.
    package var phrase: String {
        switch self {
        case .hold(let kind, let name): "the \(kind) \(name.text.quotedForPeople)"
        case .answer(let name): "the answer to \(name.text.quotedForPeople)"
        case .command: "the end of its command"
        }
    }

    /// The type of the awaited thing, for programs: an object's kind, `request` or `command`.
    package var type: String {
        switch self {
        case .hold(let kind, _): kind
        case .answer: "request"
        case .command: "command"
        }
    }

    /// The name of what is waited for.
    package var name: Name {
        switch self {
        case .hold(_, let name), .answer(let name), .command(let name): name
        }
    }
}

extension Deadlock {
    /// Which process waits for which, in order round the circle.
    ///
    /// - Parameter naming: Whether the namespaces are named too.
    /// - Returns: One line.
    package func text(naming: Bool = false) -> String {
        steps.indices.map { index in
            let (step, blocker) = (steps[index], blocker(of: index))
            let place = step.namespace.flatMap { naming ? " in \($0.text.quotedForPeople)" : nil } ?? ""
            return switch step.subject {
            case .hold where step.isBehind: "\(step.pid) waits for \(step.subject.phrase)\(place) behind \(blocker)"
            case .hold: "\(step.pid) waits for \(step.subject.phrase)\(place) of \(blocker)"
            case .answer: "\(step.pid) waits for \(step.subject.phrase)\(place) from \(blocker)"
            case .command: "\(step.pid) waits for its command \(blocker)"
            }
        }
        .joined(separator: "; ")
    }

    /// What watchers are told: an object with the `circle`, a list of steps, and the `text`.
    var told: Value {
        let circle = steps.indices.map { index in
            let step = steps[index]
            var told: [(String, Value)] = [
                ("pid", .int(Int(step.pid))), ("type", .string(step.subject.type)),
                ("name", .string(step.subject.name.text)), ("waits_for", .int(Int(blocker(of: index)))),
            ]
            if step.isBehind { told.append(("behind", .bool(true))) }
            return Value.object(Record(literal: told))
        }
        return .object(["circle": .array(circle), "text": .string(text())])
    }
}
