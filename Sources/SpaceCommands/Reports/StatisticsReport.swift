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
        status.watchers.map { ($0, status.lag(of: $0)) }.sorted { $0.behind > $1.behind }
    }

    var object: JSONObject {
        let watchers = watchers.map { (watcher, behind) in
            var object = watcher.object
            object.add("behind", behind)
            return object
        }
        let journal: JSONObject = [
            "changes": statistics.changes, "first": statistics.firstChange, "last": status.sequence,
            "history": status.history?.object, "watchers": watchers,
        ]
        let tables = statistics.trees.map { tree -> JSONObject in
            ["name": tree.name, "rows": tree.rows, "bytes": tree.bytes]
        }
        return [
            "name": status.name, "bytes": status.bytes, "free": statistics.freeBytes, "disk": status.diskBytes,
            "limit": status.byteLimit, "tuples": statistics.tuples.map(Self.object),
            "cells": statistics.cells.map(Self.object), "journal": journal, "tables": tables,
        ]
    }

    private static func object(_ group: NamespaceStatistics.Group) -> JSONObject {
        var object: JSONObject = ["shape": group.shape, "count": group.count, "bytes": group.bytes]
        guard group.oldest != .unknown else { return object }
        object.add([
            "oldest": group.oldest.milliseconds, "oldest_writer": group.oldest.pid,
            "newest": group.newest.milliseconds, "returns": group.returns,
        ])
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
            lines += PeopleText.section(title, titles, rows)
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
            status.objects.map { [$0.name, $0.kind.name, $0.countText] }
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
