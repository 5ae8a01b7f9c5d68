import SharedSpace
import TupleCoding

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

    /// A row for each holder and each waiter; a waiter's row names the holders.
    func holdRows(now: Int64) -> [[String]] {
        var holders: [Name: [String]] = [:]
        for hold in status.holds where hold.isHeld { holders[Name(hold.name), default: []].append(Self.pid(hold)) }
        return status.holds.map { hold in
            // A taker of a queue, and a process at a barrier, do not wait for the holders.
            let blockers = hold.kind == "queue" || hold.kind == "barrier" ? nil : holders[Name(hold.name)]
            let waitsFor = blockers.map { " for \($0.prefix(8).joined(separator: ", "))" } ?? ""
            let count = hold.weight == 1 ? "" : " \(hold.weight)"
            return [
                hold.name, hold.kind, Self.pid(hold), PeopleText.relative(hold.since, to: now), "\(hold.fencing)",
                (hold.isHeld ? "holds\(count)" : "waits\(waitsFor)") + (hold.isShared ? ", shared" : ""),
            ]
        }
    }

    private static func pid(_ hold: NamespaceStatus.Hold) -> String { PeopleText.cell(hold.pid) }
}
