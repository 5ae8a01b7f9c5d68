import SharedSpace
import SpaceInspection
import TupleCoding

extension StatusReport {
    func holdObject(_ hold: NamespaceStatus.Hold, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("name", hold.name)
        object.add("type", hold.kind)
        object.add("held", hold.isHeld)
        object.add("shared", hold.isShared)
        object.add("count", hold.weight)
        object.add("fencing", hold.fencing)
        object.add("pid", hold.pid)
        if let elsewhere = hold.elsewhere { object.add("elsewhere", elsewhere) }
        object.add("since", hold.since)
        object.add("details", json: hold.details.json)
        object.add("waits_for", json: "[\(blockers(of: hold).map(String.init).joined(separator: ","))]")
        return object
    }

    static let holdTitles = ["NAME", "KIND", "PID", "SINCE", "FENCING", "STATE"]

    /// A row for each holder and each waiter; a waiter's row names the holders.
    func holdRows(now: Int64) -> [[String]] {
        status.holds.map { hold in
            let blockers = blockers(of: hold)
            let waitsFor = blockers.isEmpty ? "" : " for \(blockers.prefix(8).map(String.init).joined(separator: ", "))"
            let count = hold.weight == 1 ? "" : " \(hold.weight)"
            return [
                hold.name, hold.kind, Self.pid(hold), PeopleText.relative(hold.since, to: now), "\(hold.fencing)",
                (hold.isHeld ? "holds\(count)" : "waits\(waitsFor)") + (hold.isShared ? ", shared" : ""),
            ]
        }
    }

    /// The processes for which the process of a place waits; empty if it waits for none, or holds.
    private func blockers(of hold: NamespaceStatus.Hold) -> [Int32] {
        guard !hold.isHeld, let pid = hold.pid else { return [] }
        return graph.blockers(of: pid, for: .hold(kind: hold.kind, name: hold.named))
    }

    private static func pid(_ hold: NamespaceStatus.Hold) -> String { hold.elsewhere ?? PeopleText.cell(hold.pid) }
}
