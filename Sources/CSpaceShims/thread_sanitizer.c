// Tells the thread sanitizer how a contended mutex passes from thread to thread; compiled only under the thread
// sanitizer.
//
// Swift's Synchronization.Mutex takes and releases a free lock with atomic operations in the caller, which the
// sanitizer sees. For a contended lock it spins, and lets the kernel pass the lock on (futex(2), FUTEX_LOCK_PI), in a
// library that is not instrumented. The sanitizer then reports races on the data that the lock protects. So this file
// replaces the library's three functions for contended locks
// (swift/stdlib/public/Synchronization/Mutex/LinuxImpl.swift): each calls the original, and tells the sanitizer that
// the lock was taken or released (sanitizer/tsan_interface.h).

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define SWIFT_METHOD __attribute__((swiftcall))
// Several threads may write a function's static variable, but always the same value, so the sanitizer ignores it.
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
