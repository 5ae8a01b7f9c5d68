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
