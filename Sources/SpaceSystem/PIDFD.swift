import CSpaceShims
package import SystemPackage

/// A descriptor of one process: it refers to that process forever, even after another process has got its PID.
package struct PIDFD: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    /// Opens the process that has this PID now; compare its start time afterwards, to check that it is the process you
    /// mean.
    ///
    /// - Throws: `ESRCH` if there is no such process.
    package init(pid: Int32) throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_pidfd_open(pid)))
    }

    /// The descriptor for poll and epoll: readable once the process has exited.
    package var raw: CInt { descriptor.raw }

    /// Whether the process has exited with all its threads, even if its parent has not reaped it.
    ///
    /// If poll(2) fails, the process counts as alive.
    package var hasExited: Bool { space_pidfd_has_exited(raw) == 1 }
}
