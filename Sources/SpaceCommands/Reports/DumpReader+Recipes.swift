import SpaceInspection

extension DumpReader {
    /// The word for `buried` in dumps of versions up to 0.9.
    private static let formerlyBuried = "dead"
    private static let states: Set = ["ready", "delayed", "taken", "blocked", "buried", formerlyBuried]

    mutating func takeQueue(_ line: DumpLine) throws {
        let name = try line.name()
        // A dump of an older version has no bound.
        let bound = line["bound"] == nil ? nil : try line.integer("bound")
        let deliveries = try line.integer("deliveries")
        contents.recipes.queues.append(QueueDump(name: name, deliveries: deliveries, bound: bound))
    }

    /// An item of the queue whose line came last.
    mutating func takeItem(_ line: DumpLine) throws {
        let last = contents.recipes.queues.count - 1
        guard last >= 0, line["queue"] == .string(contents.recipes.queues[last].name) else {
            throw line.bad("the item does not follow its queue")
        }
        guard let id = UInt64(exactly: try line.integer("id")) else { throw line.bad("\"id\" is below 0") }
        guard let value = try line.value("value") else { throw line.bad("the item has no value") }
        guard let state = line.string("state"), Self.states.contains(state) else {
            throw line.bad("the item's state is none of ready, delayed, taken, blocked and buried")
        }
        func text(_ key: String) throws -> String? {
            switch line[key] {
            case nil, .null?: return nil
            case .string(let text)?: return text
            default: throw line.bad("\"\(key)\" is a string, or null")
            }
        }
        contents.recipes.queues[last].items.append(
            QueueDump.Item(
                id: id,
                value: value,
                priority: try line.integer("priority"),
                readyTime: try line.moment("ready"),
                group: try text("group"),
                key: try text("unique"),
                reason: try text("reason"),
                deliveries: try line.integer("deliveries"),
                isBuried: ["buried", Self.formerlyBuried].contains(state),
                origin: try line.origin()
            )
        )
    }

    /// A line of kind `counter`, `latch`, `rate` or `semaphore`.
    mutating func takeState(_ line: DumpLine, _ kind: String) throws {
        let state: ObjectStateDump.State =
            switch kind {
            case "counter": .counter(try line.integer("value"))
            case "semaphore": .semaphore(permits: try line.integer("permits"))
            case "latch": .latch(count: try line.integer("count"), left: try line.integer("left"))
            default:
                .rateLimit(
                    limit: try line.integer("limit"),
                    nanoseconds: try line.integer("nanoseconds"),
                    moments: try Self.moments(line)
                )
            }
        contents.recipes.states.append(ObjectStateDump(name: try line.name(), state: state))
    }

    /// `[[time, count], …]`.
    ///
    /// A dump of an older version has `until` instead, the time until which the limit is used up.
    private static func moments(_ line: DumpLine) throws -> [ObjectStateDump.Moment] {
        guard let value = line["moments"] else {
            let length = Int64(clamping: try line.integer("nanoseconds") / 1_000_000)
            let (first, isBeyond) = Int64(try line.integer("until")).subtractingReportingOverflow(length)
            return isBeyond ? [] : [.init(time: first, count: try line.integer("limit"))]
        }
        guard case .array(let elements) = value else { throw line.bad("\"moments\" is no array") }
        return try elements.map { element in
            guard case .array(let pair) = element, pair.count == 2, case .int(let time) = pair[0],
                case .int(let count) = pair[1]
            else { throw line.bad("\"moments\" has an element that is no time with a count") }
            return .init(time: Int64(time), count: count)
        }
    }
}
