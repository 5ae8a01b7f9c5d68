import Glibc

/// Repeated attempts, for events that no signal reports: the kernel does not report when a lock of an open file becomes
/// free, when another process's look at the data ends, or when a daemon has made progress.
///
/// For everything that can be heard, the library waits by the event loop or on a futex instead.
package struct Retry: Sendable {
    private let end: MonotonicInstant
    private let interval: Duration

    /// - Parameters:
    ///   - end: When to give up.
    ///   - interval: How long each rest is.
    package init(until end: MonotonicInstant, every interval: Duration) {
        self.end = end
        self.interval = interval
    }

    /// - Parameters:
    ///   - patience: The time after which to give up.
    ///   - interval: How long each rest is.
    package init(for patience: Duration, every interval: Duration) {
        self.init(until: .now.advanced(by: patience), every: interval)
    }

    /// Rests, and returns whether to ask again: `false`, without a rest, once the time is over.
    package func again() -> Bool {
        if end.hasPassed { return false }
        Self.rest(interval)
        return true
    }

    /// Sleeps for a time, or until a signal arrives.
    package static func rest(_ duration: Duration) {
        let nanoseconds = max(0, duration.saturatedNanoseconds)
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }
}
