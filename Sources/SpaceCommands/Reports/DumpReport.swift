import SharedSpace
import SpaceSystem

/// A namespace with its contents, in the forms that `space-dump` prints.
struct DumpReport {
    let inspection: Inspection

    // MARK: JSON lines

    /// Prints JSON lines, each with a `kind`.
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
        try print(namespace.line)
        for owner in status.owners {
            // `kind` is the line's: here the kind of the owner is called `tie`.
            try print(StatusReport.object(owner, kindKey: "tie", in: Self.line("owner")).line)
        }
        for match in inspection.tuples {
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
        for claim in status.claims {
            try print(Self.claimed(StatusReport.object(claim, in: Self.line("claim")), claim))
        }
        for buried in status.buried {
            try print(Self.claimed(StatusReport.object(buried: buried, in: Self.line("buried")), buried))
        }
        for cell in inspection.cells {
            try print(Self.cell(cell))
        }
        for responder in status.responders {
            try print(StatusReport.object(responder, in: Self.line("responder")).line)
        }
        for request in status.requests { try print(StatusReport.object(request, in: Self.line("request")).line) }
        let report = StatusReport(status: status)
        for hold in status.holds { try print(report.holdObject(hold, in: Self.line("hold")).line) }
        try Self.collectionLines(inspection.collections, print)
        try Self.recipeLines(inspection.recipes, print)
        for waiter in status.waiters {
            try print(StatusReport.object(waiter, kindKey: "type", in: Self.line("waiter")).line)
        }
        for watcher in status.watchers { try print(StatusReport.object(watcher, in: Self.line("watcher")).line) }
        for change in inspection.changes { try print(ChangeReport.object(change, in: Self.line("change")).line) }
    }

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
    func text(_ print: (String) throws -> Void) throws {
        let now = Clock.realtimeMilliseconds()
        for line in StatusReport(status: inspection.status).text(now: now) { try print(line) }
        try section("tuples", ["ID", "WRITTEN", "BY", "EXPIRES", "DELIVERIES", "TUPLE"], inspection.tuples, print) {
            match in
            [
                "\(match.id.rawValue)", PeopleText.relative(match.origin.milliseconds, to: now),
                "\(match.origin.pid)", inspection.expiry(of: match).map { PeopleText.relative($0, to: now) } ?? "-",
                "\(match.deliveries)", try match.tuple().json,
            ]
        }
        try section("cells", ["KEY", "EXPIRES", "SESSION", "VALUE"], inspection.cells, print) { cell in
            [
                cell.key, cell.expires.map { PeopleText.relative($0, to: now) } ?? "-", PeopleText.cell(cell.holder),
                cell.value.json,
            ]
        }
        try collectionText(print)
        try recipeText(now: now, print)
        try section("changes", ["NUMBER", "TIME", "PID", "EVENT", "WHAT"], inspection.changes, print) { change in
            [
                "\(change.sequence)", PeopleText.relative(change.time, to: now), "\(change.pid)",
                change.kind.description,
                change.tuple?.json
                    ?? [change.key, change.edit.map(ChangeReport.text) ?? change.new?.json].compactMap { $0 }
                    .joined(separator: " "),
            ]
        }
    }

    func section<Item>(
        _ title: String,
        _ titles: [String],
        _ items: [Item],
        _ print: (String) throws -> Void,
        _ row: (Item) throws -> [String]
    ) throws {
        guard !items.isEmpty else { return }
        try print("")
        try print(title)
        for start in stride(from: 0, to: items.count, by: Self.page) {
            let rows = try items[start..<min(start + Self.page, items.count)].map(row)
            for line in PeopleText.table((start == 0 ? [titles] : []) + rows, indent: "  ") { try print(line) }
        }
    }
}
