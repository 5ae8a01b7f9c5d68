import Glibc

/// A moment on `CLOCK_MONOTONIC`, in nanoseconds: never set back, the same for all processes, stopped during suspend.
///
/// Deadlines of waits are on this clock; what must count a suspended machine's time too uses `Clock`.
package struct MonotonicInstant: Comparable, Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicInstant { MonotonicInstant(nanoseconds: Clock.nanoseconds(CLOCK_MONOTONIC)) }

    /// Later than every deadline: 292 years after the machine's start.
    package static var distantFuture: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

    /// The moment after which a wait of this length is over; `nil`, without limit, for `nil`.
    package static func deadline(after duration: Duration?) -> MonotonicInstant? {
        duration.map { now.advanced(by: $0) }
    }

    /// Saturates: a duration beyond 292 years means "never", not a crash.
    package func advanced(by duration: Duration) -> MonotonicInstant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.saturatedNanoseconds)
        guard overflow else { return MonotonicInstant(nanoseconds: sum) }
        return MonotonicInstant(nanoseconds: duration < .zero ? .min : .max)
    }

    /// The time from now until this moment; zero once it has passed.
    package var remaining: Duration {
        let now = Self.now
        // The clock starts at 0 with the machine, so a later moment minus now always fits.
        return self > now ? .nanoseconds(nanoseconds - now.nanoseconds) : .zero
    }

    package var hasPassed: Bool { Self.now >= self }

    package func duration(since earlier: MonotonicInstant) -> Duration {
        .nanoseconds(nanoseconds) - .nanoseconds(earlier.nanoseconds)
    }

    package static func < (left: MonotonicInstant, right: MonotonicInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}

/// The clocks of what is stored: expiries, deadlines of claims, times in the journal.
package enum Clock {
    /// Milliseconds since 1970: means the same after a reboot, but somebody can set it.
    package static func realtimeMilliseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    /// Microseconds since 1970.
    package static func realtimeMicroseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1000 }

    /// Milliseconds since the machine started, suspended time included: nobody sets it, a reboot does.
    package static func boottimeMilliseconds() -> Int64 { nanoseconds(CLOCK_BOOTTIME) / 1_000_000 }

    static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // clock_gettime(2) fails only for an unknown clock or a bad address.
        _ = clock_gettime(clock, &time)
        let (product, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        // A realtime clock beyond the year 2262 doesn't fit, and root can set it there.
        guard !overflow else { return time.tv_sec < 0 ? .min : .max }
        let (sum, tooFar) = product.addingReportingOverflow(Int64(time.tv_nsec))
        return tooFar ? .max : sum
    }
}

extension Duration {
    /// Whole nanoseconds, rounded towards zero, at the ends of `Int64` when it doesn't fit.
    package var saturatedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, tooFar) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooFar ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole milliseconds, rounded up so that a short wait isn't a busy one, within what poll(2) and epoll take.
    package var pollMilliseconds: CInt {
        let nanoseconds = max(0, saturatedNanoseconds)
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return CInt(clamping: milliseconds)
    }
}
