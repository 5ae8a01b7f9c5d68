import SpaceInspection

// Work queues with their items, counters, latches and rate limits, in a dump.

extension DumpReport {
    /// Prints a line for each queue, followed by one for each item, in the order of putting; then a line for each other
    /// recipe.
    func recipeLines(_ print: (String) throws -> Void) throws {
        try inspection.forEachQueue { queue, count in
            try print(Self.line(of: queue, count: count))
            try inspection.forEachItem(of: queue) { try print(Self.line(of: $0, in: queue)) }
        }
        try inspection.forEachState { try print(Self.line(of: $0)) }
    }

    /// The line of a queue.
    static func line(of queue: QueueDump, count: Int) -> String {
        line(
            "queue",
            ["name": queue.name, "deliveries": queue.deliveries, "bound": queue.bound ?? 0, "count": count]
        )
    }

    /// The line of an item of a queue.
    static func line(of item: QueueDump.Item, in queue: QueueDump) -> String {
        var object: JSONObject = [
            "queue": queue.name, "id": item.id, "state": item.state, "priority": item.priority,
            "ready": item.readyTime, "group": item.group, "unique": item.key.orLeftOut,
            "reason": item.reason.orLeftOut, "deliveries": item.deliveries,
        ]
        object.add(item.origin)
        object.add("value", item.value)
        return line("item", object)
    }

    /// The line of a counter, a latch, a rate limit or a semaphore.
    static func line(of dump: ObjectStateDump) -> String {
        let name = dump.name
        switch dump.state {
        case .counter(let number):
            return line("counter", ["name": name, "value": number])
        case .latch(let count, let left):
            return line("latch", ["name": name, "count": count, "left": left])
        case .rateLimit(let limit, let nanoseconds, let moments):
            let pairs = moments.map { [Int($0.time), $0.count] }
            return line("rate", ["name": name, "limit": limit, "nanoseconds": nanoseconds, "moments": pairs])
        case .semaphore(let permits):
            return line("semaphore", ["name": name, "permits": permits])
        }
    }

    func recipeText(now: Int64, _ print: @escaping (String) throws -> Void) throws {
        let titles = ["ID", "PUT", "BY", "STATE", "PRIORITY", "READY", "GROUP", "DELIVERIES", "REASON", "VALUE"]
        try inspection.forEachQueue { queue, count in
            let limit = queue.deliveries == 0 ? "" : ", buried after \(queue.deliveries) deliveries"
            let title = "queue \(PeopleText.escaped(queue.name)): \(PeopleText.count(count, "item"))\(limit)"
            try section(title, titles, print) { add in
                try inspection.forEachItem(of: queue) { item in
                    try add([
                        "\(item.id)", PeopleText.relative(item.origin.milliseconds, to: now), "\(item.origin.pid)",
                        item.state, "\(item.priority)",
                        PeopleText.relative(item.readyTime, to: now), item.group ?? "-",
                        "\(item.deliveries)", item.reason ?? "-", item.value.json,
                    ])
                }
            }
        }
        try section("counters, latches, rate limits, set permits", ["NAME", "STATE"], print) { add in
            try inspection.forEachState { try add([$0.name, Self.text(of: $0.state, now: now)]) }
        }
    }

    private static func text(of state: ObjectStateDump.State, now: Int64) -> String {
        switch state {
        case .counter(let number): "counts \(number)"
        case .latch(let count, let left): left == 0 ? "open" : "\(left) of \(count) left"
        case .semaphore(let permits): PeopleText.count(permits, "permit")
        case .rateLimit(let limit, let nanoseconds, let moments):
            "\(limit) in \(Duration.nanoseconds(nanoseconds)), "
                + (moments.last.map { "the last at \(PeopleText.relative($0.time, to: now))" } ?? "none reserved")
        }
    }
}
