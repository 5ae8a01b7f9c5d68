// Gives a program a wall clock that is wrong, and that steps: a library for LD_PRELOAD, which tools/torture compiles.
//
// The file that $SPACE_WRONG_CLOCK names holds how many seconds the clock is ahead, as a 64-bit number that may change at
// any time. Only the wall clock is wrong: the time since boot is that of the machine. The machine's own clock is never
// set. Waits for an absolute wall time, which the kernel compares with its own clock, are not changed; the library and
// Swift's runtime make none.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile const int64_t *ahead;

// Takes another file; a process that was forked calls this.
void space_use_wrong_clock(const char *path) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *memory = mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (memory != MAP_FAILED) ahead = memory;
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SPACE_WRONG_CLOCK");
    if (path) space_use_wrong_clock(path);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    long result = syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && ahead && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *ahead;
    return (int)result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    time->tv_sec = now.tv_sec;
    time->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *place) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (place) *place = now.tv_sec;
    return now.tv_sec;
}
