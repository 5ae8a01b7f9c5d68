// Processes: pidfds, fork detection, parent-death signal, limits. pidfd_open(2) and prctl(2) are variadic or without a
// wrapper in older C libraries; RLIMIT_* are enumerators of a type Swift can't pass.
// Every function that can fail returns a negated error number.

#ifndef SPACE_PROCESSES_H
#define SPACE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

/// After -ENOSYS: the system call that this thread was refused, by the kernel or by a seccomp filter.
const char *_Nonnull space_refused_call(void);

/// A close-on-exec descriptor of process `pid` (pidfd_open(2) sets the flag itself).
int space_pidfd_open(int32_t pid);
int space_pidfd_send_signal(int pidfd, int signal);

/// 1: the process that the pidfd stands for has exited, all its threads included; 0: it has not.
int space_pidfd_has_exited(int pidfd);

/// kill(2) with signal 0: -ESRCH proves that nothing bears this number.
int space_probe_process(int32_t pid);

int32_t space_thread_id(void);

/// Asks for `signal` when the parent dies (PR_SET_PDEATHSIG), and returns -ESRCH if the parent is no longer
/// `expectedParent`: it may have died before the request, and then no signal comes.
int space_die_with_parent(int signal, int32_t expectedParent);

/// How many processors this thread may run on, at least 1.
int space_usable_processors(void);

enum space_limit {
    SPACE_LIMIT_FILE_SIZE,
    SPACE_LIMIT_OPEN_FILES,
    SPACE_LIMIT_ADDRESS_SPACE,
};
/// The soft limit; `*value` is UINT64_MAX for none.
int space_limit(enum space_limit which, uint64_t *_Nonnull value);

// Fork detection.
//
// A page marked MADV_WIPEONFORK reads as zeros in a child (madvise(2)), however it was forked: pthread_atfork(3)
// handlers alone miss _Fork(3) and a bare clone(2). A zero there means "not counted in this process yet".

extern uint32_t *_Nonnull space_fork_word;
uint32_t space_fork_count_again(void);

/// A number that differs between a process and every process forked from it. Costs two loads, no system call.
static inline uint32_t space_fork_generation(void) {
    uint32_t generation = __atomic_load_n(space_fork_word, __ATOMIC_ACQUIRE);
    return __builtin_expect(generation != 0, 1) ? generation : space_fork_count_again();
}

#endif
