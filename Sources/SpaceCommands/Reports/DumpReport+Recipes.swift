import SharedSpace
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
        var object = line("queue")
        object.add("name", queue.name)
        object.add("deliveries", queue.deliveries)
        object.add("bound", queue.bound ?? 0)
        object.add("count", count)
        return object.line
    }

    /// The line of an item of a queue.
    static func line(of item: QueueDump.Item, in queue: QueueDump) -> String {
        var object = line("item")
        object.add("queue", queue.name)
        object.add("id", item.id)
        object.add("state", item.state)
        object.add("priority", item.priority)
        object.add("ready", item.readyTime)
        object.add("group", item.group)
        if let key = item.key { object.add("unique", key) }
        if let reason = item.reason { object.add("reason", reason) }
        object.add("deliveries", item.deliveries)
        object.add(item.origin)
        object.add("value", json: item.value.json)
        return object.line
    }

    /// The line of a counter, a latch, a rate limit or a semaphore.
    static func line(of dump: ObjectStateDump) -> String {
        var object: JSONObject
        switch dump.state {
        case .counter(let number):
            object = line("counter")
            object.add("name", dump.name)
            object.add("value", number)
        case .latch(let count, let left):
            object = line("latch")
            object.add("name", dump.name)
            object.add("count", count)
            object.add("left", left)
        case .rateLimit(let limit, let nanoseconds, let moments):
            object = line("rate")
            object.add("name", dump.name)
            object.add("limit", limit)
            object.add("nanoseconds", nanoseconds)
            let pairs = moments.map { Value.array([.int(Int($0.time)), .int($0.count)]) }
            object.add("moments", json: Value.array(pairs).json)
        case .semaphore(let permits):
            object = line("semaphore")
            object.add("name", dump.name)
            object.add("permits", permits)
        }
        return object.line
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
                        item.readyTime.map { PeopleText.relative($0, to: now) } ?? "-", item.group ?? "-",
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
