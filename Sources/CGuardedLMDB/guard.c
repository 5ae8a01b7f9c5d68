// The marks, and the handlers that jump to them.
//
// Guarantees: Inside a guarded call, a failed assertion of liblmdb ends the call with GUARDED_DAMAGED, and so does a
// SIGSEGV or SIGBUS that the kernel raises for the thread's own access. Outside a guarded call, an access to a part of
// an environment's map that the file no longer backs reads zeros, and the environment is marked as damaged; Swift code
// checks that mark after such reads. Every other signal goes to the handler that was installed before, or has its
// default effect.
//
// The handlers run on the alternate stack if the thread has one (SA_ONSTACK). They block no signal (SA_NODEFER), so a
// jump out of them leaves the signal mask unchanged.
//
// A mark serves one jump. If the mark itself was overwritten, or if the jump back faults, the process dies of the
// signal: it does not handle the same fault forever.
//
// One risk remains: a damaged page can make liblmdb write past the end of a page in the heap (in a `guarded` or
// `durable` namespace), or into another page of the map (in a `fast` one), without a fault. Only a check of the whole
// file before it is opened could rule that out.

#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Thread_local struct guard_mark *volatile guard_current __attribute__((tls_model("initial-exec")));
struct guarded_environment guard_environments[GUARD_ENVIRONMENTS];

// A separate function, because __builtin_longjmp must not be in the same function as __builtin_setjmp.
static __attribute__((noreturn, noinline)) void jump_back(struct guard_mark *mark) { GUARD_JUMP(mark->buffer); }

/// Takes the thread's mark, so that it serves one jump: a fault during the jump finds no mark, and ends the process.
///
/// Returns NULL if there is no mark, or if the mark was overwritten together with the stack around it: a jump could
/// lead anywhere.
static struct guard_mark *take_mark(void) {
    struct guard_mark *mark = guard_current;
    guard_current = NULL;
    if (!mark) return NULL;
    // Stacks grow down: a mark lies in the frame that set it, and the earlier marks lie above.
    if (mark->previous && mark->previous <= mark) return NULL;
#ifndef GUARD_USES_LIBC
    // The compiler's buffer holds the frame pointer, the address and the stack pointer.
    enum { LARGEST_FRAME = 1 << 16 };
    uintptr_t place = (uintptr_t)mark, stack = (uintptr_t)mark->buffer[2];
    if (stack > place || place - stack > LARGEST_FRAME) return NULL;
#endif
    return mark;
}

static atomic_bool is_left_out;

void guarded_leave_out(void) { atomic_store(&is_left_out, true); }

void guard_assertion_failed(MDB_env *environment, const char *message) {
    (void)environment;
    (void)message;
    // If there is no mark, this function returns, and liblmdb prints the assertion and aborts.
    if (atomic_load(&is_left_out)) return;
    struct guard_mark *mark = take_mark();
    if (mark) jump_back(mark);
}

void guarded_fault_with_spoiled_mark(bool leads_back) {
    struct guard_mark mark;
    memset(&mark, 0x41, sizeof mark);
    if (leads_back) {
        mark.previous = NULL;
        memset(&mark.buffer, 0, sizeof mark.buffer);
#ifndef GUARD_USES_LIBC
        mark.buffer[2] = &mark;
#endif
    }
    guard_current = &mark;
    *(volatile char *)sizeof mark = 0;
}

static struct sigaction previous_segv, previous_bus;

/// Maps a page of zeros at an address of an environment's map; false if the address is in no map.
static bool patch_map(uintptr_t address) {
    for (int i = 0; i < GUARD_ENVIRONMENTS; i++) {
        struct guarded_environment *guard = &guard_environments[i];
        uintptr_t map = atomic_load_explicit(&guard->map, memory_order_acquire);
        if (map == 0 || address < map || address - map >= atomic_load_explicit(&guard->map_size, memory_order_relaxed)) continue;
        // sysconf(3) is safe in a signal handler here: in glibc it reads a variable.
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        void *start = (void *)(address & ~(page - 1));
        guarded_mark_damaged(guard);
        return mmap(start, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == start;
    }
    return false;
}

static void pass_on(int number, siginfo_t *information, void *context) {
    const struct sigaction *previous = number == SIGBUS ? &previous_bus : &previous_segv;
    if (previous->sa_flags & SA_SIGINFO) return previous->sa_sigaction(number, information, context);
    if (previous->sa_handler == SIG_IGN && information->si_code <= 0) return;
    if (previous->sa_handler != SIG_IGN && previous->sa_handler != SIG_DFL) return previous->sa_handler(number);
    signal(number, SIG_DFL);
    // A fault occurs again when the handler returns; a signal that a process sent has to be raised again.
    if (information->si_code <= 0) raise(number);
}

static void fault(int number, siginfo_t *information, void *context) {
    int error = errno;
    // sigaction(2): si_code is above 0 if the kernel raised the signal, instead of kill(2).
    if (information->si_code > 0 && !atomic_load(&is_left_out)) {
        bool is_guarded = guard_current != NULL;
        struct guard_mark *mark = take_mark();
        if (mark) jump_back(mark);
        if (!is_guarded && patch_map((uintptr_t)information->si_addr)) {
            errno = error;
            return;
        }
    }
    pass_on(number, information, context);
    errno = error;
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, &previous_segv);
    sigaction(SIGBUS, &action, &previous_bus);
}

void guard_install_handlers(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
}
