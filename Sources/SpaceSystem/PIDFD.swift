import CSpaceShims
package import SystemPackage

/// A descriptor of one process: it stands for that one for ever, also after its PID has been given to another.
package struct PIDFD: ~Copyable, Sendable {
    package let descriptor: OwnedDescriptor

    /// Opens the process that has this PID now: compare its start time afterwards to see that it is the one meant.
    ///
    /// - Throws: `ESRCH` when there is none.
    package init(pid: Int32) throws(Errno) {
        descriptor = OwnedDescriptor(adopting: try checked(space_pidfd_open(pid)))
    }

    /// For poll and epoll: readable once the process has exited.
    package var raw: CInt { descriptor.raw }

    /// Whether the process, with all its threads, has exited; reaped by its parent or not.
    ///
    /// A poll that fails shows nothing, and then it counts as living.
    package var hasExited: Bool { space_pidfd_has_exited(raw) == 1 }

    /// Sends a signal to exactly this process.
    ///
    /// - Throws: `ESRCH` when it has been reaped.
    package func send(signal: CInt) throws(Errno) {
        try checked(space_pidfd_send_signal(raw, signal))
    }
}
