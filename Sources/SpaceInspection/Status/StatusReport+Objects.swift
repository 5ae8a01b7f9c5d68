import SpaceRecipes
package import TupleCoding

// What processes hold, respond to and queue, as JSON.

extension StatusReport {
    package func holdObject(_ hold: NamespaceStatus.Hold, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("name", hold.name)
        object.add("type", hold.kind)
        object.add("held", hold.isHeld)
        object.add("shared", hold.isShared)
        object.add("count", hold.weight)
        object.add("fencing", hold.fencing)
        object.add(processOf: hold)
        object.add("since", hold.since)
        object.add("details", json: hold.details.json)
        object.add("waits_for", json: "[\(blockers(of: hold).map(String.init).joined(separator: ","))]")
        return object
    }

    /// The processes for which the process of a place waits; empty if it waits for none, or holds.
    package func blockers(of hold: NamespaceStatus.Hold) -> [Int32] {
        guard !hold.isHeld, let pid = hold.pid else { return [] }
        return graph.blockers(of: pid, for: .hold(kind: hold.kind, name: hold.named))
    }

    package static func object(_ responder: NamespaceStatus.Responder, in line: JSONObject = JSONObject()) -> JSONObject
    {
        var object = line
        object.add("name", responder.name)
        object.add("key", responder.key)
        object.add(processOf: responder)
        object.add("order", responder.order)
        object.add("base", responder.isBase)
        object.add("leaving", responder.isLeaving)
        object.add("since", responder.since)
        object.add("requests", responder.requests)
        return object
    }

    package static func object(_ request: NamespaceStatus.Request, in line: JSONObject = JSONObject()) -> JSONObject {
        var object = line
        object.add("name", request.name)
        object.add(processOf: request)
        object.add("responder", request.responder)
        object.add("since", request.since)
        return object
    }

    package static func object(_ counts: QueueCounts) -> JSONObject {
        var object = JSONObject()
        for (state, number) in numbers(of: counts) { object.add(state, number) }
        return object
    }

    /// Adds the numbers of a queue, and its pause.
    package static func add(_ info: WorkQueueInfo, to object: inout JSONObject) {
        object.add("deliveries", info.deliveries)
        object.add("bound", info.bound)
        object.add("paused", info.isPaused)
        if let end = info.pausedUntil { object.add("paused_until", end) }
    }

    package static func numbers(of counts: QueueCounts) -> [(state: String, number: Int)] {
        QueueItem.Info.State.allCases.map { ($0.rawValue, counts[$0]) }
    }
}

extension JSONObject {
    /// Adds the process of an entry, and its machine if that is another one.
    mutating func add(processOf entry: some NamespaceStatus.Entry) {
        add("pid", entry.pid)
        if let elsewhere = entry.elsewhere { add("elsewhere", elsewhere) }
    }
}
