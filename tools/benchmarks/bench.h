// Shared by the C programs of the benchmarks: time, percentiles, processes that start together, memory between them.
//
// Every program prints lines of a name and nanoseconds, and stops at any error: readers would believe a number that was
// measured past an error.

#ifndef BENCH_H
#define BENCH_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static inline _Noreturn void fail(const char *what) {
    fprintf(stderr, "%s: %s\n", what, errno ? strerror(errno) : "failed");
    exit(70);
}

#define MUST(condition) \
    do { \
        if (!(condition)) fail(#condition); \
    } while (0)

static inline uint64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static int compare_doubles(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static inline void tell(const char *name, double nanoseconds) {
    printf("%s %.1f\n", name, nanoseconds);
    fflush(stdout);
}

// MARK: Latencies

// How much a read of the clock adds to a time between two reads: the mean of many, without the fastest and the slowest
// quarter. The median alone would be a step of the clock, which on some processors is 10 ns.
static inline double clock_cost(void) {
    enum { READS = 2000 };
    static double cost = -1;
    if (cost >= 0) return cost;
    double costs[READS], sum = 0;
    for (int i = 0; i < READS; i++) {
        uint64_t start = now_ns();
        costs[i] = (double)(now_ns() - start);
    }
    qsort(costs, READS, sizeof *costs, compare_doubles);
    for (int i = READS / 4; i < READS * 3 / 4; i++) sum += costs[i];
    return cost = sum / (READS / 2);
}

// The times of single operations. One read of the clock ends an operation and begins the next.
struct latencies {
    double *times;
    long count, room;
    uint64_t last;
};

static inline struct latencies new_latencies(long room) {
    struct latencies latencies = {.times = malloc(sizeof(double) * (size_t)room), .room = room};
    MUST(room > 0 && latencies.times);
    // A page that the kernel provides during the measurement would cost an operation its time.
    memset(latencies.times, 1, sizeof(double) * (size_t)room);
    clock_cost();
    return latencies;
}

// Begins an operation that does not follow the last one.
static inline void begin_lap(struct latencies *latencies) { latencies->last = now_ns(); }

// Ends an operation; `share` is how many operations of the row it counts for.
static inline void end_lap(struct latencies *latencies, int share) {
    uint64_t now = now_ns();
    MUST(latencies->count < latencies->room);
    latencies->times[latencies->count++] = (double)(now - latencies->last) / share;
    latencies->last = now;
}

static inline void tell_part(const char *name, const char *part, double nanoseconds) {
    char line[256];
    snprintf(line, sizeof line, "%s, %s", name, part);
    tell(line, nanoseconds);
}

// Tells the median under the name; under the name and `p99` and `p99.9` these percentiles, if at least one operation
// was slower; under the name and `mean` the mean. `share` is that of all laps. What the clock costs is taken off.
static inline void tell_latencies(const char *name, struct latencies *latencies, int share) {
    double cost = clock_cost() / share, sum = 0;
    long count = latencies->count;
    MUST(count > 0);
    for (long i = 0; i < count; i++) {
        double *time = latencies->times + i;
        *time = *time > cost ? *time - cost : 0;
        sum += *time;
    }
    qsort(latencies->times, (size_t)count, sizeof(double), compare_doubles);
    tell(name, latencies->times[(count - 1) / 2]);
    if (count >= 100) tell_part(name, "p99", latencies->times[(count * 99 + 99) / 100 - 1]);
    if (count >= 1000) tell_part(name, "p99.9", latencies->times[(count * 999 + 999) / 1000 - 1]);
    tell_part(name, "mean", sum / (double)count);
    free(latencies->times);
}

// Times `count` calls, numbered from 0, in laps of `share`: those that are quicker than the clock's step need laps of several.
static inline void measure_laps(const char *name, long count, int share, void (*operation)(long, void *), void *context) {
    struct latencies latencies = new_latencies(count / share);
    begin_lap(&latencies);
    for (long i = 0; i + share <= count; i += share) {
        for (int j = 0; j < share; j++) operation(i + j, context);
        end_lap(&latencies, share);
    }
    tell_latencies(name, &latencies, share);
}

static inline void measure(const char *name, long count, void (*operation)(long, void *), void *context) {
    measure_laps(name, count, 1, operation, context);
}

// Memory that children made by fork share.
static inline void *shared_memory(size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(memory != MAP_FAILED);
    return memory;
}

// A child that ends with its parent, however the parent ends.
static inline pid_t start_child(void (*body)(int, void *), int number, void *context) {
    pid_t parent = getpid(), child = fork();
    MUST(child >= 0);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(70);
        body(number, context);
        _exit(0);
    }
    return child;
}

static inline void wait_children(void) {
    int status;
    while (wait(&status) > 0) MUST(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static inline void relax(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void futex_wait(_Atomic uint32_t *word, uint32_t value) {
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

static inline void futex_wake(_Atomic uint32_t *word) { syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

// Lets the process that is to be found asleep rest for a millisecond: until then an idle virtual processor polls
// (haltpoll), and waking it costs nothing.
static inline void let_sleep(void) {
    uint64_t end = now_ns() + 1000000;
    while (now_ns() < end) relax();
}

// When a work that begins now has to end, however many operations it was asked for, or 0 for no limit: on a busy machine a
// peer may take a thousand times as long as on an idle one.
static inline uint64_t end_of_work(void) {
    const char *seconds = getenv("BENCHMARK_SECONDS");
    return seconds ? now_ns() + (uint64_t)(atof(seconds) * 1e9) : 0;
}

static inline int is_over(uint64_t end) { return end && now_ns() >= end; }

// `producers` and `takers` in processes of their own pass `count` messages: nanoseconds a message, from the moment when all
// are ready until the last message was taken; and the percentiles and the mean of the times from one message of all takers to
// their next. With a limit, the producers stop when their time is over.
struct crowd {
    int producers, takers;
    long count;
    void (*produce)(long count, int number, void *context);
    void (*take)(long count, int number, void *context);
    void *context;
    struct {
        _Atomic int ready, go, producing;
        _Atomic long produced;
        _Atomic uint64_t end;
        // A taker's own line: how many messages it has taken.
        struct {
            _Alignas(64) _Atomic long taken;
        } takers[64];
    } *shared;
    // When each taker took each of its messages: room for `count` of each.
    uint64_t *times;
};

static void crowd_member(int number, void *context) {
    struct crowd *crowd = context;
    int is_taker = number >= crowd->producers;
    void (*body)(long, int, void *) = is_taker ? crowd->take : crowd->produce;
    uint64_t *times = is_taker ? crowd->times + crowd->count * (number - crowd->producers) : NULL;
    // A page that the kernel provides during the measurement would cost a message its time.
    if (is_taker) memset(times, 1, sizeof *times * (size_t)crowd->count);
    // Connects: includes all that a first call sets up, by passing no messages.
    body(0, number, crowd->context);
    atomic_fetch_add(&crowd->shared->ready, 1);
    while (!atomic_load(&crowd->shared->go)) usleep(100);
    if (is_taker) {
        // It does not know how many messages will be its own.
        for (long taken = 0;; taken++) {
            body(1, number, crowd->context);
            MUST(taken < crowd->count);
            times[taken] = now_ns();
            atomic_store(&crowd->shared->takers[number - crowd->producers].taken, taken + 1);
        }
    }
    uint64_t end = atomic_load(&crowd->shared->end);
    long count = crowd->count / crowd->producers, part = end ? 64 : count, done = 0;
    while (done < count && !is_over(end)) {
        long next = part < count - done ? part : count - done;
        body(next, number, crowd->context);
        done += next;
    }
    atomic_fetch_add(&crowd->shared->produced, done);
    atomic_fetch_sub(&crowd->shared->producing, 1);
    // What it has sent may still be on its way through a thread of this process.
    while (1) pause();
}

static int compare_times(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

// What happened at `times` after `start`, by several processes: the time of all ÷ their number, under the name; under the
// name and `p50`, `p99` and `mean` these of the times from one to the next.
static inline void tell_crowd(const char *name, uint64_t start, uint64_t *times, long count) {
    MUST(count > 0);
    qsort(times, (size_t)count, sizeof *times, compare_times);
    double mean = (double)(times[count - 1] - start) / (double)count, *laps = malloc(sizeof *laps * (size_t)count);
    MUST(laps && times[0] >= start);
    for (long i = 0; i < count; i++) laps[i] = (double)(times[i] - (i ? times[i - 1] : start));
    qsort(laps, (size_t)count, sizeof *laps, compare_doubles);
    tell(name, mean);
    tell_part(name, "p50", laps[(count - 1) / 2]);
    if (count >= 100) tell_part(name, "p99", laps[(count * 99 + 99) / 100 - 1]);
    tell_part(name, "mean", mean);
    free(laps);
}

static inline void measure_crowd(const char *name, struct crowd crowd) {
    crowd.shared = shared_memory(sizeof *crowd.shared);
    int members = crowd.producers + crowd.takers;
    MUST(crowd.producers > 0 && crowd.takers > 0);
    MUST(crowd.takers <= (int)(sizeof crowd.shared->takers / sizeof *crowd.shared->takers) && members <= 128);
    crowd.times = shared_memory(sizeof *crowd.times * (size_t)crowd.count * (size_t)crowd.takers);
    atomic_store(&crowd.shared->producing, crowd.producers);
    pid_t children[128];
    for (int i = 0; i < members; i++) children[i] = start_child(crowd_member, i, &crowd);
    while (atomic_load(&crowd.shared->ready) < members) {
        MUST(waitpid(-1, NULL, WNOHANG) == 0);
        usleep(1000);
    }
    uint64_t start = now_ns();
    atomic_store(&crowd.shared->end, end_of_work());
    atomic_store(&crowd.shared->go, 1);
    long taken = 0;
    while (1) {
        // In this order: a producer counts what it has produced before it ends.
        int producing = atomic_load(&crowd.shared->producing);
        taken = 0;
        for (int i = 0; i < crowd.takers; i++) taken += atomic_load(&crowd.shared->takers[i].taken);
        if (producing == 0 && taken == atomic_load(&crowd.shared->produced)) break;
        // A member ends only if it fails.
        MUST(waitpid(-1, NULL, WNOHANG) == 0);
        usleep(1000);
    }
    for (int i = 0; i < members; i++) {
        MUST(kill(children[i], SIGKILL) == 0 && waitpid(children[i], NULL, 0) == children[i]);
    }
    uint64_t *all = malloc(sizeof *all * (size_t)taken);
    MUST(all);
    for (long i = 0, at = 0; i < crowd.takers; i++) {
        long its = atomic_load(&crowd.shared->takers[i].taken);
        memcpy(all + at, crowd.times + crowd.count * i, sizeof *all * (size_t)its);
        at += its;
    }
    tell_crowd(name, start, all, taken);
    free(all);
    munmap(crowd.times, sizeof *crowd.times * (size_t)crowd.count * (size_t)crowd.takers);
    munmap(crowd.shared, sizeof *crowd.shared);
}

// Messages there and back, with a sleeping partner and without a pause: both are reported, however the peer waits.
static inline void measure_round_trips(long count, void (*there_and_back)(void)) {
    int is_cut = 0;
    for (int sleeping = 0; sleeping < 2; sleeping++) {
        long rounds = sleeping ? count / 4 : count - count / 4;
        struct latencies latencies = new_latencies(rounds);
        uint64_t end = end_of_work();
        for (long i = 0; i < rounds; i++) {
            if (i && is_over(end)) {
                is_cut = 1;
                break;
            }
            // is_over reads the clock, which is no part of an operation.
            begin_lap(&latencies);
            if (sleeping) let_sleep(), begin_lap(&latencies);
            there_and_back();
            end_lap(&latencies, 1);
        }
        tell_latencies(sleeping ? "hand-off sleeping" : "hand-off", &latencies, 1);
    }
    // The child still waits for messages that won't come, and ends with its parent.
    if (!is_cut) wait_children();
}

// The main of a peer, with the same works for all.
struct peer {
    // One process: `count` messages are put, then taken.
    void (*one)(long count);
    // Two processes: a message there, another back.
    void (*ping_pong)(long count);
    void (*claim)(long count);
    void (*produce)(long count, int number, void *context);
    void (*take)(long count, int number, void *context);
};

static inline int run_peer(struct peer peer, int count, char **words) {
    const char *work = count > 2 ? words[2] : "";
    long operations = count > 3 ? atol(words[3]) : 0;
    if (!strcmp(work, "one") && operations > 0) {
        peer.one(operations);
    } else if (!strcmp(work, "ping-pong") && operations > 0) {
        peer.ping_pong(operations);
    } else if (!strcmp(work, "claim") && operations > 0 && peer.claim) {
        peer.claim(operations);
    } else if (!strcmp(work, "crowd") && operations > 0 && count == 6) {
        measure_crowd(
            "crowd", (struct crowd){.producers = atoi(words[4]), .takers = atoi(words[5]), .count = operations,
                         .produce = peer.produce, .take = peer.take});
    } else {
        fprintf(stderr, "usage: %s ADDRESS one|ping-pong|claim COUNT, or crowd COUNT PRODUCERS TAKERS\n", words[0]);
        return 64;
    }
    return 0;
}

#endif
