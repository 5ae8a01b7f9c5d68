#define _GNU_SOURCE
#include "space_processes.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "result.h"
#include "space_atomics.h"

_Thread_local const char *space_refused_name;

const char *space_refused_call(void) { return space_refused_name ? space_refused_name : "a system call"; }

int space_pidfd_open(int32_t pid) {
    return space_optional("pidfd_open", space_result(syscall(SYS_pidfd_open, pid, 0)));
}

int space_pidfd_has_exited(int pidfd) {
    // pidfd_open(2): a pidfd is readable once the process has terminated, but not while any of its threads lives.
    struct pollfd request = {.fd = pidfd, .events = POLLIN};
    int result = space_result(SPACE_RETRYING(poll(&request, 1, 0)));
    if (result < 0) return result;
    if (request.revents & POLLNVAL) return -EBADF;
    return (request.revents & POLLIN) != 0;
}

int space_probe_process(int32_t pid) { return space_result(kill(pid, 0)); }

int32_t space_thread_id(void) { return (int32_t)syscall(SYS_gettid); }

int space_die_with_parent(int signal, int32_t expectedParent) {
    int result = space_optional("prctl", space_result(prctl(PR_SET_PDEATHSIG, (unsigned long)signal, 0, 0, 0)));
    if (result < 0) return result;
    return getppid() == expectedParent ? 0 : -ESRCH;
}

bool space_processor_is_at_hand;

__attribute__((constructor)) static void look_for_processor(void) {
    // glibc 2.35 and later: the size of the thread's memory in which the kernel keeps the processor's number (rseq(2)); 0 if
    // there is none. It is looked up, because a reference, also a weak one, would bind the C library to glibc 2.35.
    const unsigned int *size = dlsym(RTLD_DEFAULT, "__rseq_size");
    space_processor_is_at_hand = size != NULL && *size > 0;
#ifdef __x86_64__
    // Without that memory sched_getcpu(3) asks the vDSO, which has a function for it on this architecture.
    if (getauxval(AT_SYSINFO_EHDR)) space_processor_is_at_hand = true;
#endif
}

int space_limit(enum space_limit which, uint64_t *value) {
    struct rlimit limit;
    int result;
    switch (which) {
    case SPACE_LIMIT_FILE_SIZE: result = space_result(getrlimit(RLIMIT_FSIZE, &limit)); break;
    case SPACE_LIMIT_OPEN_FILES: result = space_result(getrlimit(RLIMIT_NOFILE, &limit)); break;
    case SPACE_LIMIT_ADDRESS_SPACE: result = space_result(getrlimit(RLIMIT_AS, &limit)); break;
    default: return -EINVAL;
    }
    if (result < 0) return result;
    *value = limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : (uint64_t)limit.rlim_cur;
    return 0;
}

void space_raise_open_files(uint64_t most) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
    rlim_t raised = limit.rlim_max < most ? limit.rlim_max : most;
    if (limit.rlim_cur >= raised) return;
    limit.rlim_cur = raised;
    setrlimit(RLIMIT_NOFILE, &limit);
}

// If the page can't be mapped, this word and the atfork handler are used instead.
static uint32_t fallback_word = 1;
uint32_t *space_fork_word = &fallback_word;

// fork(2) copies this counter like any memory, so a child goes on counting from its parent's number.
static uint32_t generations = 1;

uint32_t space_fork_count_again(void) {
    // The number is taken before it is published: if a third thread forks in between, its child can't get the same
    // number.
    uint32_t next = __atomic_add_fetch(&generations, 1, __ATOMIC_SEQ_CST);
    if (next == 0) next = __atomic_add_fetch(&generations, 1, __ATOMIC_SEQ_CST);
    uint32_t current = 0;
    if (__atomic_compare_exchange_n(space_fork_word, &current, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return next;
    return current; // another thread of this child was first
}

static void forget_generation(void) { __atomic_store_n(space_fork_word, 0, __ATOMIC_SEQ_CST); }

__attribute__((constructor)) static void register_fork_detection(void) {
    long size = sysconf(_SC_PAGESIZE);
    if (size > 0) {
        void *page =
            mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED) {
            if (madvise(page, (size_t)size, MADV_WIPEONFORK) == 0) {
                *(uint32_t *)page = generations;
                space_fork_word = page;
            } else {
                munmap(page, (size_t)size);
            }
        }
    }
    pthread_atfork(NULL, NULL, forget_generation);
}
