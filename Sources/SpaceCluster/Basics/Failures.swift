package import ClusterStore

extension StoreError {
    /// The error in words.
    package var told: String {
        switch self {
        case .unavailable(let why): "the store can't be reached: \(why)"
        case .unknown(let why): "the store did not answer: \(why)"
        case .refused(let why): "the store refused the request: \(why)"
        case .compacted(let revision): "the store has compacted its history up to revision \(revision)"
        }
    }
}

/// The pause between two tries of the same thing: it doubles with each failure, up to a bound.
package struct Pause: Sendable {
    private let shortest: Duration
    private let longest: Duration
    private var next: Duration

    package init(_ settings: ClusterSettings) {
        shortest = settings.shortestPause
        longest = settings.longestPause
        next = shortest
    }

    /// Waits for the pause's time; returns early if the task is cancelled.
    package mutating func wait() async {
        let time = next
        next = min(longest, next * 2)
        try? await Task.sleep(for: time)
    }

    /// The next pause is the shortest again.
    package mutating func reset() { next = shortest }
}
