import SharedSpace
import SpaceInspection
import SpaceSystem

/// What takes up the room in a namespace, as `stats` prints it.
struct StatisticsReport {
    let statistics: NamespaceStatistics
    private var status: NamespaceStatus { statistics.status }

    /// How many groups the text shows.
    private static let mostRows = 20
    private static let others = "others"

    /// The registrations that keep changes, the one that is furthest behind first.
    private var watchers: [(watcher: NamespaceStatus.Watcher, behind: UInt64)] {
        status.watchers.map { ($0, StatusReport.lag(of: $0, in: status)) }
            .sorted { $0.behind > $1.behind }
    }

    var object: JSONObject {
        var object = JSONObject()
        object.add("name", status.name)
        object.add("bytes", status.bytes)
        object.add("free", statistics.freeBytes)
        object.add("disk", status.diskBytes)
        object.add("limit", status.byteLimit)
        object.add("tuples", statistics.tuples.map(Self.object))
        object.add("cells", statistics.cells.map(Self.object))
        var journal = JSONObject()
        journal.add("changes", statistics.changes)
        journal.add("first", statistics.firstChange)
        journal.add("last", status.sequence)
        journal.add("history", json: StatusReport.json(status.history))
        journal.add(
            "watchers",
            watchers.map { (watcher, behind) in
                var object = StatusReport.object(watcher)
                object.add("behind", behind)
                return object
            }
        )
        object.add("journal", json: journal.line)
        object.add(
            "tables",
            statistics.trees.map { tree in
                var object = JSONObject()
                object.add("name", tree.name)
                object.add("rows", tree.rows)
                object.add("bytes", tree.bytes)
                return object
            }
        )
        return object
    }

    private static func object(_ group: NamespaceStatistics.Group) -> JSONObject {
        var object = JSONObject()
        object.add("shape", group.shape)
        object.add("count", group.count)
        object.add("bytes", group.bytes)
        guard group.oldest != .unknown else { return object }
        object.add("oldest", group.oldest.milliseconds)
        object.add("oldest_writer", group.oldest.pid)
        object.add("newest", group.newest.milliseconds)
        object.add("returns", group.returns)
        return object
    }

    /// Lines for people.
    func text(now: Int64 = Clock.realtimeMilliseconds()) -> [String] {
        var lines = PeopleText.table([
            ["namespace", status.name],
            [
                "in use",
                "\(PeopleText.bytes(status.bytes)) of \(PeopleText.bytes(status.byteLimit)), "
                    + "\(PeopleText.bytes(statistics.freeBytes)) of it free",
            ],
            ["on disk", PeopleText.bytes(status.diskBytes)],
            ["changes kept", keptText],
        ])
        func section(_ title: String, _ titles: [String], _ rows: [[String]]) {
            guard !rows.isEmpty else { return }
            lines += ["", title] + PeopleText.table([titles] + rows, indent: "  ")
        }
        func groups(
            _ title: String,
            _ titles: [String],
            _ groups: [NamespaceStatistics.Group],
            _ row: (NamespaceStatistics.Group) -> [String]
        ) {
            section(title, titles, groups.prefix(Self.mostRows).map(row))
            let more = groups.count - Self.mostRows
            if more > 0 { lines.append("  and \(more) more: --json has all") }
        }
        groups("tuples", ["COUNT", "SIZE", "OLDEST", "BY", "NEWEST", "RETURNS", "SHAPE"], statistics.tuples) { group in
            [
                "\(group.count)", PeopleText.bytes(group.bytes),
                PeopleText.relative(group.oldest.milliseconds, to: now), "\(group.oldest.pid)",
                PeopleText.relative(group.newest.milliseconds, to: now), "\(group.returns)",
                group.shape ?? Self.others,
            ]
        }
        groups("cells", ["COUNT", "SIZE", "KEY"], statistics.cells) { group in
            ["\(group.count)", PeopleText.bytes(group.bytes), group.shape ?? Self.others]
        }
        section(
            "watchers for which changes are kept",
            ["PID", "SUBSCRIPTION", "POSITION", "BEHIND", "FILTER"],
            watchers.prefix(Self.mostRows).map { (watcher, behind) in
                [
                    PeopleText.cell(watcher.pid), watcher.subscription ?? "-", "\(watcher.position)", "\(behind)",
                    watcher.filter,
                ]
            }
        )
        section(
            "named objects",
            ["NAME", "TYPE", "COUNT"],
            status.objects.map { [$0.name, $0.kind, StatusReport.countText($0)] }
        )
        section(
            "tables",
            ["TABLE", "ROWS", "SIZE"],
            statistics.trees.map { [$0.name, "\($0.rows)", PeopleText.bytes($0.bytes)] }
        )
        return lines
    }

    private var keptText: String {
        guard let first = statistics.firstChange else { return "none of \(status.sequence)" }
        return "\(statistics.changes), from \(first) to \(status.sequence)"
    }

}
