import SharedSpace

// Putting items into a queue.

extension QueueCommand {
    static func object(_ put: QueuePut) -> JSONObject {
        switch put {
        case .added: ["id": put.id, "new": true]
        case .present: ["id": put.id, "new": false]
        case .replaced: ["id": put.id, "new": false, "replaced": true]
        }
    }

    func put() throws -> [QueuePut] {
        let items = try values.values(words, what: "the item")
        let delay = delay ?? .zero
        return try access.use(for: owner, creating: creation) { opened in
            let queue = self.queue(of: opened)
            if unique == nil, wait == nil {
                let ids = try queue.put(contentsOf: items, priority: priority, delay: delay, group: group)
                return ids.map { .added($0) }
            }
            let wait = wait.map { Wait(timeout: $0.timeout) } ?? Wait.none
            let put = try WaitNotice.during(opened, isUnlimited: wait.deadline == nil) {
                try queue.putBlocking(
                    items[0],
                    priority: priority,
                    delay: delay,
                    group: group,
                    unique: unique,
                    ifPresent: replace ? .replace : again ? .again : .keep,
                    wait,
                    interruption: Signals.interruption
                )
            }
            guard let put else { throw status.nothingObtained }
            return [put]
        }
    }
}
