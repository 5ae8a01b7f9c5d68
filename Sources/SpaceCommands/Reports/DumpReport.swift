import SharedSpace
import SpaceInspection
import SpaceSystem

/// A namespace with its contents, in the forms that `space-dump` prints.
struct DumpReport {
    let inspection: Inspection

    // MARK: JSON lines

    /// Prints JSON lines, each with a `kind`; the last one says that the dump is whole.
    func lines(_ print: (String) throws -> Void) throws {
        let status = inspection.status
        let namespace: JSONObject = [
            "name": status.name, "mode": status.mode.rawValue, "persistent": status.isPersistent,
            "version": status.version, "created": status.created, "life": status.life.description,
            "sequence": status.sequence, "tuples": status.tuples, "cells": status.cells, "bytes": status.bytes,
            "limit": status.byteLimit, "history": status.history?.object, "delivery_limit": status.deliveryLimit,
            "unlocked": inspection.isLockFree, "ends_with": Self.end,
        ]
        try print(Self.line("namespace", namespace))
        // `kind` is the line's: here the kind of the owner is called `tie`.
        for owner in status.owners { try print(Self.line("owner", owner.object(kindKey: "tie"))) }
        try inspection.forEachTuple { match in
            try print(
                Self.tuple(
                    match.id.rawValue,
                    try match.tuple(),
                    inspection.expiry(of: match),
                    Int(match.deliveries),
                    match.origin,
                    holder: inspection.holder(of: match)
                )
            )
        }
        try inspection.forEachClaim(buried: false) { try print(Self.line("claim", $0.object, $0.origin)) }
        try inspection.forEachClaim(buried: true) { try print(Self.line("buried", $0.buriedObject, $0.origin)) }
        try inspection.forEachCell { try print(Self.cell($0)) }
        for responder in status.responders { try print(Self.line("responder", responder.object)) }
        for request in status.requests { try print(Self.line("request", request.object)) }
        let report = StatusReport(status: status)
        for hold in status.holds { try print(Self.line("hold", report.object(hold))) }
        try collectionLines(print)
        try recipeLines(print)
        for waiter in status.waiters { try print(Self.line("waiter", waiter.object(kindKey: "type"))) }
        for watcher in status.watchers { try print(Self.line("watcher", watcher.object)) }
        try inspection.forEachChange { try print(Self.line("change", $0.object())) }
        try print(Self.line(Self.end))
    }

    /// The kind of the last line, which the first one announces: without it, the dump was cut off.
    static let end = "end"

    /// A line of a kind, with when and by which process it was written, if that belongs there.
    static func line(_ kind: String, _ members: JSONObject = [:], _ origin: Origin = .unknown) -> String {
        var object: JSONObject = ["kind": kind]
        object.add(members)
        object.add(origin)
        return object.json
    }

    static func tuple(
        _ id: UInt64,
        _ tuple: Tuple,
        _ expires: Int64?,
        _ deliveries: Int,
        _ origin: Origin,
        holder: Int32?
    ) -> String {
        var object: JSONObject = ["id": id, "tuple": tuple, "expires": expires, "deliveries": deliveries]
        object.add(origin)
        object.add("session", holder.orLeftOut)
        return line("tuple", object)
    }

    static func cell(_ cell: DumpedCell) -> String {
        line(
            "cell",
            [
                "key": cell.key, "value": cell.value, "expires": cell.expires.orLeftOut,
                "session": cell.holder.orLeftOut,
            ]
        )
    }

    // MARK: Text

    /// How many rows are aligned together: aligning all would hold a long listing in memory.
    private static let page = 200

    /// Prints lines for people.
    func text(_ print: @escaping (String) throws -> Void) throws {
        let now = Clock.realtimeMilliseconds()
        for line in StatusReport(status: inspection.status).text(now: now) { try print(line) }
        let titles = ["ID", "WRITTEN", "BY", "EXPIRES", "DELIVERIES", "TUPLE"]
        try section("tuples", titles, print) { add in
            try inspection.forEachTuple { match in
                try add([
                    "\(match.id.rawValue)", PeopleText.relative(match.origin.milliseconds, to: now),
                    "\(match.origin.pid)", PeopleText.relative(inspection.expiry(of: match), to: now),
                    "\(match.deliveries)", try match.tuple().json,
                ])
            }
        }
        try section("cells", ["KEY", "EXPIRES", "SESSION", "VALUE"], print) { add in
            try inspection.forEachCell { cell in
                try add([
                    cell.key, PeopleText.relative(cell.expires, to: now),
                    PeopleText.cell(cell.holder), cell.value.json,
                ])
            }
        }
        try collectionText(print)
        try recipeText(now: now, print)
        try section("changes", ["NUMBER", "TIME", "PID", "EVENT", "WHAT"], print) { add in
            try inspection.forEachChange { change in
                try add([
                    "\(change.sequence)", PeopleText.relative(change.time, to: now), "\(change.pid)",
                    "\(change.kind)",
                    change.tuple?.json
                        ?? [change.key, change.edit.map(ChangeReport.text) ?? change.new?.json].compactMap { $0 }
                        .joined(separator: " "),
                ])
            }
        }
    }

    /// Prints a section of what `fill` adds, row by row; nothing if that is nothing.
    func section(
        _ title: String,
        _ titles: [String],
        _ print: @escaping (String) throws -> Void,
        _ fill: (_ add: ([String]) throws -> Void) throws -> Void
    ) throws {
        var (rows, isFirst) = ([[String]](), true)
        func flush() throws {
            guard !rows.isEmpty else { return }
            if isFirst {
                try print("")
                try print(title)
                rows.insert(titles, at: 0)
            }
            isFirst = false
            for line in PeopleText.table(rows, indent: "  ") { try print(line) }
            rows.removeAll()
        }
        try fill { row in
            rows.append(row)
            if rows.count == Self.page { try flush() }
        }
        try flush()
    }
}
