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
        var namespace = Self.line("namespace")
        namespace.add("name", status.name)
        namespace.add("mode", status.mode.rawValue)
        namespace.add("persistent", status.isPersistent)
        namespace.add("version", status.version)
        namespace.add("created", status.created)
        namespace.add("life", "\(status.life)")
        namespace.add("sequence", status.sequence)
        namespace.add("tuples", status.tuples)
        namespace.add("cells", status.cells)
        namespace.add("bytes", status.bytes)
        namespace.add("limit", status.byteLimit)
        namespace.add("history", json: StatusReport.json(status.history))
        namespace.add("delivery_limit", status.deliveryLimit)
        namespace.add("unlocked", inspection.isLockFree)
        namespace.add("ends_with", Self.end)
        try print(namespace.line)
        for owner in status.owners {
            // `kind` is the line's: here the kind of the owner is called `tie`.
            try print(StatusReport.object(owner, kindKey: "tie", in: Self.line("owner")).line)
        }
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
        try inspection.forEachClaim(buried: false) { claim in
            try print(Self.claimed(StatusReport.object(claim, in: Self.line("claim")), claim))
        }
        try inspection.forEachClaim(buried: true) { buried in
            try print(Self.claimed(StatusReport.object(buried: buried, in: Self.line("buried")), buried))
        }
        try inspection.forEachCell { try print(Self.cell($0)) }
        for responder in status.responders {
            try print(StatusReport.object(responder, in: Self.line("responder")).line)
        }
        for request in status.requests { try print(StatusReport.object(request, in: Self.line("request")).line) }
        let report = StatusReport(status: status)
        for hold in status.holds { try print(report.holdObject(hold, in: Self.line("hold")).line) }
        try collectionLines(print)
        try recipeLines(print)
        for waiter in status.waiters {
            try print(StatusReport.object(waiter, kindKey: "type", in: Self.line("waiter")).line)
        }
        for watcher in status.watchers { try print(StatusReport.object(watcher, in: Self.line("watcher")).line) }
        try inspection.forEachChange { try print($0.object(in: Self.line("change")).line) }
        try print(Self.line(Self.end).line)
    }

    /// The kind of the last line, which the first one announces: without it, the dump was cut off.
    static let end = "end"

    static func line(_ kind: String) -> JSONObject {
        var object = JSONObject()
        object.add("kind", kind)
        return object
    }

    static func tuple(
        _ id: UInt64,
        _ tuple: Tuple,
        _ expires: Int64?,
        _ deliveries: Int,
        _ origin: Origin,
        holder: Int32?
    ) -> String {
        var object = line("tuple")
        object.add("id", id)
        object.add("tuple", json: tuple.json)
        object.add("expires", expires)
        object.add("deliveries", deliveries)
        object.add(origin)
        if let holder { object.add("session", holder) }
        return object.line
    }

    /// The line of a tuple that is claimed or buried, with its origin.
    private static func claimed(_ line: JSONObject, _ claim: NamespaceStatus.Claim) -> String {
        var object = line
        object.add(claim.origin)
        return object.line
    }

    static func cell(_ cell: DumpedCell) -> String {
        var object = line("cell")
        object.add("key", cell.key)
        object.add("value", json: cell.value.json)
        if let expires = cell.expires { object.add("expires", expires) }
        if let holder = cell.holder { object.add("session", holder) }
        return object.line
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
                    "\(match.origin.pid)", inspection.expiry(of: match).map { PeopleText.relative($0, to: now) } ?? "-",
                    "\(match.deliveries)", try match.tuple().json,
                ])
            }
        }
        try section("cells", ["KEY", "EXPIRES", "SESSION", "VALUE"], print) { add in
            try inspection.forEachCell { cell in
                try add([
                    cell.key, cell.expires.map { PeopleText.relative($0, to: now) } ?? "-",
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
