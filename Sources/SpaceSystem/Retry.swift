import Glibc

/// Asking again where nothing tells when to: the kernel reports neither that a lock of an open file has become free
/// within a time, nor the end of another process's look at the data, nor that a daemon has got further.
///
/// Whatever can be heard is waited for by the event loop or on a futex instead.
package struct Retry: Sendable {
    private let end: MonotonicInstant
    private let interval: Duration

    /// - Parameters:
    ///   - end: When it is given up.
    ///   - interval: How long each rest is.
    package init(until end: MonotonicInstant, every interval: Duration) {
        self.end = end
        self.interval = interval
    }

    /// - Parameters:
    ///   - patience: After what time it is given up.
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
