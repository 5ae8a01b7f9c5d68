public import CSpaceShims

// Public for the sake of inlining, as SharedWord.swift explains.

/// Tells a process from the children forked from it, who must not use what they inherited.
public enum ForkGuard {
    /// A number that is another one in every child forked from this process.
    ///
    /// Keep it beside what was opened and compare it at each use: no system call, unlike `getpid()`, whose number may
    /// also come again. Registered when the program is loaded. A child of `vfork` shares its parent's memory and
    /// number until it calls exec, and may do nothing else anyway.
    @inlinable
    public static var generation: UInt32 { space_fork_generation() }
}
