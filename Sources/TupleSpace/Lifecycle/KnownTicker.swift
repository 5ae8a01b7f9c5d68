import SpaceSystem

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
