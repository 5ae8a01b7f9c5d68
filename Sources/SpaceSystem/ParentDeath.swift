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

    /// Starts a program that the kernel kills when the calling thread ends, however this process does.
    ///
    /// What the program starts in its turn is not killed with it; nor is one that gains privileges, for execve(2) takes the
    /// request from set-user-ID programs. fork(2) is in the shim: the child calls nothing but what signal-safety(7) lists.
    ///
    /// - Parameters:
    ///   - file: the program, looked for as execvp(3) does.
    ///   - words: its words, ended by a null pointer.
    ///   - input: what it reads as its standard input.
    ///   - output: where its standard output goes; nil: where this process's does. Above 2 and close-on-exec.
    ///   - resetsBrokenPipe: whether SIGPIPE, which this process ignores, gets its usual meaning back.
    /// - Returns: its PID.
    /// - Throws: what fork(2) or execve(2) said.
    package static func spawn(
        _ file: UnsafePointer<CChar>,
        _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        input: CInt,
        output: CInt? = nil,
        resetsBrokenPipe: Bool
    ) throws(Errno) -> Int32 {
        try checked(space_spawn_bound(file, words, input, output ?? -1, resetsBrokenPipe))
    }
}
