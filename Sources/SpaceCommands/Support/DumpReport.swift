import SharedSpace
import SpaceSystem

/// A namespace with everything in it, in the forms that `space-dump` prints.
struct DumpReport {
    let inspection: Inspection

    // MARK: JSON lines

    /// Prints JSON lines, each with a `kind`.
    func lines(_ print: (String) throws -> Void) throws {
        let status = inspection.status
        var namespace = line("namespace")
        namespace.add("name", status.name)
        namespace.add("mode", status.mode.rawValue)
        namespace.add("persistent", status.isPersistent)
        namespace.add("version", status.version)
        namespace.add("created", status.created)
        namespace.add("sequence", status.sequence)
        namespace.add("tuples", status.tuples)
        namespace.add("cells", status.cells)
        namespace.add("bytes", status.bytes)
        namespace.add("limit", status.byteLimit)
        namespace.add("history", json: StatusReport(status: status).history)
        namespace.add("unlocked", inspection.isLockFree)
        try print(namespace.line)
        for owner in status.owners {
            // `kind` is taken: how the process is tied to the namespace has another name here.
            try print(StatusReport.object(owner, kindKey: "tie", in: line("owner")).line)
        }
        for match in inspection.tuples {
            var object = line("tuple")
            object.add("id", match.id.rawValue)
            object.add("tuple", json: try match.tuple().json)
            object.add("expires", inspection.expiry(of: match))
            object.add("deliveries", match.deliveries)
            try print(object.line)
        }
        for claim in status.claims {
            try print(StatusReport.object(claim, in: line("claim")).line)
        }
        for buried in status.buried {
            try print(StatusReport.object(buried: buried, in: line("buried")).line)
        }
        for cell in inspection.cells {
            var object = line("cell")
            object.add("key", cell.key)
            object.add("value", json: cell.value.json)
            try print(object.line)
        }
        for responder in status.responders {
            try print(StatusReport.object(responder, in: line("responder")).line)
        }
        for request in status.requests { try print(StatusReport.object(request, in: line("request")).line) }
        for hold in status.holds { try print(StatusReport.object(hold, in: line("hold")).line) }
        try collectionLines(print)
        try recipeLines(print)
        for waiter in status.waiters { try print(StatusReport.object(waiter, in: line("waiter")).line) }
        for watcher in status.watchers { try print(StatusReport.object(watcher, in: line("watcher")).line) }
        for change in inspection.changes { try print(ChangeReport.object(change, in: line("change")).line) }
    }

    func line(_ kind: String) -> JSONObject {
        var object = JSONObject()
        object.add("kind", kind)
        return object
    }

    // MARK: Text

    /// How many rows are aligned at a time, so that a long listing is not measured as a whole.
    private static let page = 200

    /// Prints lines for people.
    func text(_ print: (String) throws -> Void) throws {
        let now = Clock.realtimeMilliseconds()
        for line in StatusReport(status: inspection.status).text(now: now) { try print(line) }
        try section("tuples", ["ID", "EXPIRES", "DELIVERIES", "TUPLE"], inspection.tuples, print) { match in
            [
                "\(match.id.rawValue)", inspection.expiry(of: match).map { PeopleText.relative($0, to: now) } ?? "-",
                "\(match.deliveries)", try match.tuple().json,
            ]
        }
        try section("cells", ["KEY", "VALUE"], inspection.cells, print) { [$0.key, $0.value.json] }
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
