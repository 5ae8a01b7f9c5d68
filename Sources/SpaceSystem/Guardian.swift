import CSpaceShims
package import SystemPackage

/// A program that runs under a guardian: a process between this one and the program, which ends it with all that it has started
/// when the thread that started it ends, however this process does.
///
/// The guardian stands for the program: its PID is waited for, and it passes on the signals that are sent to it. When the
/// program has ended it asks what is to become of the processes that the program has left. `space_guardian.h` says who may be
/// killed, and what remains then.
package enum Guardian {
    /// A program that was started.
    package struct Program: ~Copyable, Sendable {
        /// The guardian's PID.
        package let guardian: Int32
        /// For poll: readable once the program has ended, or its guardian was killed.
        package let news: OwnedDescriptor
    }

    /// Starts a program.
    ///
    /// The calling thread must live as long as the program is meant to. What gains privileges (set-user-ID programs) may not be
    /// killed by the guardian. fork(2) is in the shim: the child calls nothing but what signal-safety(7) lists.
    ///
    /// - Parameters:
    ///   - file: the program, looked for as execvp(3) does.
    ///   - words: its words, ended by a null pointer.
    ///   - input: what it reads as its standard input.
    ///   - output: what it writes its standard output to, none of the first three descriptors; nil: to this process's.
    ///   - signals: those that get their usual meaning back where this process ignores them.
    /// - Returns: the program, whose guardian is answered once it has ended (`leave`, `sweep`), and waited for.
    /// - Throws: what fork(2) or execve(2) said.
    package static func spawn(
        _ file: UnsafePointer<CChar>,
        _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        input: CInt,
        output: CInt? = nil,
        resetting signals: [CInt]
    ) throws(Errno) -> Program {
        var news: CInt = -1
        let mask = signals.reduce(0 as UInt64) { $0 | 1 << UInt64($1) }
        let guardian = try checked(space_spawn_guarded(file, words, input, output ?? -1, mask, &news))
        return Program(guardian: guardian, news: OwnedDescriptor(adopting: news))
    }

    /// Has a program killed, with all that it has started.
    ///
    /// The caller has not waited for the guardian yet, so the number is still the guardian's own.
    package static func end(_ guardian: Int32) { _ = space_end_guarded(guardian) }

    /// Leaves the processes that a program has left alone; the program has ended.
    package static func leave(_ guardian: Int32) { _ = space_leave_guarded(guardian) }

    /// Has the processes that a program has left killed; the program has ended.
    package static func sweep(_ guardian: Int32) { _ = space_sweep_guarded(guardian) }

    /// Makes this process the parent of orphans among its descendants, so that they can be ended where a guardian was killed.
    ///
    /// For a process that starts no other children than guardians.
    package static func adoptOrphans() { _ = space_adopt_orphans() }

    /// Kills all children of this process, and what becomes its children then, and waits for them.
    package static func endChildren() { space_end_children() }
}
