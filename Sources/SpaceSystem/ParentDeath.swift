import CSpaceShims
package import SystemPackage

/// A signal that the kernel sends to this process when its parent dies.
package enum ParentDeath {
    /// Asks for `signal` at the parent's death; survives exec, but not fork.
    ///
    /// prctl(2), PR_SET_PDEATHSIG: "the parent" is the *thread* that created this process. Start the child from a thread
    /// that lives as long as the signal is meant to wait.
    ///
    /// - Parameters:
    ///   - signal: the signal, `SIGKILL` for instance.
    ///   - parent: the parent's PID as it was known when this process was started.
    /// - Throws: `ESRCH` when the parent has died already: then no signal will come, and the caller ends itself.
    package static func arm(signal: CInt, parent: Int32) throws(Errno) {
        try checked(space_die_with_parent(signal, parent))
    }
}
