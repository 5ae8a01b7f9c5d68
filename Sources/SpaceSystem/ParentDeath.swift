import CSpaceShims
package import SystemPackage

/// A signal that the kernel sends to this process when its parent dies.
package enum ParentDeath {
    /// Asks the kernel for `signal` at the parent's death; the request survives exec, but not fork.
    ///
    /// prctl(2), PR_SET_PDEATHSIG: "the parent" is the *thread* that created this process. So start the child on a
    /// thread that lives as long as the child should.
    ///
    /// - Parameters:
    ///   - signal: the signal, for example `SIGKILL`.
    ///   - parent: the parent's PID at the time when it started this process.
    /// - Throws: `ESRCH` if the parent has already died: no signal will come then, so the caller ends its process
    ///   itself.
    package static func arm(signal: CInt, parent: Int32) throws(Errno) {
        try checked(space_die_with_parent(signal, parent))
    }
}
