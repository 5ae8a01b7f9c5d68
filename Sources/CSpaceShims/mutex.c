#define _GNU_SOURCE
#include "space_mutex.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef __GLIBC__
#error "pthread_mutex_clocklock(3) and the mutex's layout are glibc's; another libc needs its own number and proof"
#endif

size_t space_mutex_size(void) { return sizeof(pthread_mutex_t); }
size_t space_mutex_alignment(void) { return _Alignof(pthread_mutex_t); }
uint32_t space_mutex_library(void) { return 1; }

int space_mutex_initialise(void *mutex) {
    pthread_mutexattr_t attributes;
    int error = pthread_mutexattr_init(&attributes);
    if (error) return -error;
    error = pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    // pthread_mutexattr_setrobust(3): if a holder dies, the next thread that locks learns of it instead of waiting
    // forever.
    if (!error) error = pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    // Error-checking: locking twice in one thread gives EDEADLK, unlocking another thread's mutex EPERM.
    if (!error) error = pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    if (!error) error = pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return -error;
}

int space_mutex_trylock(void *mutex) {
    // Not pthread_mutex_trylock(3): if the mutex is not recoverable, the one of glibc 2.36 leaves it locked, and the
    // calling thread doesn't know that it holds it. A deadline in the past tries once too, and a negative one makes no
    // system call.
    struct timespec past = {.tv_sec = -1, .tv_nsec = 0};
    return -pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &past);
}

int space_mutex_lock_until(void *mutex, int64_t deadline) {
    if (deadline < 0) deadline = 0;
    struct timespec limit = {.tv_sec = deadline / 1000000000, .tv_nsec = deadline % 1000000000};
    return -pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, &limit);
}

int32_t space_mutex_owner(const void *mutex) {
    // The kernel's robust-futex-ABI: the futex word holds the owner's thread id and two flags.
    const pthread_mutex_t *lock = mutex;
    return __atomic_load_n(&lock->__data.__lock, __ATOMIC_SEQ_CST) & FUTEX_TID_MASK;
}

int space_mutex_abandon(void *mutex, int32_t thread) {
    pthread_mutex_t *lock = mutex;
    int *word = &lock->__data.__lock;
    int seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    do {
        if ((seen & FUTEX_TID_MASK) != thread || (seen & FUTEX_OWNER_DIED)) return 0;
        // Like handle_futex_death() in the kernel, this keeps the bit for waiters, so that the next unlock wakes them.
    } while (!__atomic_compare_exchange_n(word, &seen, (int)((seen & FUTEX_WAITERS) | FUTEX_OWNER_DIED), 0,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    if (seen & FUTEX_WAITERS) syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
    return 1;
}

int space_mutex_is_robust_shared(const void *mutex) {
    // glibc, nptl/pthreadP.h: PTHREAD_MUTEX_ROBUST_NORMAL_NP and PTHREAD_MUTEX_PSHARED_BIT.
    return ((const pthread_mutex_t *)mutex)->__data.__kind == (16 | 128);
}

int space_mutex_mark_consistent(void *mutex) { return -pthread_mutex_consistent(mutex); }
int space_mutex_unlock(void *mutex) { return -pthread_mutex_unlock(mutex); }
