// The ring: the least with which processes can hand messages over at all, without a database.
//
//   ring FOLDER WORK COUNT [MORE …]    FOLDER on tmpfs
//
// A ring of slots in shared memory, behind a robust process-shared mutex as its gate: a process that is killed leaves
// the ring as it was before its message. There are no tuples, no templates and no order but that of writing; a message
// is as long as the floor's row. A taker that finds the ring empty sleeps on a futex, or looks again without a pause.

#include "../bench.h"
#include <pthread.h>
#include <sys/stat.h>

// As many slots as the longest measured queue needs; the ring is never full.
enum { ROW = 90, SLOTS = 1 << 17, STACK = 64 << 10 };
// One operation is quicker than the clock's step: so many are timed together.
enum { LAP = 16 };

struct ring {
    pthread_mutex_t gate;
    // The word on which takers sleep: how many messages were written.
    _Alignas(64) _Atomic uint32_t written;
    _Alignas(64) _Atomic uint32_t taken;
    _Alignas(64) _Atomic uint32_t sleepers;
    _Alignas(64) unsigned char slots[SLOTS][ROW];
};

// One ring in each direction.
static struct ring *rings;

static void open_rings(const char *folder) {
    char path[4096];
    mkdir(folder, 0700);
    MUST(snprintf(path, sizeof path, "%s/rings", folder) < (int)sizeof path);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    MUST(file >= 0 && ftruncate(file, 2 * sizeof *rings) == 0);
    rings = mmap(NULL, 2 * sizeof *rings, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    MUST(rings != MAP_FAILED);
    pthread_mutexattr_t kind;
    MUST(!pthread_mutexattr_init(&kind) && !pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED));
    MUST(!pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST));
    for (int i = 0; i < 2; i++) {
        memset(&rings[i], 0, sizeof rings[i]);
        MUST(!pthread_mutex_init(&rings[i].gate, &kind));
    }
}

static void enter(struct ring *ring) {
    int code = pthread_mutex_lock(&ring->gate);
    // A process was killed at the gate. A message counts from one addition on, so the ring is whole.
    if (code == EOWNERDEAD) code = pthread_mutex_consistent(&ring->gate);
    MUST(code == 0);
}

static void leave(struct ring *ring) { MUST(!pthread_mutex_unlock(&ring->gate)); }

static void put(struct ring *ring, uint64_t number) {
    enter(ring);
    uint32_t place = atomic_load(&ring->written);
    MUST(place - atomic_load(&ring->taken) < SLOTS);
    unsigned char *slot = ring->slots[place % SLOTS];
    memset(slot, 'x', ROW);
    memcpy(slot, &number, sizeof number);
    atomic_fetch_add(&ring->written, 1);
    leave(ring);
    if (atomic_load(&ring->sleepers)) futex_wake(&ring->written);
}

// Takes the oldest message, or returns 0 and the number of messages that were written until then.
static int take_if_exists(struct ring *ring, uint64_t *number, uint32_t *seen) {
    unsigned char copy[ROW];
    enter(ring);
    uint32_t place = atomic_load(&ring->taken);
    *seen = atomic_load(&ring->written);
    int found = place != *seen;
    if (found) {
        memcpy(copy, ring->slots[place % SLOTS], ROW);
        atomic_fetch_add(&ring->taken, 1);
    }
    leave(ring);
    if (!found) return 0;
    memcpy(number, copy, sizeof *number);
    MUST(copy[ROW - 1] == 'x');
    return 1;
}

static uint64_t take_sleeping(struct ring *ring) {
    uint64_t number;
    uint32_t seen;
    while (!take_if_exists(ring, &number, &seen)) {
        // The kernel compares the word after the sleeper has counted itself: a message written since wakes it.
        atomic_fetch_add(&ring->sleepers, 1);
        futex_wait(&ring->written, seen);
        atomic_fetch_sub(&ring->sleepers, 1);
    }
    return number;
}

static uint64_t take_spinning(struct ring *ring) {
    uint64_t number;
    uint32_t seen;
    while (atomic_load(&ring->written) == atomic_load(&ring->taken)) relax();
    MUST(take_if_exists(ring, &number, &seen));
    return number;
}

// MARK: One process

static void write_one(long number, void *context) { (void)context, put(rings, (uint64_t)number); }

static void take_one(long number, void *context) {
    uint64_t found;
    uint32_t seen;
    (void)context;
    MUST(take_if_exists(rings, &found, &seen) && found == (uint64_t)number);
}

static void queue(long count, long length) {
    long written = 0, taken = 0;
    while (written < length) write_one(written++, NULL);
    struct latencies writes = new_latencies(count / LAP), takes = new_latencies(count / LAP);
    for (long i = 0; i + LAP <= count; i += LAP) {
        begin_lap(&writes);
        for (int j = 0; j < LAP; j++) write_one(written++, NULL);
        end_lap(&writes, LAP);
        begin_lap(&takes);
        for (int j = 0; j < LAP; j++) take_one(taken++, NULL);
        end_lap(&takes, LAP);
    }
    MUST(written - taken == length);
    tell_latencies("queue write", &writes, LAP);
    tell_latencies("queue take", &takes, LAP);
}

// MARK: Two processes

static int sleeps;

static uint64_t receive(struct ring *ring) { return sleeps ? take_sleeping(ring) : take_spinning(ring); }

static void answer(int count, void *context) {
    (void)context;
    for (int i = 0; i < count; i++) put(&rings[1], receive(&rings[0]));
}

static void hand_off(long count) {
    start_child(answer, (int)count, NULL);
    struct latencies latencies = new_latencies(count);
    for (long i = 0; i < count; i++) {
        if (sleeps) let_sleep();
        begin_lap(&latencies);
        put(&rings[0], (uint64_t)i);
        MUST(receive(&rings[1]) == (uint64_t)i);
        end_lap(&latencies, 1);
    }
    wait_children();
    tell_latencies(sleeps ? "hand-off sleeping" : "hand-off spinning", &latencies, 1);
}

// MARK: Many

static void produce(long count, int number, void *context) {
    (void)number, (void)context;
    for (long i = 0; i < count; i++) put(rings, (uint64_t)i);
}

static void consume(long count, int number, void *context) {
    (void)number, (void)context;
    for (long i = 0; i < count; i++) take_sleeping(rings);
}

// So many threads of another process that each wait for a message; the message is the time at which it was written.
struct served {
    _Atomic long count;
    _Atomic uint64_t last;
    double times[];
};

static struct served *served;

static void *be_served(void *context) {
    (void)context;
    uint64_t start = take_sleeping(rings), end = now_ns();
    served->times[atomic_fetch_add(&served->count, 1)] = (double)(end - start);
    atomic_store(&served->last, end);
    return NULL;
}

static void be_served_all(int count, void *context) {
    (void)context;
    pthread_attr_t small;
    MUST(!pthread_attr_init(&small) && !pthread_attr_setstacksize(&small, STACK));
    pthread_t *threads = malloc(sizeof *threads * (size_t)count);
    MUST(threads);
    for (int i = 0; i < count; i++) MUST(!pthread_create(&threads[i], &small, be_served, NULL));
    for (int i = 0; i < count; i++) MUST(!pthread_join(threads[i], NULL));
}

static void serve(long count) {
    size_t size = sizeof *served + sizeof(double) * (size_t)count;
    served = shared_memory(size);
    memset(served, 0, size);
    start_child(be_served_all, (int)count, NULL);
    while (atomic_load(&rings->sleepers) < (uint32_t)count) {
        MUST(waitpid(-1, NULL, WNOHANG) == 0);
        usleep(1000);
    }
    uint64_t start = now_ns();
    for (long i = 0; i < count; i++) put(rings, now_ns());
    wait_children();
    MUST(served->count == count);
    struct latencies latencies = new_latencies(count);
    memcpy(latencies.times, served->times, sizeof(double) * (size_t)count);
    latencies.count = count;
    tell("served threads, all", (double)(served->last - start) / (double)count);
    tell_latencies("served threads", &latencies, 1);
}

int main(int count, char **words) {
    if (count < 4 || count > 6) {
        fprintf(stderr, "usage: %s FOLDER WORK COUNT [MORE …]\n", words[0]);
        return 64;
    }
    const char *work = words[2];
    long operations = atol(words[3]), more = count > 4 ? atol(words[4]) : 0, most = count > 5 ? atol(words[5]) : 0;
    MUST(operations > 0 && operations < SLOTS && more >= 0 && operations + more < SLOTS);
    open_rings(words[1]);
    if (!strcmp(work, "leading")) {
        measure_laps("write", operations, LAP, write_one, NULL);
        measure_laps("take leading", operations, LAP, take_one, NULL);
    } else if (!strcmp(work, "queue")) {
        queue(operations, more);
    } else if (!strcmp(work, "hand-off-spinning")) {
        hand_off(operations);
    } else if (!strcmp(work, "hand-off-sleeping")) {
        sleeps = 1;
        hand_off(operations);
    } else if (!strcmp(work, "crowd") && more > 0 && most > 0) {
        measure_crowd(
            "crowd", (struct crowd){.producers = (int)more, .takers = (int)most, .count = operations, .produce = produce,
                         .take = consume});
        MUST(rings->written == (uint32_t)operations && rings->taken == rings->written);
    } else if (!strcmp(work, "served-threads")) {
        serve(operations);
    } else {
        fprintf(stderr, "%s: unknown work\n", work);
        return 64;
    }
    return 0;
}
