// Only under the thread sanitizer: shows it how a contended mutex goes from thread to thread.
//
// Swift's Synchronization.Mutex takes and lets go a free lock with atomic operations in the caller, which the sanitizer sees. A
// contended one it spins for, and has the kernel hand on (futex(2), FUTEX_LOCK_PI), in a library that is not
// instrumented; what the lock protects is then taken for a race. So the library's three functions for that pass through
// here (swift/stdlib/public/Synchronization/Mutex/LinuxImpl.swift), which says so (sanitizer/tsan_interface.h).

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT_METHOD __attribute__((swiftcall))
// Their own variables are written with what is always the same.
#define UNSEEN __attribute__((no_sanitize("thread")))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

SWIFT_METHOD void space_mutex_lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT_METHOD bool space_mutex_try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT_METHOD void space_mutex_unlock_slow(SELF) __asm__(UNLOCK);

UNSEEN SWIFT_METHOD void space_mutex_lock_slow(uint32_t thread, SELF) {
    static SWIFT_METHOD void (*next)(uint32_t, SELF);
    if (!next) next = dlsym(RTLD_NEXT, LOCK);
    next(thread, self);
    __tsan_acquire(self);
}

UNSEEN SWIFT_METHOD bool space_mutex_try_lock_slow(SELF) {
    static SWIFT_METHOD bool (*next)(SELF);
    if (!next) next = dlsym(RTLD_NEXT, TRY_LOCK);
    bool is_locked = next(self);
    if (is_locked) __tsan_acquire(self);
    return is_locked;
}

UNSEEN SWIFT_METHOD void space_mutex_unlock_slow(SELF) {
    static SWIFT_METHOD void (*next)(SELF);
    if (!next) next = dlsym(RTLD_NEXT, UNLOCK);
    __tsan_release(self);
    next(self);
}

#endif
#endif
