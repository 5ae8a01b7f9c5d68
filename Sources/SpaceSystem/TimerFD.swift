import CSpaceShims
package import SystemPackage

/// A timer with a descriptor (timerfd_create(2)), which wakes a thread in `Epoll.wait` if another thread takes too
/// long.
package struct TimerFD: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_timerfd_open()))
    }

    /// The descriptor for poll and epoll: readable once the time has passed, until the timer is set again or stopped.
    package var raw: CInt { descriptor.raw }

    /// Sets the timer to expire once, after this time, in place of an earlier setting.
    package func set(_ duration: Duration) throws(Errno) {
        // timerfd_settime(2): zero would stop it.
        try checked(space_timerfd_set(raw, max(1, duration.saturatedNanoseconds)))
    }

    package func stop() throws(Errno) { try checked(space_timerfd_set(raw, 0)) }
}
