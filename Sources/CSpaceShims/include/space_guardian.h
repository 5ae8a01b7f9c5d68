// Programs that are killed with all of their descendants when the process that started them ends.

#ifndef SPACE_GUARDIAN_H
#define SPACE_GUARDIAN_H

#include <stdbool.h>
#include <stdint.h>

/// Starts a program, found as execvp(3) does, under a guardian: a process between this one and the program.
///
/// The program's standard input is the descriptor `input`. If `output` is not negative, it is the program's standard
/// output; it must not be one of the first three descriptors. The program has this process's process group, environment
/// and signal mask. A signal that this process handles has its default disposition in the program. A signal that this
/// process ignores stays ignored, unless its bit is set in `resetSignals` (1 << SIGPIPE, for example).
///
/// `mayStart`, if given, is called when all signals are blocked: if it returns 0, nothing is started, and the result is
/// -ECANCELED. From then until the program was started all signals are blocked in the calling thread. `*missed` are the
/// signals that became pending for this process meanwhile, before the program existed, as bits (1 << SIGINT): the
/// program has not got them, even if they went to the whole process group.
///
/// The caller closes the descriptor `news`. It becomes readable when the program has ended, or when the guardian was
/// killed. When the program has ended, the guardian waits for space_leave_guarded or space_sweep_guarded. It then exits
/// with the program's status, or with 128 plus the signal that ended the program. The guardian passes on the signals
/// that processes send to it.
///
/// When the calling thread ends, however it does, the guardian kills the program and all of its descendants, whatever
/// their process group or session. If the guardian is killed, the kernel kills the program; its descendants then become
/// children of a process above that has called space_adopt_orphans.
///
/// Returns the guardian's PID, or the error of fork(2) or of execve(2) in the child. After an error no process is left
/// to wait for.
int space_spawn_guarded(
    const char *_Nonnull file, char *_Nullable const *_Nonnull words, int input, int output,
    uint64_t resetSignals, int32_t (*_Nullable mayStart)(void), uint64_t *_Nonnull missed, int *_Nonnull news);

/// Makes a guardian send a signal to the program, if it has not ended. A signal that was sent to the whole process group
/// of this process reaches only a program that has left the group, because one in the group has got it already.
///
/// The signal is queued, so none is lost behind another of its number. If the user has no signal left to queue
/// (RLIMIT_SIGPENDING), one that was sent to this process alone is sent as it is, and one for a group is -EAGAIN.
int space_pass_on_guarded(int32_t guardian, int signal, bool isToGroup);

/// Makes a guardian, even a stopped one, kill the program and all of its descendants, and then end.
int space_end_guarded(int32_t guardian);

/// Makes the guardian end and leave the program's descendants alone. Before the program has ended, this does nothing.
int space_leave_guarded(int32_t guardian);

/// Makes the guardian kill the program's descendants and end. Before the program has ended, this does nothing.
int space_sweep_guarded(int32_t guardian);

/// Makes this process the parent of every descendant that loses its parent (prctl(2), PR_SET_CHILD_SUBREAPER).
int space_adopt_orphans(void);

/// Kills all children of this process, and the orphans that thereby become its children, and waits for them. Children
/// that it may not kill are left.
void space_end_children(void);

#endif
