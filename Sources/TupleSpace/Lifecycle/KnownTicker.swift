import SpaceSystem
import Synchronization

/// What this process knows of the ticker and its deputy.
struct KnownTicker {
    var ticker = KnownSeat()
    var deputy = KnownSeat()
    /// The last transaction at this process's last tick as the ticker.
    var transaction = -1
}

/// What this process knows of a seat.
struct KnownSeat {
    var sighting: TickerSeat.Sighting?
    /// When the seat was first seen like this.
    var since = MonotonicInstant.now
    /// The session that this process follows, and whether it will hear its end.
    var followed: UInt64 = 0
    var isHeard = false
    /// When this process last tried to listen for its end.
    var lastTry = MonotonicInstant.now

    /// Notes how the seat is now; returns how long it has been so.
    mutating func note(_ now: TickerSeat.Sighting) -> Duration {
        if sighting != now { (sighting, since) = (now, .now) }
        return MonotonicInstant.now.duration(since: since)
    }
}

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
    let nextAskForTheDead = Atomic<Int64>(0)
    /// Whether the other processes know that this session claims.
    let isClaimant = Atomic<Bool>(false)
}
