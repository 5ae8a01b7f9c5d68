import SharedSpace
import SpaceCluster

/// How a replicated namespace stands to its machines' log, in the forms that `show` and `machines` print.
struct ReplicationReport {
    let cluster: ClusterReport
    let namespace: ClusterReport.Namespace
}

extension ReplicationReport {
    /// Asks the daemon of the root; `nil` if no daemon answers, or the daemon does not know the namespace.
    init?(of name: String, in space: Space) {
        guard let json = try? space.daemonReport(of: name), let cluster = try? ClusterReport(json: json),
            let namespace = cluster.namespaces.first(where: { $0.name == name })
        else { return nil }
        self.init(cluster: cluster, namespace: namespace)
    }

    /// What `show --json` and `machines --json` say of the namespace.
    var object: JSONObject {
        [
            "name": namespace.name, "head": namespace.head, "durable": namespace.durable,
            "applied": namespace.applied, "behind": namespace.behind, "base": namespace.base,
            "pen": namespace.pen.map(cluster.machine), "quorum_since": cluster.since,
            "machines": namespace.joined.map(cluster.machine), "owned_on": namespace.owners.map(cluster.machine),
            "troubles": namespace.troubles, "events": namespace.events,
        ]
    }

    /// Rows of a table for people, each a title and its text.
    func rows(now: Int64) -> [[String]] {
        let quorum = cluster.since.map {
            "answers since \(PeopleText.moment($0)) (\(PeopleText.relative($0, to: now)))"
        }
        return [
            ["log", "entry \(namespace.head.map { "\($0)" } ?? "unknown"), here \(namespace.applied)\(behindText)"],
            ["pen", namespace.pen.map(cluster.machine) ?? "-"],
            ["owned on", namesText(namespace.owners)],
            ["store", quorum ?? "does not answer"],
        ] + (namespace.troubles + [cluster.trouble].compactMap(\.self)).map { ["trouble", $0] }
            + namespace.events.map { ["event", $0] }
    }

    private var behindText: String {
        namespace.behind == 0
            ? "" : ", \(PeopleText.count(Int(clamping: namespace.behind), "entry", plural: "entries")) behind"
    }

    /// The cells of a row in a table of namespaces.
    static let titles = ["NAMESPACE", "ENTRY", "HERE", "BEHIND", "BASE", "PEN", "MACHINES", "OWNED ON"]

    var row: [String] {
        [
            namespace.name, "\(max(namespace.durable, namespace.head ?? 0))", "\(namespace.applied)",
            "\(namespace.behind)", "\(namespace.base)", namespace.pen.map(cluster.machine) ?? "-",
            namesText(namespace.joined), namesText(namespace.owners),
        ]
    }

    private func namesText(_ members: [UInt32]) -> String {
        members.isEmpty ? "-" : members.map(cluster.machine).joined(separator: ", ")
    }
}
