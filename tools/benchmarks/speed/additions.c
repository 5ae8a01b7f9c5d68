// How fast each processor is at the moment: nanoseconds an addition, in a chain in which each needs the one before.
//
//   additions      prints a line for each processor that it may run on, up to 8
//
// It uses no memory. A processor's time counts, and not the clock's, so that what other processes take of it is left out:
// what shows is the processor's own pace, and what a neighbour on the same core costs.

#include "../bench.h"
#include <sched.h>

enum { PARTS = 15, ADDITIONS = 1000000, PROCESSORS = 8 };

static double time_of_thread(void) {
    struct timespec time;
    MUST(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double part(void) {
    uint64_t sum = 0;
    double start = time_of_thread();
    for (int i = 0; i < ADDITIONS; i += 10) {
#pragma GCC unroll 10
        // The compiler can't know the sum, so it adds one after the other.
        for (int j = 0; j < 10; j++) {
            sum += 3;
            __asm__ volatile("" : "+r"(sum));
        }
    }
    double time = time_of_thread() - start;
    MUST(sum == 3ull * ADDITIONS);
    return time / ADDITIONS;
}

int main(void) {
    cpu_set_t allowed, one;
    MUST(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    int done = 0;
    for (int processor = 0; processor < CPU_SETSIZE && done < PROCESSORS; processor++) {
        if (!CPU_ISSET(processor, &allowed)) continue;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        MUST(sched_setaffinity(0, sizeof one, &one) == 0);
        double parts[PARTS];
        for (int i = 0; i < PARTS; i++) parts[i] = part();
        qsort(parts, PARTS, sizeof *parts, compare_doubles);
        printf("processor %d %.4f\n", processor, parts[PARTS / 2]);
        done++;
    }
    MUST(done > 0);
    return 0;
}
