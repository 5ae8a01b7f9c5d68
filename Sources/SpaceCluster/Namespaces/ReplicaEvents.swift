/// What has happened to a replica, the newest event last, and which events the daemon has not reported yet.
struct ReplicaEvents {
    private(set) var all: [String] = []
    private var untold: [String] = []

    /// How many are kept: a replica that stops again and again would fill the memory.
    private static let most = 20

    /// - Parameters:
    ///   - event: What has happened.
    ///   - isTold: Whether the daemon reports it in another way.
    mutating func note(_ event: String, isTold: Bool = false) {
        all = (all + [event]).suffix(Self.most)
        if !isTold { untold = (untold + [event]).suffix(Self.most) }
    }

    /// Returns what is untold, which counts as told from now on.
    mutating func takeUntold() -> [String] {
        defer { untold = [] }
        return untold
    }
}
