import CommandWords
import SharedSpace
import SpaceCluster
import SpaceSystem

/// The command `space machines`.
struct MachinesCommand: ParsableCommand {
    static let commandName = "machines"
    static let configuration = CommandConfiguration(
        abstract: "Show the machines that share namespaces with this one, and how far each replica is.",
        discussion: """
            Asks this root's daemon (space join); without one the status is 75. ENTRY is the last entry of a namespace's log as \
            far as this machine knows, HERE the last one of this machine's replica, BASE the last one that a machine which joins \
            now need not read. The machine with the PEN may write without asking another first.

            With --json: one object a line, first of this machine ("kind":"cluster"), then of each machine ("machine") and of \
            each namespace ("namespace"). Times are milliseconds since 1970.

            EXAMPLES:
              space machines
              space machines --json | jq -r 'select(.kind == "machine").machine'
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "One JSON object a line.")
    var json = false

    func run() throws {
        let report = try ClusterReport(json: try common.space(mustExist: true).daemonReport())
        try Output.print(lines: json ? Self.objects(report).map(\.json) : Self.text(report))
    }

    private static func objects(_ report: ClusterReport) -> [JSONObject] {
        let cluster: JSONObject = [
            "kind": "cluster", "machine": report.machine, "member": report.member, "pid": report.pid,
            "prefix": report.prefix, "quorum_since": report.since, "trouble": report.trouble,
            "store": report.store?.version, "store_troubles": report.store?.troubles ?? [],
            "set_aside": report.aside ?? [],
        ]
        let machines = report.machines.map { member -> JSONObject in
            [
                "kind": "machine", "machine": member.machine, "member": member.number,
                "here": member.number == report.member,
            ]
        }
        let namespaces = report.namespaces.map { namespace -> JSONObject in
            ["kind": "namespace", "namespace": ReplicationReport(cluster: report, namespace: namespace).object]
        }
        return [cluster] + machines + namespaces
    }

    private static func text(_ report: ClusterReport, now: Int64 = Clock.realtimeMilliseconds()) -> [String] {
        let since = report.since.map { "answers since \(PeopleText.moment($0)) (\(PeopleText.relative($0, to: now)))" }
        let store = report.store.map { "version \($0.version), " } ?? ""
        let troubles =
            [report.trouble].compactMap(\.self) + (report.store?.troubles ?? []) + (report.aside ?? [])
            + report.namespaces.flatMap { namespace in namespace.troubles.map { "\(namespace.name): \($0)" } }
        var lines = PeopleText.table(
            [
                ["this machine", report.machine],
                ["member", PeopleText.cell(report.member)],
                ["daemon", "PID \(report.pid)"],
                ["store", store + (since ?? "does not answer")],
            ] + troubles.map { ["trouble", $0] }
        )
        func section(_ rows: [[String]]) {
            guard rows.count > 1 else { return }
            lines.append("")
            lines += PeopleText.table(rows)
        }
        section(
            [["MACHINE", "MEMBER", ""]]
                + report.machines.map { member in
                    [member.machine, "\(member.number)", member.number == report.member ? "(this one)" : ""]
                }
        )
        section(
            [ReplicationReport.titles]
                + report.namespaces.map { ReplicationReport(cluster: report, namespace: $0).row }
        )
        return lines
    }
}
