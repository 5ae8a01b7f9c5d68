import SpaceEngine

extension JSONObject {
    /// Adds when and by which process something was written, if that is known.
    mutating func add(_ origin: Origin) {
        guard origin != .unknown else { return }
        add(["written": origin.milliseconds, "writer": origin.pid])
    }
}
