public import CSpaceShims

// This type is public so that the compiler inlines it, as SharedWord.swift explains.

/// Distinguishes a process from the children forked from it, which must not use the resources that they inherited.
public enum ForkGuard {
    /// A number that differs in every child forked from this process.
    ///
    /// Keep the number beside an opened resource, and compare it at each use. Unlike `getpid()`, whose number may also
    /// be reused, it needs no system call. The detection is registered when the program is loaded. A child of `vfork`
    /// shares its parent's memory and number until it calls exec; it may do nothing else anyway.
    @inlinable
    public static var generation: UInt32 { space_fork_generation() }
}
