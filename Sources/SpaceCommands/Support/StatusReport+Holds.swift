import SharedSpace
import TupleCoding

// What is held by name, and who waits for whom; and what is in the queues.

extension StatusReport {
    static func object(_ hold: NamespaceStatus.Hold, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("name", hold.name)
        object.add("type", hold.kind)
        object.add("held", hold.isHeld)
        object.add("shared", hold.isShared)
        object.add("count", hold.weight)
        object.add("fencing", hold.fencing)
        object.add("pid", hold.pid)
        object.add("since", hold.since)
        object.add("details", json: hold.details.json)
        return object
    }

    static let holdTitles = ["NAME", "KIND", "PID", "SINCE", "FENCING", "STATE"]

    /// A line for each place in a queue; who waits is told for whom.
    func holdRows(now: Int64) -> [[String]] {
        var holders: [Name: [String]] = [:]
        for hold in status.holds where hold.isHeld { holders[Name(hold.name), default: []].append(Self.pid(hold)) }
        return status.holds.map { hold in
            // A queue's taker and who stands at a barrier wait for others than those who hold.
            let blockers = hold.kind == "queue" || hold.kind == "barrier" ? nil : holders[Name(hold.name)]
            let waitsFor = blockers.map { " for \($0.prefix(8).joined(separator: ", "))" } ?? ""
            let count = hold.weight == 1 ? "" : " \(hold.weight)"
            return [
                hold.name, hold.kind, Self.pid(hold), PeopleText.relative(hold.since, to: now), "\(hold.fencing)",
                (hold.isHeld ? "holds\(count)" : "waits\(waitsFor)") + (hold.isShared ? ", shared" : ""),
            ]
        }
    }

    private static func pid(_ hold: NamespaceStatus.Hold) -> String { hold.pid.map { "\($0)" } ?? "-" }

    // MARK: Queues

    static func object(_ counts: QueueCounts) -> JSONObject {
        var object = JSONObject()
        for (state, number) in numbers(of: counts) { object.add(state, number) }
        return object
    }

    /// How many elements, entries or items an object has; of items also in which states.
    static func countText(_ info: SharedObjectInfo) -> String {
        guard let count = info.count else { return "-" }
        let states =
            info.items.map { numbers(of: $0).filter { $0.number > 0 }.map { "\($0.number) \($0.state)" } } ?? []
        return states.isEmpty ? "\(count)" : "\(count): \(states.joined(separator: ", "))"
    }

    private static func numbers(of counts: QueueCounts) -> [(state: String, number: Int)] {
        [
            ("ready", counts.ready), ("delayed", counts.delayed), ("taken", counts.taken), ("blocked", counts.blocked),
            ("dead", counts.dead),
        ]
    }
}
