import SharedSpace
import SpaceInspection
import TupleCoding

extension StatusReport {
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

    private static func pid(_ hold: NamespaceStatus.Hold) -> String { hold.elsewhere ?? PeopleText.cell(hold.pid) }
}
