import Glibc

/// A moment on `CLOCK_MONOTONIC`, in nanoseconds: the clock is never set back, is the same for all processes, and stops
/// during suspend.
///
/// Deadlines of waits are on this clock. Times that must include the machine's suspended time use `Clock`.
package struct MonotonicInstant: Comparable, Hashable, Sendable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    package static var now: MonotonicInstant { MonotonicInstant(nanoseconds: Clock.nanoseconds(CLOCK_MONOTONIC)) }

    /// A moment later than every deadline: 292 years after the machine's start.
    package static var distantFuture: MonotonicInstant { MonotonicInstant(nanoseconds: .max) }

    /// The moment at which a wait of this length is over, or `nil` (without limit) for `nil`.
    package static func deadline(after duration: Duration?) -> MonotonicInstant? {
        duration.map { now.advanced(by: $0) }
    }

    /// The moment that is later by a duration; it saturates, so a duration beyond 292 years means "never", and does not
    /// crash.
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
