import CSpaceShims
package import SystemPackage

/// Programs that run under a guardian: a process between this process and the program.
///
/// When the thread that started the program ends, however this process does, the guardian kills the program and all of
/// its descendants. The guardian stands for the program: this process waits for the guardian's PID, and the guardian
/// passes on the signals that are sent to it. When the program has ended, the guardian asks what becomes of the
/// program's remaining descendants. `space_guardian.h` tells what remains if the guardian or this process is killed.
package enum Guardian {
    /// The name of guardians in `/proc`, as `guardian.c` sets it.
    static let commandName = "space-guardian"

    /// A running program.
    package struct Program: ~Copyable, Sendable {
        /// The guardian's PID.
        package let guardian: Int32
        /// The signals that this process got before the program existed, while it was being started, as bits
        /// (`1 << SIGINT`): the program has not got them, even if they went to the whole process group.
        package let missedSignals: UInt64
        /// A descriptor for poll: readable once the program has ended, or its guardian was killed.
        package let news: OwnedDescriptor
    }

    /// Starts a program.
    ///
    /// The calling thread must live as long as the program is meant to. The guardian may not kill a program that gains
    /// privileges (set-user-ID). The shim calls fork(2), because the child may call only the functions that
    /// signal-safety(7) lists.
    ///
    /// - Parameters:
    ///   - file: the program, looked for as execvp(3) does.
    ///   - words: its words, ended by a null pointer.
    ///   - input: the descriptor of its standard input.
    ///   - output: the descriptor of its standard output, not one of the first three; `nil` for this process's standard
    ///     output.
    ///   - signals: signals that get their default disposition in the program even if this process ignores them.
    ///   - mayStart: called when all signals are blocked in this thread; if it returns 0, nothing is started.
    /// - Returns: the program. Once it has ended, answer its guardian (`leave` or `sweep`), and wait for the guardian.
    /// - Throws: the error of fork(2) or execve(2); `canceled` if `mayStart` has returned 0.
    package static func spawn(
        _ file: UnsafePointer<CChar>,
        _ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>,
        input: CInt,
        output: CInt? = nil,
        resetting signals: [CInt],
        mayStart: (@convention(c) () -> Int32)? = nil
    ) throws(Errno) -> Program {
        var news: CInt = -1
        var missed: UInt64 = 0
        let mask = signals.reduce(0 as UInt64) { $0 | 1 << UInt64($1) }
        let guardian = try checked(
            space_spawn_guarded(file, words, input, output ?? -1, mask, mayStart, &missed, &news)
        )
        return Program(guardian: guardian, missedSignals: missed, news: OwnedDescriptor(adopting: news))
    }

    /// Makes the guardian send a signal to the program, if it has not ended.
    ///
    /// A signal that was sent to the whole process group of this process reaches only a program that has left the
    /// group, because one in the group has got it already.
    package static func passOn(_ signal: CInt, to guardian: Int32, isToGroup: Bool) {
        _ = space_pass_on_guarded(guardian, signal, isToGroup)
    }

    /// Makes the guardian kill the program with all of its descendants.
    ///
    /// The caller has not waited for the guardian yet, so the PID still belongs to the guardian.
    package static func end(_ guardian: Int32) { _ = space_end_guarded(guardian) }

    /// Makes the guardian spare the remaining descendants of a program that has ended.
    package static func leave(_ guardian: Int32) { _ = space_leave_guarded(guardian) }

    /// Makes the guardian kill the remaining descendants of a program that has ended.
    package static func sweep(_ guardian: Int32) { _ = space_sweep_guarded(guardian) }

    /// Makes this process the parent of every descendant that loses its parent, so that it can kill them if a guardian
    /// is killed.
    ///
    /// It is for a process whose only children are guardians.
    package static func adoptOrphans() { _ = space_adopt_orphans() }

    /// Kills all children of this process, and the orphans that thereby become its children, and waits for them.
    package static func endChildren() { space_end_children() }
}
