import CSpaceShims
package import SystemPackage

/// An alarm with a descriptor (timerfd_create(2)), by which a thread in `Epoll.wait` wakes when another takes too long.
package struct TimerFD: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    package init() throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_timerfd_open()))
    }

    /// For poll and epoll: readable once the time has passed, until it is set anew or stopped.
    package var raw: CInt { descriptor.raw }

    /// Expires once, after this time; an earlier setting is forgotten.
    package func set(_ duration: Duration) throws(Errno) {
        // timerfd_settime(2): zero would stop it.
        try checked(space_timerfd_set(raw, max(1, duration.saturatedNanoseconds)))
    }

    package func stop() throws(Errno) { try checked(space_timerfd_set(raw, 0)) }
}
