import TupleCoding

/// The time at which a written tuple expires.
package struct Expiry {
    /// The time on the namespace's clock; 0 if the tuple never expires.
    package let time: Int64
    /// Whether the tuple is accepted but gone before any process could see it.
    let isNeverSeen: Bool

    /// Whether the tuple never expires.
    var isNever: Bool { time == 0 && !isNeverSeen }

    init(_ duration: Duration?, _ core: NamespaceCore) throws(SpaceError) {
        try duration?.checkNotNegative("an expiry")
        time = duration.map { core.clock.time(after: $0) } ?? 0
        isNeverSeen = duration == .zero
    }
}
