import SharedSpace
import TupleCoding

// Looking at the items of a queue.

extension QueueCommand {
    func list(_ state: QueueItem.Info.State?, _ output: Output) throws {
        try use { queue in
            try queue.forEachPart(in: state, max: max) { items in
                try Signals.check()
                for item in items { try output.print(Self.line(item)) }
                try output.flush()
            }
        }
    }

    static func line(_ item: QueueItem.Info) -> String {
        var object: JSONObject = [
            "id": item.id, "state": item.state.rawValue, "priority": item.priority, "group": item.group,
            "deliveries": item.deliveries, "reason": item.reason.orLeftOut,
        ]
        object.add(item.origin)
        object.add("value", item.value)
        return object.json
    }
}
