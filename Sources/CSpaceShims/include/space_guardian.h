// A program that ends with all that it has started, when the process that started it ends.

#ifndef SPACE_GUARDIAN_H
#define SPACE_GUARDIAN_H

#include <stdint.h>

/// Starts a program, found as execvp(3) does, under a guardian: a process between this one and the program.
///
/// The program gets the descriptor `input` as its standard input, and unless negative `output`, which is none of the first
/// three, as its standard output, this process's process group, environment and signal mask, and default dispositions
/// for the signals that are handled here; those that are ignored stay ignored, but for those whose bit is set in
/// `resetSignals` (1 << SIGPIPE, say).
///
/// When the program has ended, `news`, a descriptor that the caller closes, can be read. The guardian then waits for
/// space_leave_guarded or space_sweep_guarded, and ends with the program's status, or 128 and the signal that ended it. `news` can be
/// read too when the guardian was killed. The guardian passes on the signals that processes send it. When the calling thread ends, however this process does, the guardian kills the program
/// and all of its descendants, in whatever process group or session. If the guardian is killed, the kernel kills the
/// program; a process that has called space_adopt_orphans then has its descendants as children.
///
/// Returns the guardian's PID, or the error of fork(2) or of execve(2) in the child, and then all has been waited for.
int space_spawn_guarded(
    const char *_Nonnull file, char *_Nullable const *_Nonnull words, int input, int output,
    uint64_t resetSignals, int *_Nonnull news);

/// Has a guardian kill the program and all of its descendants, and then end. Also one that is stopped.
int space_end_guarded(int32_t guardian);

/// Has the guardian of a program that has ended leave the program's descendants alone, and end. Before, it does nothing.
int space_leave_guarded(int32_t guardian);

/// Has the guardian of a program that has ended kill the program's descendants, and then end. Before, it does nothing.
int space_sweep_guarded(int32_t guardian);

/// Makes this process the parent of its descendants' orphans (prctl(2), PR_SET_CHILD_SUBREAPER).
int space_adopt_orphans(void);

/// Kills all children of this process, and the orphans that become its children then, and waits for them. Those that it may
/// not kill are left.
void space_end_children(void);

#endif
