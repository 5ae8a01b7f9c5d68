import SharedSpace
import SpaceInspection

extension StatusReport {
    static func object(_ counts: QueueCounts) -> JSONObject {
        var object = JSONObject()
        for (state, number) in numbers(of: counts) { object.add(state, number) }
        return object
    }

    /// Adds the numbers of a queue, and its pause.
    static func add(_ info: WorkQueueInfo, to object: inout JSONObject) {
        object.add("deliveries", info.deliveries)
        object.add("bound", info.bound)
        object.add("paused", info.isPaused)
        if let end = info.pausedUntil { object.add("paused_until", end) }
    }

    /// How many elements, entries or items an object has; items are also counted by state.
    static func countText(_ info: SharedObjectInfo) -> String {
        guard let count = info.count else { return "-" }
        let states =
            info.queue?.items.map { numbers(of: $0).filter { $0.number > 0 }.map { "\($0.number) \($0.state)" } } ?? []
        let text = states.isEmpty ? "\(count)" : "\(count): \(states.joined(separator: ", "))"
        return info.queue?.isPaused ?? false ? "\(text); paused" : text
    }

    static func numbers(of counts: QueueCounts) -> [(state: String, number: Int)] {
        QueueItem.Info.State.allCases.map { ($0.rawValue, counts[$0]) }
    }
}
