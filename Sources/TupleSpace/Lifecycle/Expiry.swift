/// When a tuple or a cell that is about to be written ends by itself.
package struct Expiry {
    /// The end that the row keeps.
    package let end: RowEnd
    /// Whether the row is accepted but gone before any process could see it.
    let isNeverSeen: Bool

    /// Whether only a call ends the row.
    @inline(__always)
    var isNever: Bool { end.isNever && !isNeverSeen }

    init(_ end: RowEnd, isNeverSeen: Bool = false) {
        self.end = end
        self.isNeverSeen = isNeverSeen
    }

    /// The same with another holder.
    @inline(__always)
    func with(holder: ClaimHolder) -> Expiry { Expiry(end.with(holder: holder), isNeverSeen: isNeverSeen) }

    @inline(__always)
    package init(_ duration: Duration?, _ lifetime: Lifetime = .permanent, _ core: NamespaceCore) throws(SpaceError) {
        try duration?.checkNotNegative("an expiry")
        let holder = try lifetime.holder(in: core)
        end = RowEnd(expiry: duration.map { core.clock.time(after: $0) } ?? 0, holder: holder)
        isNeverSeen = duration == .zero
    }
}

extension RowEnd {
    /// The time until the row expires; `nil`: it does not.
    package func timeLeft(_ clock: NamespaceClock) -> Duration? {
        expiry == 0 ? nil : .milliseconds(max(0, expiry - clock.milliseconds))
    }
}
