import SpaceRecipes
import TupleCoding

/// A look at a namespace as JSON, in the forms that `show`, `list` and `space-dump` print.
package struct StatusReport {
    package let status: NamespaceStatus
    /// Who waits for whom.
    package let graph: WaitGraph
    /// How far the namespace is in its machines' log; `nil` if it has no such log, or if that is not known or not asked
    /// for.
    private let replication: JSONObject?
    /// Whether several machines share another namespace of this name.
    package let isApart: Bool

    package init(status: NamespaceStatus, replication: JSONObject? = nil, isApart: Bool = false) {
        self.status = status
        self.replication = replication
        self.isApart = isApart
        graph = WaitGraph(status.waits)
    }

    /// The processes that keep the namespace alive; a visitor does not.
    private var owners: [NamespaceStatus.Owner] { status.owners.filter { $0.kind != .visitor } }

    /// One object with everything, as `show --json` prints it.
    package var object: JSONObject {
        var object = JSONObject()
        object.add("name", status.name)
        object.add("mode", status.mode.rawValue)
        object.add("sequence", status.sequence)
        object.add("tuples", status.tuples)
        object.add("cells", status.cells)
        object.add("bytes", status.bytes)
        object.add("limit", status.byteLimit)
        object.add("owners", owners.map { Self.object($0, kindKey: "kind") })
        object.add("waiters", status.waiters.map { Self.object($0, kindKey: "kind") })
        object.add("watchers", status.watchers.map { Self.object($0) })
        object.add("claims", status.claims.map { Self.object($0) })
        object.add("buried", status.buried.map { Self.object(buried: $0) })
        object.add("delivery_limit", status.deliveryLimit)
        object.add("responders", status.responders.map { Self.object($0) })
        object.add("requests", status.requests.map { Self.object($0) })
        object.add("holds", status.holds.map { holdObject($0) })
        object.add("shapes", status.shapes.map { Self.object($0) })
        object.add("objects", status.objects.map { Self.object($0) })
        object.add("persistent", status.isPersistent)
        object.add("created", status.created)
        object.add("life", "\(status.life)")
        object.add("history", json: Self.json(status.history))
        object.add("disk", status.diskBytes)
        object.add("log", json: Self.json(status.log))
        if status.isReplicated {
            object.add("replicated", true)
            object.add("entry", status.entry)
            object.add("machines", status.machines)
            object.add("replication", json: replication?.line ?? "null")
        }
        if isApart { object.add("not_shared", true) }
        object.add("deadlocks", json: "[\(graph.deadlocks.map(\.json).joined(separator: ","))]")
        object.add("doubtful", json: "[\(graph.doubtful.map(\.doubtfulJSON).joined(separator: ","))]")
        return object
    }

    /// A history as JSON.
    package static func json(_ history: History?) -> String {
        guard let history else { return "null" }
        var object = JSONObject()
        object.add("changes", history.changes)
        object.add("bytes", history.bytes)
        return object.line
    }

    /// A log as JSON.
    private static func json(_ log: NamespaceStatus.Log?) -> String {
        guard let log else { return "null" }
        var object = JSONObject()
        object.add("path", log.path)
        object.add("entry", Int(clamping: log.entry))
        object.add("standby", log.isFollowed)
        return object.line
    }

    /// What `list --json` prints.
    package var summary: JSONObject {
        var object = JSONObject()
        object.add("name", status.name)
        object.add("tuples", status.tuples)
        object.add("cells", status.cells)
        object.add("owners", livingOwners)
        object.add("bytes", status.bytes)
        object.add("mode", status.mode.rawValue)
        object.add("persistent", status.isPersistent)
        object.add("queues", count(.queue))
        object.add("sets", count(.orderedSet))
        if status.isReplicated { object.add("replicated", true) }
        return object
    }

    /// How many objects of a kind there are.
    package func count(_ kind: SharedObjectKind) -> Int { status.objects.count { $0.kind == "\(kind)" } }

    /// The object of a namespace that can't be opened.
    package static func failedSummary(_ name: String, _ error: SpaceError) -> JSONObject {
        var object = JSONObject()
        object.add("name", name)
        object.add(word(for: error), error.reason)
        return object
    }

    /// The report on a namespace that can't be opened: it is damaged, or can't be used from here, or not now.
    package static func word(for error: SpaceError) -> String { error.code == .damaged ? "damaged" : "unusable" }

    /// How many changes a watcher has not acknowledged.
    package static func lag(of watcher: NamespaceStatus.Watcher, in status: NamespaceStatus) -> UInt64 {
        status.sequence > watcher.position ? status.sequence - watcher.position : 0
    }

    package var livingOwners: Int { owners.count { $0.isAlive } }

    /// An owner.
    ///
    /// A line of a dump has its own `kind`, so the caller gives the key of the owner's kind.
    package static func object(_ owner: NamespaceStatus.Owner, kindKey: String, in line: JSONObject = JSONObject())
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

    /// A waiter.
    ///
    /// A line of a dump has its own `kind`, so the caller gives the key of what is waited for.
    package static func object(_ waiter: NamespaceStatus.Waiter, kindKey: String, in line: JSONObject = JSONObject())
        -> JSONObject
    {
        var object = line
        object.add("pid", waiter.pid)
        // Another process wrote the template, and cut it if it was long: if it is not JSON, it is printed as text.
        if let template = try? Value(json: waiter.template) {
            object.add("template", json: template.json)
        } else {
            object.add("template", waiter.template)
        }
        object.add("since", waiter.since)
        object.add("taking", waiter.isTaking)
        object.add(kindKey, waiter.kind)
        return object
    }

    package static func object(_ watcher: NamespaceStatus.Watcher, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add(processOf: watcher)
        object.add("filter", watcher.filter)
        object.add("position", watcher.position)
        object.add("subscription", watcher.subscription)
        return object
    }

    package static func object(_ claim: NamespaceStatus.Claim, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("id", claim.held.number)
        object.add(processOf: claim)
        object.add("deadline", claim.deadline)
        object.add("tuple_id", claim.held.id.rawValue)
        object.add("deliveries", claim.held.deliveries)
        object.add("tuple", json: claim.held.tuple.json)
        addEnd(of: claim, to: &object)
        return object
    }

    /// A tuple that is buried: without a claim, the id is the tuple's.
    package static func object(buried: NamespaceStatus.Claim, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("id", buried.held.id.rawValue)
        object.add("deliveries", buried.held.deliveries)
        object.add("tuple", json: buried.held.tuple.json)
        addEnd(of: buried, to: &object)
        return object
    }

    /// Adds when the tuple ends by itself, if it does.
    private static func addEnd(of claim: NamespaceStatus.Claim, to object: inout JSONObject) {
        if let expires = claim.expires { object.add("expires", expires) }
        if let pid = claim.endsWith { object.add("session", pid) }
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
        if let items = info.queue?.items { object.add("items", json: Self.object(items).line) }
        if let queue = info.queue { add(queue, to: &object) }
        return object
    }
}
