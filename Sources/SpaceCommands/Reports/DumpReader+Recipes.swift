import SharedSpace

extension DumpReader {
    /// A line of kind `queue`, or `item`, which follows its queue's.
    mutating func takeQueue(_ kind: String, _ record: Record, _ bad: (String) -> CommandFailure) throws {
        if kind == "queue" {
            let name = try Self.name(record, bad)
            let deliveries = try Self.integer("deliveries", record, bad)
            return recipes.queues.append(QueueDump(name: name, deliveries: deliveries))
        }
        guard let last = recipes.queues.indices.last, record["queue"] == .string(recipes.queues[last].name) else {
            throw bad("the item does not follow its queue")
        }
        guard let id = UInt64(exactly: try Self.integer("id", record, bad)) else { throw bad("\"id\" is below 0") }
        guard let value = try Self.value("value", record, bad) else { throw bad("the item has no value") }
        guard case .string(let state)? = record["state"] else { throw bad("the item has no state") }
        let group: String?
        switch record["group"] {
        case nil, .null?: group = nil
        case .string(let name)?: group = name
        default: throw bad("\"group\" is a string, or null")
        }
        recipes.queues[last].items.append(
            QueueDump.Item(
                id: id,
                value: value,
                priority: try Self.integer("priority", record, bad),
                readyTime: try Self.moment("ready", record, bad),
                group: group,
                deliveries: try Self.integer("deliveries", record, bad),
                isDead: state == "dead"
            )
        )
    }

    /// A line of kind `counter`, `latch` or `rate`.
    mutating func takeState(_ kind: String, _ record: Record, _ bad: (String) -> CommandFailure) throws {
        func integer(_ key: String) throws -> Int { try Self.integer(key, record, bad) }
        let state: ObjectStateDump.State =
            switch kind {
            case "counter": .counter(try integer("value"))
            case "latch": .latch(count: try integer("count"), left: try integer("left"))
            default:
                .rateLimit(
                    limit: try integer("limit"),
                    nanoseconds: try integer("nanoseconds"),
                    moments: try Self.moments(record, bad)
                )
            }
        recipes.states.append(ObjectStateDump(name: try Self.name(record, bad), state: state))
    }

    /// `[[time, count], …]`; a dump of an older version has `until` instead, up to when all is used up.
    private static func moments(
        _ record: Record,
        _ bad: (String) -> CommandFailure
    ) throws -> [ObjectStateDump.Moment] {
        guard let value = record["moments"] else {
            let length = Int64(clamping: try integer("nanoseconds", record, bad) / 1_000_000)
            let (first, isBeyond) = Int64(try integer("until", record, bad)).subtractingReportingOverflow(length)
            return isBeyond ? [] : [.init(time: first, count: try integer("limit", record, bad))]
        }
        guard case .array(let elements) = value else { throw bad("\"moments\" is no array") }
        return try elements.map { element in
            guard case .array(let pair) = element, pair.count == 2, case .int(let time) = pair[0],
                case .int(let count) = pair[1]
            else { throw bad("\"moments\" has an element that is no time with a count") }
            return .init(time: Int64(time), count: count)
        }
    }

    private static func integer(_ key: String, _ record: Record, _ bad: (String) -> CommandFailure) throws -> Int {
        guard case .int(let number)? = record[key] else { throw bad("\"\(key)\" is no integer") }
        return number
    }
}
