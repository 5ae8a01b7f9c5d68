// Only under the thread sanitizer: shows it how the kernel hands a lock on.
//
// A contended Synchronization.Mutex of Swift is let go and taken by futex(2), FUTEX_UNLOCK_PI and FUTEX_LOCK_PI, from a library
// that is not instrumented. The sanitizer sees neither, and takes what the lock protects for a race. So the calls
// of syscall(3) pass through here, which says so (sanitizer/tsan_interface.h).

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)

#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/futex.h>
#include <stdarg.h>
#include <sys/syscall.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

__attribute__((no_sanitize("thread"))) long syscall(long number, ...) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    va_list list;
    va_start(list, number);
    long words[6];
    for (int index = 0; index < 6; index++) words[index] = va_arg(list, long);
    va_end(list);
    int operation = number == SYS_futex ? (int)words[1] & FUTEX_CMD_MASK : -1;
    if (operation == FUTEX_UNLOCK_PI) __tsan_release((void *)words[0]);
    long result = next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
    if (result == 0 && (operation == FUTEX_LOCK_PI || operation == FUTEX_TRYLOCK_PI)) __tsan_acquire((void *)words[0]);
    return result;
}

#endif
#endif
