import SpaceSystem
import Synchronization

/// What this process keeps for the upkeep of a namespace.
final class UpkeepState: Sendable {
    /// What this process knows of the one that ticks for the namespace.
    let ticker = Mutex(KnownTicker())
    /// The time at which this process last looked after its own part, in monotonic nanoseconds.
    let lastLook = Atomic<Int64>(0)
    /// How often a nudge found a waiter's tuple, or a tick returned a dead claimer's tuples, because a wake-up was lost.
    ///
    /// A wake-up is lost only if a process is killed.
    let lateFinds = Atomic<Int>(0)
    /// The time, in monotonic nanoseconds, after which a look that finds nothing checks again whether holders of
    /// claims live.
    let nextAsking = Atomic<Int64>(0)
    /// Whether the other processes know that this session claims.
    let isClaimant = Atomic<Bool>(false)

    /// How long the glances of this process leave a tuple to the taker that was granted it.
    static let grantPatience = Duration.seconds(1)
    private static let mostLeft = 256
    /// The tuples that they leave, and until when.
    private let left = Mutex([UInt64: MonotonicInstant]())

    /// Whether a glance leaves a tuple: `isPromised` is asked once, when the first of them sees it.
    func leaves(_ id: UInt64, _ isPromised: () -> Bool) -> Bool {
        left.withLock { left in
            if let end = left[id] { return !end.hasPassed }
            guard isPromised() else { return false }
            // What nobody has taken since is left once more.
            if left.count >= Self.mostLeft { left = left.filter { !$0.value.hasPassed } }
            left[id] = .now.advanced(by: Self.grantPatience)
            return true
        }
    }
}
