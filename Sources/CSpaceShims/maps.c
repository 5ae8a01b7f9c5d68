#define _GNU_SOURCE
#include "space_maps.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

// A handler can't take a lock, so the maps stand in a table of atomic words. A map is found by its address; the size is
// stored before the address.
enum { MOST = 8192 };
static struct watched {
    _Atomic uintptr_t start;
    _Atomic size_t size;
    uint32_t is_cut;
} maps[MOST];
static atomic_size_t used;

static struct sigaction previous;

/// Replaces the page at an address by zeros; false if the address is in no watched map.
static bool replace(uintptr_t address) {
    size_t count = atomic_load(&used);
    for (size_t i = 0; i < count; i++) {
        uintptr_t start = atomic_load_explicit(&maps[i].start, memory_order_acquire);
        if (start <= 1 || address < start || address - start >= atomic_load_explicit(&maps[i].size, memory_order_relaxed)) continue;
        // sysconf(3) is safe in a signal handler here: in glibc it reads a variable.
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        void *place = (void *)(address & ~(page - 1));
        __atomic_store_n(&maps[i].is_cut, 1, __ATOMIC_RELAXED);
        return mmap(place, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == place;
    }
    return false;
}

static void fault(int number, siginfo_t *information, void *context) {
    int error = errno;
    // sigaction(2): si_code is above 0 if the kernel raised the signal, instead of kill(2).
    if (information->si_code > 0 && replace((uintptr_t)information->si_addr)) {
        errno = error;
        return;
    }
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(number, information, context);
    if (previous.sa_handler == SIG_IGN && information->si_code <= 0) return;
    if (previous.sa_handler != SIG_IGN && previous.sa_handler != SIG_DFL) return previous.sa_handler(number);
    signal(number, SIG_DFL);
    // A fault occurs again when the handler returns; a signal that a process sent has to be raised again.
    if (information->si_code <= 0) raise(number);
    errno = error;
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous);
}

uint32_t *space_map_watch(const void *start, size_t size) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
    for (size_t i = 0; i < MOST; i++) {
        // 1: the place is being filled.
        uintptr_t nothing = 0;
        if (!atomic_compare_exchange_strong(&maps[i].start, &nothing, 1)) continue;
        size_t count = atomic_load(&used);
        while (count <= i && !atomic_compare_exchange_weak(&used, &count, i + 1)) {}
        __atomic_store_n(&maps[i].is_cut, 0, __ATOMIC_RELAXED);
        atomic_store_explicit(&maps[i].size, size, memory_order_relaxed);
        atomic_store_explicit(&maps[i].start, (uintptr_t)start, memory_order_release);
        return &maps[i].is_cut;
    }
    return NULL;
}

void space_map_unwatch(const void *start) {
    size_t count = atomic_load(&used);
    for (size_t i = 0; i < count; i++) {
        if (atomic_load_explicit(&maps[i].start, memory_order_relaxed) != (uintptr_t)start) continue;
        atomic_store_explicit(&maps[i].start, 0, memory_order_release);
        return;
    }
}
