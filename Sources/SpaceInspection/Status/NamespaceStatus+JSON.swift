// The parts of a namespace's status as JSON objects: for `show`, and behind the `kind` of a dump's line.

extension NamespaceStatus.Owner {
    /// The owner; a line of a dump has its own `kind`, so the caller gives the key of the owner's kind.
    package func object(kindKey: String = "kind") -> JSONObject {
        ["pid": pid, "command": command, "since": since, "alive": isAlive, kindKey: kind.rawValue]
    }
}

extension NamespaceStatus.Waiter {
    /// The waiter; a line of a dump has its own `kind`, so the caller gives the key of what is waited for.
    package func object(kindKey: String = "kind") -> JSONObject {
        // Another process wrote the template, and cut it if it was long: if it is not JSON, it is printed as text.
        let template: any JSONConvertible = (try? Value(json: template)) ?? template
        return ["pid": pid, "template": template, "since": since, "taking": isTaking, kindKey: kind.name]
    }
}

extension NamespaceStatus.Watcher {
    package var object: JSONObject {
        [
            "pid": pid, "elsewhere": elsewhere.orLeftOut, "filter": filter, "position": position,
            "subscription": subscription,
        ]
    }
}

extension NamespaceStatus.Claim {
    package var object: JSONObject {
        [
            "id": held.number, "pid": pid, "elsewhere": elsewhere.orLeftOut, "deadline": deadline,
            "tuple_id": held.id.rawValue, "deliveries": held.deliveries, "tuple": held.tuple,
            "expires": expires.orLeftOut, "session": endsWith.orLeftOut,
        ]
    }

    /// A tuple that is buried: without a claim, the id is the tuple's.
    package var buriedObject: JSONObject {
        [
            "id": held.id.rawValue, "deliveries": held.deliveries, "tuple": held.tuple,
            "expires": expires.orLeftOut, "session": endsWith.orLeftOut,
        ]
    }
}

extension NamespaceStatus.Responder {
    package var object: JSONObject {
        [
            "name": name, "key": key, "pid": pid, "elsewhere": elsewhere.orLeftOut, "order": order, "base": isBase,
            "leaving": isLeaving, "since": since, "requests": requests,
        ]
    }
}

extension NamespaceStatus.Request {
    package var object: JSONObject {
        ["name": name, "pid": pid, "elsewhere": elsewhere.orLeftOut, "responder": responder, "since": since]
    }
}

extension NamespaceStatus.Shape {
    var object: JSONObject { ["shape": description, "state": state] }
}

extension NamespaceStatus.Log {
    var object: JSONObject { ["path": path, "entry": Int(clamping: entry), "standby": isFollowed] }
}

extension History {
    package var object: JSONObject { ["changes": changes, "bytes": bytes] }
}

extension SharedObjectInfo {
    var object: JSONObject {
        var object: JSONObject = [
            "name": name, "type": kind.name, "element_type": elementType.orLeftOut, "count": count.orLeftOut,
        ]
        if let queue {
            object.add([
                "items": (queue.items?.object).orLeftOut, "deliveries": queue.deliveries, "bound": queue.bound,
                "paused": queue.isPaused, "paused_until": queue.pausedUntil.orLeftOut,
            ])
        }
        return object
    }
}

extension QueueCounts {
    /// The number of items in each state.
    package var numbers: [(state: String, number: Int)] {
        QueueItem.Info.State.allCases.map { ($0.rawValue, self[$0]) }
    }

    package var object: JSONObject {
        var object: JSONObject = [:]
        for (state, number) in numbers { object.add(state, number) }
        return object
    }
}
