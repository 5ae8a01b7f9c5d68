// Processes: pidfds, fork detection, parent-death signal, limits. They are here because prctl(2) is variadic, older C
// libraries have no wrapper for pidfd_open(2), and RLIMIT_* are enumerators of a type that Swift can't pass. Every
// function that can fail returns a negated error number.

#ifndef SPACE_PROCESSES_H
#define SPACE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

/// After -ENOSYS: the system call that the kernel or a seccomp filter refused to this thread.
const char *_Nonnull space_refused_call(void);

/// Opens a descriptor of process `pid`; pidfd_open(2) itself sets close-on-exec.
int space_pidfd_open(int32_t pid);

/// Returns 1 if the process that the pidfd refers to has exited, with all its threads, and 0 if not.
int space_pidfd_has_exited(int pidfd);

/// kill(2) with signal 0: -ESRCH proves that no process or thread has this number.
int space_probe_process(int32_t pid);

int32_t space_thread_id(void);

/// Asks the kernel to send `signal` to this process when the parent dies (PR_SET_PDEATHSIG). Returns -ESRCH if the
/// parent is no longer `expectedParent`: it may have died before the request, so that no signal comes.
int space_die_with_parent(int signal, int32_t expectedParent);

enum space_limit {
    SPACE_LIMIT_FILE_SIZE,
    SPACE_LIMIT_OPEN_FILES,
    SPACE_LIMIT_ADDRESS_SPACE,
};
/// Reads the soft limit; `*value` is UINT64_MAX if there is none.
int space_limit(enum space_limit which, uint64_t *_Nonnull value);

/// Raises the soft limit of open files to the hard one, or to `most` if that is less; it stays as it is if it can't be raised.
void space_raise_open_files(uint64_t most);

// Fork detection.
//
// A page marked MADV_WIPEONFORK reads as zeros in a child (madvise(2)), whatever call forked it; pthread_atfork(3)
// handlers alone would miss _Fork(3) and a bare clone(2). A zero there means "not counted in this process yet".

extern uint32_t *_Nonnull space_fork_word;
uint32_t space_fork_count_again(void);

/// A number that differs between a process and every process forked from it. It costs two loads and no system call.
static inline uint32_t space_fork_generation(void) {
    uint32_t generation = __atomic_load_n(space_fork_word, __ATOMIC_ACQUIRE);
    return __builtin_expect(generation != 0, 1) ? generation : space_fork_count_again();
}

#endif
