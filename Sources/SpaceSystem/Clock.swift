import Glibc

/// The clocks of stored times: expiries, deadlines of claims, times in the journal.
package enum Clock {
    /// Milliseconds since 1970: the meaning survives a reboot, but an administrator can set the clock.
    package static func realtimeMilliseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1_000_000 }

    /// A time in milliseconds since 1970, to the second: `2026-11-24T04:05:06Z`.
    package static func moment(_ milliseconds: Int64) -> String {
        var seconds = time_t(milliseconds / 1000)
        var parts = tm()
        // gmtime_r(3): null for a year that has no number.
        guard gmtime_r(&seconds, &parts) != nil else { return "unknown" }
        func padded(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = "\(Int(parts.tm_year) + 1900)-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
        return "\(date)T\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))Z"
    }

    /// Microseconds since 1970.
    package static func realtimeMicroseconds() -> Int64 { nanoseconds(CLOCK_REALTIME) / 1000 }

    /// Milliseconds since the machine's start, suspended time included: no process can set this clock; a reboot resets
    /// it.
    package static func boottimeMilliseconds() -> Int64 { nanoseconds(CLOCK_BOOTTIME) / 1_000_000 }

    /// The real time of the machine's start: milliseconds since 1970, rounded.
    ///
    /// The difference is rounded, not each clock: the difference of two rounded times would often be a millisecond off. The
    /// thread may lose its processor between the two readings, so they are repeated until they come close together.
    package static func realtimeAtBootMilliseconds() -> Int64 {
        var best = (width: Int64.max, difference: Int64(0))
        for _ in 0..<mostReadings {
            let before = nanoseconds(CLOCK_BOOTTIME)
            let realtime = nanoseconds(CLOCK_REALTIME)
            let width = nanoseconds(CLOCK_BOOTTIME) &- before
            if width < best.width { best = (width, realtime &- before &- width / 2) }
            if width <= closeTogether { break }
        }
        return (best.difference &+ 500_000) / 1_000_000
    }

    private static let mostReadings = 16
    /// In nanoseconds.
    private static let closeTogether: Int64 = 10_000

    /// Seconds since 1970 as of the kernel's last tick, which is cheaper to read; 32 bits of them.
    @inline(__always)
    package static func coarseSeconds() -> UInt32 {
        var time = timespec()
        _ = clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return UInt32(truncatingIfNeeded: time.tv_sec)
    }

    static func nanoseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        // clock_gettime(2) fails only for an unknown clock or a bad address.
        _ = clock_gettime(clock, &time)
        let (product, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        // A realtime clock beyond the year 2262 doesn't fit, and root can set it so.
        guard !overflow else { return time.tv_sec < 0 ? .min : .max }
        let (sum, tooFar) = product.addingReportingOverflow(Int64(time.tv_nsec))
        return tooFar ? .max : sum
    }
}
