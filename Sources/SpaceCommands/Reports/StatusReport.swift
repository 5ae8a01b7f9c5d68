import Glibc
import SharedSpace
import SpaceSystem

/// A look at a namespace in the forms that `show` and `space-dump` print.
struct StatusReport {
    let status: NamespaceStatus

    /// Who keeps it alive; visitors only look.
    private var owners: [NamespaceStatus.Owner] { status.owners.filter { $0.kind != .visitor } }

    /// Who uses it, this process left out.
    private var processes: [NamespaceStatus.Owner] { status.owners.filter { $0.pid != getpid() } }

    // MARK: JSON

    /// One object with everything, as `show --json` prints it.
    var object: JSONObject {
        var object = JSONObject()
        object.add("name", status.name)
        object.add("mode", status.mode.rawValue)
        object.add("sequence", status.sequence)
        object.add("tuples", status.tuples)
        object.add("cells", status.cells)
        object.add("bytes", status.bytes)
        object.add("limit", status.byteLimit)
        object.add("owners", owners.map { Self.object($0, kindKey: "kind") })
        object.add("waiters", status.waiters.map { Self.object($0) })
        object.add("watchers", status.watchers.map { Self.object($0) })
        object.add("claims", status.claims.map { Self.object($0) })
        object.add("buried", status.buried.map { Self.object(buried: $0) })
        object.add("delivery_limit", status.deliveryLimit)
        object.add("responders", status.responders.map { Self.object($0) })
        object.add("requests", status.requests.map { Self.object($0) })
        object.add("holds", status.holds.map { Self.object($0) })
        object.add("shapes", status.shapes.map { Self.object($0) })
        object.add("objects", status.objects.map { Self.object($0) })
        object.add("persistent", status.isPersistent)
        object.add("created", status.created)
        object.add("life", "\(status.life)")
        object.add("history", json: history)
        return object
    }

    /// The history as JSON.
    var history: String {
        guard let history = status.history else { return "null" }
        var object = JSONObject()
        object.add("changes", history.changes)
        object.add("bytes", history.bytes)
        return object.line
    }

    /// What `list --json` prints.
    var summary: JSONObject {
        var object = JSONObject()
        object.add("name", status.name)
        object.add("tuples", status.tuples)
        object.add("cells", status.cells)
        object.add("owners", livingOwners)
        object.add("bytes", status.bytes)
        object.add("mode", status.mode.rawValue)
        object.add("persistent", status.isPersistent)
        return object
    }

    var livingOwners: Int { owners.count { $0.isAlive } }

    /// An owner; lines of a dump have a `kind` of their own, so the key of the owner's is given.
    static func object(_ owner: NamespaceStatus.Owner, kindKey: String, in line: JSONObject = JSONObject())
        -> JSONObject
    {
        var object = line
        object.add("pid", owner.pid)
        object.add("command", owner.command)
        object.add("since", owner.since)
        object.add("alive", owner.isAlive)
        object.add(kindKey, owner.kind.rawValue)
        return object
    }

    static func object(_ waiter: NamespaceStatus.Waiter, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("pid", waiter.pid)
        // Written by another process, and cut when long: what is no JSON is text.
        if let template = try? Value(json: waiter.template) {
            object.add("template", json: template.json)
        } else {
            object.add("template", waiter.template)
        }
        object.add("since", waiter.since)
        object.add("taking", waiter.isTaking)
        return object
    }

    static func object(_ watcher: NamespaceStatus.Watcher, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("pid", watcher.pid)
        object.add("filter", watcher.filter)
        object.add("position", watcher.position)
        object.add("subscription", watcher.subscription)
        return object
    }

    static func object(_ claim: NamespaceStatus.Claim, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("id", claim.number)
        object.add("pid", claim.pid)
        object.add("deadline", claim.deadline)
        object.add("tuple_id", claim.id.rawValue)
        object.add("deliveries", claim.deliveries)
        object.add("tuple", json: claim.tuple.json)
        return object
    }

    /// A tuple that is set aside: there is no claim, so the id is the tuple's.
    static func object(buried: NamespaceStatus.Claim, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("id", buried.id.rawValue)
        object.add("deliveries", buried.deliveries)
        object.add("tuple", json: buried.tuple.json)
        return object
    }

    private static func object(_ shape: NamespaceStatus.Shape) -> JSONObject {
        var object = JSONObject()
        object.add("shape", shape.description)
        object.add("state", shape.state)
        return object
    }

    private static func object(_ info: SharedObjectInfo) -> JSONObject {
        var object = JSONObject()
        object.add("name", info.name)
        object.add("type", info.kind)
        if let type = info.elementType { object.add("element_type", type) }
        if let count = info.count { object.add("count", count) }
        if let items = info.items { object.add("items", json: Self.object(items).line) }
        return object
    }

    // MARK: Text

    /// The cells of a row in a table of namespaces.
    static let summaryTitles = ["NAME", "TUPLES", "CELLS", "OWNERS", "SIZE", "MODE"]

    var summaryRow: [String] {
        [
            status.name, "\(status.tuples)", "\(status.cells)", "\(livingOwners)", PeopleText.bytes(status.bytes),
            modeText,
        ]
    }

    /// The row of a namespace that can't be opened.
    static func damagedRow(_ name: String) -> [String] { [name, "-", "-", "-", "-", "damaged"] }

    /// The object of a namespace that can't be opened.
    static func damagedSummary(_ name: String, _ reason: String) -> JSONObject {
        var object = JSONObject()
        object.add("name", name)
        object.add("damaged", reason)
        return object
    }

    private var modeText: String { status.mode.rawValue + (status.isPersistent ? ", persistent" : "") }

    private var historyText: String {
        guard let history = status.history, let changes = history.changes, let bytes = history.bytes else { return "" }
        return ", the last \(changes) kept, \(PeopleText.bytes(bytes)) at most"
    }

    /// Lines for people.
    func text(now: Int64 = Clock.realtimeMilliseconds()) -> [String] {
        var lines = PeopleText.table([
            ["namespace", status.name],
            ["mode", modeText],
            ["tuples", "\(status.tuples)"],
            ["cells", "\(status.cells)"],
            ["size", "\(PeopleText.bytes(status.bytes)) of \(PeopleText.bytes(status.byteLimit))"],
            ["changes", "\(status.sequence)\(historyText)"],
            ["created", PeopleText.relative(status.created, to: now)],
        ])
        func section(_ title: String, _ titles: [String], _ rows: [[String]]) {
            guard !rows.isEmpty else { return }
            lines.append("")
            lines.append(title)
            lines += PeopleText.table([titles] + rows, indent: "  ")
        }
        section(
            PeopleText.count(processes.count, "process", plural: "processes"),
            ["PID", "COMMAND", "SINCE", "KIND", "ALIVE"],
            processes.map { owner in
                [
                    "\(owner.pid)", owner.command ?? "-", PeopleText.relative(owner.since, to: now),
                    owner.kind.rawValue,
                    owner.isAlive ? "yes" : "no",
                ]
            }
        )
        section(
            PeopleText.count(status.waiters.count, "waiter"),
            ["PID", "SINCE", "FOR", "TEMPLATE"],
            status.waiters.map { waiter in
                [
                    waiter.pid.map { "\($0)" } ?? "-", PeopleText.relative(waiter.since, to: now),
                    waiter.isTaking ? "take" : "read", waiter.template,
                ]
            }
        )
        section(
            PeopleText.count(status.watchers.count, "watcher"),
            ["PID", "POSITION", "SUBSCRIPTION", "FILTER"],
            status.watchers.map { watcher in
                [
                    watcher.pid.map { "\($0)" } ?? "-", "\(watcher.position)", watcher.subscription ?? "-",
                    watcher.filter,
                ]
            }
        )
        section(
            PeopleText.count(status.claims.count, "claim"),
            ["ID", "PID", "DEADLINE", "TUPLE"],
            status.claims.map { claim in
                [
                    "\(claim.number)", claim.pid.map { "\($0)" } ?? "-",
                    claim.deadline.map { PeopleText.relative($0, to: now) } ?? "-", claim.tuple.json,
                ]
            }
        )
        section(
            "\(PeopleText.count(status.buried.count, "tuple")) set aside",
            ["ID", "DELIVERIES", "TUPLE"],
            status.buried.map { ["\($0.id.rawValue)", "\($0.deliveries)", $0.tuple.json] }
        )
        section(
            "held, and waited for",
            Self.holdTitles,
            holdRows(now: now)
        )
        section(
            PeopleText.count(status.responders.count, "responder"),
            Self.responderTitles,
            responderRows(now: now)
        )
        section(PeopleText.count(status.requests.count, "request"), Self.requestTitles, requestRows(now: now))
        section(
            PeopleText.count(status.objects.count, "named object"),
            ["NAME", "TYPE", "OF", "COUNT"],
            status.objects.map { [$0.name, $0.kind, $0.elementType ?? "-", Self.countText($0)] }
        )
        section(
            PeopleText.count(status.shapes.count, "indexed shape"),
            ["SHAPE", "STATE"],
            status.shapes.map { [$0.description, $0.state] }
        )
        return lines
    }
}
