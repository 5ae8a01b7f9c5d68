#define _GNU_SOURCE
#include "space_futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "result.h"

_Static_assert(sizeof(time_t) == 8, "futex(2) and nanoseconds since boot need 64-bit time");

static struct timespec from_nanoseconds(int64_t nanoseconds) {
    if (nanoseconds < 0) nanoseconds = 0;
    return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

int space_futex_wait(const uint32_t *word, uint32_t expected, int64_t nanoseconds) {
    struct timespec limit = from_nanoseconds(nanoseconds);
    return space_result(
        syscall(SYS_futex, word, FUTEX_WAIT, expected, nanoseconds < 0 ? NULL : &limit, NULL, 0));
}

int space_futex_wait_until(const uint32_t *word, uint32_t expected, int64_t deadline) {
    // futex(2): FUTEX_WAIT's time-out is relative, FUTEX_WAIT_BITSET's absolute; both on CLOCK_MONOTONIC.
    struct timespec limit = from_nanoseconds(deadline);
    return space_result(
        syscall(SYS_futex, word, FUTEX_WAIT_BITSET, expected, &limit, NULL, FUTEX_BITSET_MATCH_ANY));
}

int space_futex_wake(uint32_t *word, int count) {
    return space_result(syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0));
}
