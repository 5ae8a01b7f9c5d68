// The floor: the least that each work costs with LMDB and futexes, without checks, wake-ups and upkeep.
//
//   floor FOLDER WORK COUNT [MORE]    FOLDER on tmpfs, for `durable` on a disk; with a + before WORK, upkeep is done too
//
// The rows are those of a namespace with one indexed shape: a tuple of 90 bytes under its id, and an index row of shape,
// hash and id. LMDB runs as in a fast namespace (writable map, no sync), the file's blocks reserved ahead. `values` has
// larger tuples, and reserves the blocks as it goes if upkeep is done.

#include "../bench.h"
#include <lmdb.h>
#include <pthread.h>
#include <sys/stat.h>

#define LMDB(call) \
    do { \
        int code = (call); \
        if (code) { \
            fprintf(stderr, "%s: %s\n", #call, mdb_strerror(code)); \
            exit(70); \
        } \
    } while (0)

enum { ROW = 90, INDEX_KEY = 18, BATCH = 100, CELLS = 1000, COUNTERS = 128 };

static MDB_env *env;
static MDB_dbi tuples, index_table, cells, claims, main_table;
static const char *folder;
static uint64_t next_id = 1;
static size_t reserved;

// Reserves blocks up to `end`, from where they end now.
static void reserve_blocks(size_t end) {
    int file;
    if (end <= reserved) return;
    LMDB(mdb_env_get_fd(env, &file));
    MUST(fallocate(file, 0, (off_t)reserved, (off_t)(end - reserved)) == 0);
    reserved = end;
}

// The blocks that a writable map has from the beginning.
static size_t ahead = 256 << 20;

static void open_database(unsigned flags) {
    LMDB(mdb_env_create(&env));
    LMDB(mdb_env_set_mapsize(env, 64ull << 30));
    LMDB(mdb_env_set_maxreaders(env, 2048));
    LMDB(mdb_env_set_maxdbs(env, 16));
    LMDB(mdb_env_open(env, folder, flags | MDB_NOTLS, 0600));
    if (flags & MDB_WRITEMAP) reserve_blocks(ahead);
    MDB_txn *txn;
    LMDB(mdb_txn_begin(env, NULL, 0, &txn));
    LMDB(mdb_dbi_open(txn, "tuples", MDB_CREATE, &tuples));
    LMDB(mdb_dbi_open(txn, "index", MDB_CREATE, &index_table));
    LMDB(mdb_dbi_open(txn, "cells", MDB_CREATE, &cells));
    LMDB(mdb_dbi_open(txn, "claims", MDB_CREATE, &claims));
    LMDB(mdb_dbi_open(txn, NULL, 0, &main_table));
    LMDB(mdb_txn_commit(txn));
}

static void open_fast(void) { open_database(MDB_WRITEMAP | MDB_NOSYNC); }

// MARK: Rows

static void index_key(unsigned char *key, uint64_t hash, uint64_t id) {
    hash = __builtin_bswap64(hash * 0x9E3779B97F4A7C15u);
    id = __builtin_bswap64(id);
    key[0] = 0;
    key[1] = 1;
    memcpy(key + 2, &hash, 8);
    memcpy(key + 10, &id, 8);
}

// Makes room for one tuple row, and stores one index row beforehand; the caller fills the room.
static void *reserve_tuple(MDB_txn *txn, uint64_t hash, size_t size) {
    uint64_t id = next_id++, big = __builtin_bswap64(id);
    unsigned char bytes[INDEX_KEY];
    index_key(bytes, hash, id);
    MDB_val entry = {INDEX_KEY, bytes}, nothing = {0, NULL};
    LMDB(mdb_put(txn, index_table, &entry, &nothing, 0));
    MDB_val key = {8, &big}, value = {size, NULL};
    LMDB(mdb_put(txn, tuples, &key, &value, MDB_APPEND | MDB_RESERVE));
    return value.mv_data;
}

// One tuple row and one index row.
static void put_tuple(MDB_txn *txn, uint64_t hash) { memset(reserve_tuple(txn, hash, ROW), 'x', ROW); }

// The oldest tuple of a hash: its id and its row, or 0.
static uint64_t find_tuple(MDB_cursor *cursor, MDB_txn *txn, uint64_t hash, MDB_val *row) {
    unsigned char wanted[INDEX_KEY];
    index_key(wanted, hash, 0);
    MDB_val key = {INDEX_KEY, wanted}, value;
    int code = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (code == MDB_NOTFOUND) return 0;
    LMDB(code);
    if (memcmp(key.mv_data, wanted, 10)) return 0;
    uint64_t big;
    memcpy(&big, (unsigned char *)key.mv_data + 10, 8);
    MDB_val id = {8, &big};
    LMDB(mdb_get(txn, tuples, &id, row));
    return __builtin_bswap64(big);
}

// Finds through the index, copies the row, deletes both: the tuple's id, or 0 if there is none.
static uint64_t take_sized(MDB_txn *txn, uint64_t hash, unsigned char *copy, size_t size) {
    MDB_cursor *cursor;
    LMDB(mdb_cursor_open(txn, index_table, &cursor));
    MDB_val row;
    uint64_t id = find_tuple(cursor, txn, hash, &row);
    if (id) {
        MUST(row.mv_size == size);
        memcpy(copy, row.mv_data, size);
        LMDB(mdb_cursor_del(cursor, 0));
    }
    mdb_cursor_close(cursor);
    if (!id) return 0;
    uint64_t big = __builtin_bswap64(id);
    MDB_val key = {8, &big};
    LMDB(mdb_del(txn, tuples, &key, NULL));
    return id;
}

static uint64_t take_tuple(MDB_txn *txn, uint64_t hash, unsigned char *copy) { return take_sized(txn, hash, copy, ROW); }

// MARK: Upkeep

// The upkeep that every namespace needs beyond the rows: a gate in front of LMDB's mutex, which has no time-out; the
// counters that each commit writes; the fence between a commit and the look for waiters. Off, except for the works that
// ask for it.
static pthread_mutex_t *gate;

static void keep_up(void) {
    pthread_mutexattr_t kind;
    MUST(!pthread_mutexattr_init(&kind) && !pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED));
    MUST(!pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST));
    gate = shared_memory(sizeof *gate);
    MUST(!pthread_mutex_init(gate, &kind));
}

static MDB_txn *begin(void) {
    MDB_txn *txn;
    if (gate) MUST(!pthread_mutex_lock(gate));
    LMDB(mdb_txn_begin(env, NULL, 0, &txn));
    return txn;
}

static void commit(MDB_txn *txn) {
    if (gate) {
        MDB_val key = {8, "counters"}, value = {COUNTERS, NULL};
        LMDB(mdb_put(txn, main_table, &key, &value, MDB_RESERVE));
        memset(value.mv_data, 1, COUNTERS);
    }
    LMDB(mdb_txn_commit(txn));
    if (!gate) return;
    atomic_thread_fence(memory_order_seq_cst);
    MUST(!pthread_mutex_unlock(gate));
}

static void write_one(uint64_t hash) {
    MDB_txn *txn = begin();
    put_tuple(txn, hash);
    commit(txn);
}

static int take_one(uint64_t hash) {
    unsigned char copy[ROW];
    MDB_txn *txn = begin();
    int found = take_tuple(txn, hash, copy) != 0;
    if (found) {
        commit(txn);
    } else {
        mdb_txn_abort(txn);
        if (gate) pthread_mutex_unlock(gate);
    }
    return found;
}

// MARK: One process

static void write_leading(long number, void *context) { (void)number, (void)context, write_one(1); }
static void take_leading(long number, void *context) { (void)number, (void)context; MUST(take_one(1)); }
static void write_other(long number, void *context) { (void)context, write_one((uint64_t)number); }
static void take_other(long number, void *context) { (void)context; MUST(take_one((uint64_t)number)); }

// A row alone, without an index: the cost of LMDB's own put and delete.
static void write_bare(long number, void *context) {
    (void)number, (void)context;
    MDB_txn *txn;
    uint64_t big = __builtin_bswap64(next_id++);
    MDB_val key = {8, &big}, value = {ROW, NULL};
    LMDB(mdb_txn_begin(env, NULL, 0, &txn));
    LMDB(mdb_put(txn, tuples, &key, &value, MDB_APPEND | MDB_RESERVE));
    memset(value.mv_data, 'x', ROW);
    LMDB(mdb_txn_commit(txn));
}

static void take_bare(long number, void *context) {
    (void)number, (void)context;
    MDB_txn *txn;
    MDB_cursor *cursor;
    MDB_val key, value;
    LMDB(mdb_txn_begin(env, NULL, 0, &txn));
    LMDB(mdb_cursor_open(txn, tuples, &cursor));
    LMDB(mdb_cursor_get(cursor, &key, &value, MDB_FIRST));
    LMDB(mdb_cursor_del(cursor, 0));
    mdb_cursor_close(cursor);
    LMDB(mdb_txn_commit(txn));
}

static void write_batch(int count) {
    MDB_txn *txn;
    LMDB(mdb_txn_begin(env, NULL, 0, &txn));
    for (int i = 0; i < count; i++) put_tuple(txn, 1);
    LMDB(mdb_txn_commit(txn));
}

static void batch(long count) {
    struct latencies latencies = new_latencies(count / BATCH);
    begin_lap(&latencies);
    for (long i = 0; i < count / BATCH; i++) write_batch(BATCH), end_lap(&latencies, BATCH);
    tell_latencies("batch", &latencies, BATCH);
}

static void claim_and_complete(long number, void *context) {
    (void)context;
    unsigned char claim[24 + ROW] = {0};
    uint64_t big = __builtin_bswap64((uint64_t)number + 1);
    MDB_txn *txn = begin();
    MUST(take_tuple(txn, 1, claim + 24));
    MDB_val key = {8, &big}, value = {sizeof claim, claim};
    LMDB(mdb_put(txn, claims, &key, &value, 0));
    commit(txn);
    txn = begin();
    LMDB(mdb_del(txn, claims, &key, NULL));
    commit(txn);
}

// Writes and takes by turns, and writes and claims, while `length` tuples wait.
static void queue(long count, long length) {
    for (long i = 0; i < length; i += 1000) write_batch(length - i < 1000 ? (int)(length - i) : 1000);
    struct latencies writes = new_latencies(count), takes = new_latencies(count), ends = new_latencies(count);
    for (long i = 0; i < count; i++) {
        begin_lap(&writes);
        write_one(1);
        end_lap(&writes, 1);
        begin_lap(&takes);
        MUST(take_one(1));
        end_lap(&takes, 1);
    }
    for (long i = 0; i < count; i++) {
        write_one(1);
        begin_lap(&ends);
        claim_and_complete(i, NULL);
        end_lap(&ends, 1);
    }
    tell_latencies("queue write", &writes, 1);
    tell_latencies("queue take", &takes, 1);
    tell_latencies("queue claim", &ends, 1);
    for (long i = 0; i < length; i++) MUST(take_one(1));
    MUST(!take_one(1));
}

#include "long.h"

static MDB_txn *reader;
static MDB_cursor *reading;

static void begin_reading(void) {
    LMDB(mdb_txn_begin(env, NULL, MDB_RDONLY, &reader));
    LMDB(mdb_cursor_open(reader, index_table, &reading));
    mdb_txn_reset(reader);
}

// Strides through the numbers, so that neighbours don't follow each other.
static uint64_t scattered(long number, uint64_t among) { return (uint64_t)number * 7919 % among; }

static int cell_name(char *name, uint64_t number) { return sprintf(name, "progress-%llu", (unsigned long long)number); }

static char cell_names[CELLS][24];

static void get_cell(long number, void *context) {
    (void)context;
    char *name = cell_names[scattered(number, CELLS)];
    LMDB(mdb_txn_renew(reader));
    MDB_val key = {strlen(name), name}, value;
    LMDB(mdb_get(reader, cells, &key, &value));
    MUST(value.mv_size == 9);
    mdb_txn_reset(reader);
}

static void poll_cell(long number, void *context) {
    (void)number;
    get_cell(0, context);
}

static void read_tuple(long number, void *context) {
    unsigned char copy[ROW];
    MDB_val row;
    LMDB(mdb_txn_renew(reader));
    LMDB(mdb_cursor_renew(reader, reading));
    MUST(find_tuple(reading, reader, scattered(number, *(uint64_t *)context), &row));
    memcpy(copy, row.mv_data, ROW);
    mdb_txn_reset(reader);
}

// MARK: Large values

static unsigned char *payload, *copy_of_payload;
static size_t value_size;

// The library's steps: an eighth of the file, between 1 MiB and 64, and 4 MiB more than a write needs.
static void reserve_on_the_way(void) {
    MDB_envinfo info;
    LMDB(mdb_env_info(env, &info));
    size_t end = (info.me_last_pgno + 64) * 4096 + value_size + (4 << 20), step = reserved / 8;
    if (end <= reserved) return;
    step = step < 1 << 20 ? 1 << 20 : step > 64 << 20 ? 64 << 20 : step;
    reserve_blocks(end > reserved + step ? end : reserved + step);
}

static void write_value(long number, void *context) {
    (void)number, (void)context;
    MDB_txn *txn = begin();
    if (gate) reserve_on_the_way();
    memcpy(reserve_tuple(txn, 1, value_size), payload, value_size);
    commit(txn);
}

static void read_value(long number, void *context) {
    (void)number, (void)context;
    MDB_val row;
    LMDB(mdb_txn_renew(reader));
    LMDB(mdb_cursor_renew(reader, reading));
    MUST(find_tuple(reading, reader, 1, &row) && row.mv_size == value_size);
    memcpy(copy_of_payload, row.mv_data, value_size);
    mdb_txn_reset(reader);
}

static void take_value(long number, void *context) {
    (void)number, (void)context;
    MDB_txn *txn = begin();
    MUST(take_sized(txn, 1, copy_of_payload, value_size));
    commit(txn);
}

static void values(long count, long size) {
    value_size = (size_t)size;
    MUST(size > 0 && (payload = malloc(value_size)) && (copy_of_payload = malloc(value_size)));
    memset(payload, 'x', value_size);
    memset(copy_of_payload, 0, value_size);
    if (gate) ahead = 1 << 20;
    if (!gate && ahead < (size_t)(count + 2) * (value_size + 65536)) ahead = (size_t)(count + 2) * (value_size + 65536);
    open_fast();
    begin_reading();
    measure("value write", count, write_value, NULL);
    measure("value read", count, read_value, NULL);
    MUST(!memcmp(payload, copy_of_payload, value_size));
    measure("value take", count, take_value, NULL);
    measure("value write again", count, write_value, NULL);
}

static void set_cells(void) {
    MDB_txn *txn;
    LMDB(mdb_txn_begin(env, NULL, 0, &txn));
    for (uint64_t i = 0; i < CELLS; i++) {
        MDB_val key = {(size_t)cell_name(cell_names[i], i), cell_names[i]}, value = {9, "123456789"};
        LMDB(mdb_put(txn, cells, &key, &value, 0));
    }
    LMDB(mdb_txn_commit(txn));
}

// MARK: Two processes

struct court {
    _Alignas(64) _Atomic uint32_t served[2];
    _Alignas(64) _Atomic uint32_t sleeping[2];
    int sleeps;
};

static void serve(struct court *court, int side) {
    write_one((uint64_t)side + 1);
    atomic_fetch_add(&court->served[side], 1);
    if (court->sleeps && atomic_load(&court->sleeping[side])) futex_wake(&court->served[side]);
}

static void receive(struct court *court, int side, uint32_t seen) {
    if (court->sleeps) {
        atomic_store(&court->sleeping[side], 1);
        while (atomic_load(&court->served[side]) == seen) futex_wait(&court->served[side], seen);
        atomic_store(&court->sleeping[side], 0);
    } else {
        while (atomic_load(&court->served[side]) == seen) relax();
    }
    MUST(take_one((uint64_t)side + 1));
}

static struct court *court;
static long rounds;

static void answer(int number, void *context) {
    (void)number, (void)context;
    open_fast();
    // Ids have to rise together: the other side's rows are even.
    for (uint32_t i = 0; i < (uint32_t)rounds; i++) {
        receive(court, 0, i);
        next_id = (uint64_t)i * 2 + 2;
        serve(court, 1);
    }
}

static void hand_off(long count, int sleeps) {
    court = shared_memory(sizeof *court);
    court->sleeps = sleeps;
    rounds = count;
    start_child(answer, 0, NULL);
    open_fast();
    struct latencies latencies = new_latencies(count);
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        if (sleeps) let_sleep();
        begin_lap(&latencies);
        next_id = (uint64_t)i * 2 + 1;
        serve(court, 0);
        receive(court, 1, i);
        end_lap(&latencies, 1);
    }
    wait_children();
    tell_latencies(sleeps ? "hand-off sleeping" : "hand-off spinning", &latencies, 1);
}

// MARK: Many threads

static void *write_durably(void *context) {
    for (long i = 0; i < *(long *)context; i++) {
        MDB_txn *txn;
        LMDB(mdb_txn_begin(env, NULL, 0, &txn));
        put_tuple(txn, 1);
        LMDB(mdb_txn_commit(txn));
    }
    return NULL;
}

static void durable(long count) {
    enum { THREADS = 16 };
    open_database(0);
    pthread_t threads[THREADS];
    long each = count / THREADS ? count / THREADS : 1;
    uint64_t start = now_ns();
    for (int i = 0; i < THREADS; i++) MUST(!pthread_create(&threads[i], NULL, write_durably, &each));
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    tell("durable", (double)(now_ns() - start) / (double)(each * THREADS));
}

static void do_nothing(long number, void *context) { (void)number, (void)context; }

int main(int count, char **words) {
    if (count != 4 && count != 5) {
        fprintf(stderr, "usage: %s FOLDER WORK COUNT [MORE]\n", words[0]);
        return 64;
    }
    folder = words[1];
    const char *work = words[2];
    long operations = atol(words[3]);
    long more = count == 5 ? atol(words[4]) : 0;
    MUST(operations > 0 && more >= 0);
    if (*work == '+') {
        work++;
        keep_up();
    }
    mkdir(folder, 0700);
    if (!strcmp(work, "bare")) {
        open_fast();
        measure("write bare", operations, write_bare, NULL);
        measure("take bare", operations, take_bare, NULL);
    } else if (!strcmp(work, "leading")) {
        open_fast();
        measure("write", operations, write_leading, NULL);
        measure("take leading", operations, take_leading, NULL);
    } else if (!strcmp(work, "other")) {
        open_fast();
        measure("write other", operations, write_other, NULL);
        measure("take other", operations, take_other, NULL);
    } else if (!strcmp(work, "batch")) {
        open_fast();
        batch(operations);
    } else if (!strcmp(work, "queue")) {
        open_fast();
        queue(operations, more);
    } else if (!strncmp(work, "long-", 5)) {
        open_fast();
        if (!long_queue(work + 5, operations, more)) return 64;
    } else if (!strcmp(work, "values")) {
        values(operations, more);
    } else if (!strcmp(work, "nothing")) {
        measure("nothing", operations, do_nothing, NULL);
    } else if (!strcmp(work, "get")) {
        open_fast();
        set_cells();
        begin_reading();
        measure("get", operations, get_cell, NULL);
    } else if (!strcmp(work, "poll")) {
        open_fast();
        set_cells();
        begin_reading();
        measure("poll", operations, poll_cell, NULL);
    } else if (!strcmp(work, "read")) {
        open_fast();
        uint64_t tuples = 100000;
        for (uint64_t i = 0; i < tuples; i++) write_one(i);
        begin_reading();
        measure("read", operations, read_tuple, &tuples);
    } else if (!strcmp(work, "claim")) {
        open_fast();
        for (long i = 0; i < operations; i++) write_one(1);
        measure("claim", operations, claim_and_complete, NULL);
    } else if (!strcmp(work, "hand-off-spinning")) {
        hand_off(operations, 0);
    } else if (!strcmp(work, "hand-off-sleeping")) {
        hand_off(operations, 1);
    } else if (!strcmp(work, "durable")) {
        durable(operations);
    } else {
        fprintf(stderr, "%s: unknown work\n", work);
        return 64;
    }
    return 0;
}
