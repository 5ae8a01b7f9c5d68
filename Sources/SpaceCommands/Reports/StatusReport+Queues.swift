import SharedSpace
import SpaceInspection

extension StatusReport {
    /// How many elements, entries or items an object has; items are also counted by state.
    static func countText(_ info: SharedObjectInfo) -> String {
        guard let count = info.count else { return "-" }
        let states =
            info.queue?.items.map { $0.numbers.filter { $0.number > 0 }.map { "\($0.number) \($0.state)" } } ?? []
        let text = states.isEmpty ? "\(count)" : "\(count): \(states.joined(separator: ", "))"
        return info.queue?.isPaused ?? false ? "\(text); paused" : text
    }
}
