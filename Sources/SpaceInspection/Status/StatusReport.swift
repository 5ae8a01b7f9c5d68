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
        var object: JSONObject = [
            "name": status.name, "mode": status.mode.rawValue, "sequence": status.sequence, "tuples": status.tuples,
            "cells": status.cells, "bytes": status.bytes, "limit": status.byteLimit,
            "owners": owners.map { $0.object() }, "waiters": status.waiters.map { $0.object() },
            "watchers": status.watchers.map(\.object), "claims": status.claims.map(\.object),
            "buried": status.buried.map(\.buriedObject), "delivery_limit": status.deliveryLimit,
            "responders": status.responders.map(\.object), "requests": status.requests.map(\.object),
            "holds": status.holds.map(object), "shapes": status.shapes.map(\.object),
            "objects": status.objects.map(\.object), "persistent": status.isPersistent, "created": status.created,
            "life": status.life.description, "history": status.history?.object, "disk": status.diskBytes,
            "log": status.log?.object,
        ]
        if status.isReplicated {
            object.add([
                "replicated": true, "entry": status.entry, "machines": status.machines, "replication": replication,
            ])
        }
        object.add([
            "not_shared": isApart.orLeftOut, "deadlocks": graph.deadlocks,
            "doubtful": graph.doubtful.map(\.doubtfulObject),
        ])
        return object
    }

    /// What `list --json` prints.
    package var summary: JSONObject {
        [
            "name": status.name, "tuples": status.tuples, "cells": status.cells, "owners": status.livingOwners,
            "bytes": status.bytes, "mode": status.mode.rawValue, "persistent": status.isPersistent,
            "queues": status.count(.queue), "sets": status.count(.orderedSet),
            "replicated": status.isReplicated.orLeftOut,
        ]
    }

    /// The object of a namespace that can't be opened.
    package static func failedSummary(_ name: String, _ error: SpaceError) -> JSONObject {
        ["name": name, word(for: error): error.reason]
    }

    /// The report on a namespace that can't be opened: it is damaged, or can't be used from here, or not now.
    package static func word(for error: SpaceError) -> String { error.code == .damaged ? "damaged" : "unusable" }

    package func object(_ hold: NamespaceStatus.Hold) -> JSONObject {
        [
            "name": hold.name, "type": hold.kind.name, "held": hold.isHeld, "shared": hold.isShared,
            "count": hold.weight,
            "fencing": hold.fencing, "pid": hold.pid, "elsewhere": hold.elsewhere.orLeftOut, "since": hold.since,
            "details": hold.details, "waits_for": blockers(of: hold),
        ]
    }

    /// The processes for which the process of a place waits; empty if it waits for none, or holds.
    package func blockers(of hold: NamespaceStatus.Hold) -> [Int32] {
        guard !hold.isHeld, let pid = hold.pid else { return [] }
        return graph.blockers(of: pid, for: .hold(kind: hold.kind.word, name: hold.named))
    }
}
