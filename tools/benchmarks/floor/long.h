// Works on a long queue: all of its tuples are there before the first is taken. Part of floor.c.

static void fill(long length) {
    for (long i = 0; i < length; i += 1000) write_batch(length - i < 1000 ? (int)(length - i) : 1000);
}

// The oldest tuples are of another kind, which nothing takes.
static void write_others(int count) {
    MDB_txn *txn = begin();
    for (int i = 0; i < count; i++) put_tuple(txn, 9);
    commit(txn);
}

static void fill_two(long length) {
    for (long i = 0; i < length;) {
        MDB_txn *txn = begin();
        for (int j = 0; j < 1000 && i < length; i++, j++) put_tuple(txn, 1 + (uint64_t)i % 2);
        commit(txn);
    }
}

static void take_by_turns(long number, void *context) { (void)context; MUST(take_one(1 + (uint64_t)number % 2)); }

enum { CLAIM = 24 + ROW };

// Claims the oldest tuple: its id. A deadline is a row by which a claim that is overdue can be found.
static uint64_t claim(uint64_t deadline) {
    unsigned char row[CLAIM] = {0};
    MDB_txn *txn = begin();
    uint64_t id = take_tuple(txn, 1, row + CLAIM - ROW), big = __builtin_bswap64(id);
    MUST(id);
    MDB_val key = {8, &big}, value = {CLAIM, row}, nothing = {0, NULL};
    LMDB(mdb_put(txn, claims, &key, &value, 0));
    if (deadline) {
        uint64_t due[2] = {__builtin_bswap64(deadline), big};
        MDB_val entry = {sizeof due, due};
        LMDB(mdb_put(txn, cells, &entry, &nothing, 0));
    }
    commit(txn);
    return id;
}

static void complete(uint64_t id, uint64_t deadline) {
    uint64_t big = __builtin_bswap64(id);
    MDB_val key = {8, &big};
    MDB_txn *txn = begin();
    LMDB(mdb_del(txn, claims, &key, NULL));
    if (deadline) {
        uint64_t due[2] = {__builtin_bswap64(deadline), big};
        MDB_val entry = {sizeof due, due};
        LMDB(mdb_del(txn, cells, &entry, NULL));
    }
    commit(txn);
}

// Puts a claimed tuple back under its old id.
static void release(uint64_t id) {
    unsigned char copy[ROW], bytes[INDEX_KEY];
    uint64_t big = __builtin_bswap64(id);
    MDB_val key = {8, &big}, claimed, entry = {INDEX_KEY, bytes}, nothing = {0, NULL}, row = {ROW, copy};
    MDB_txn *txn = begin();
    LMDB(mdb_get(txn, claims, &key, &claimed));
    MUST(claimed.mv_size == CLAIM);
    memcpy(copy, (unsigned char *)claimed.mv_data + CLAIM - ROW, ROW);
    LMDB(mdb_del(txn, claims, &key, NULL));
    index_key(bytes, 1, id);
    LMDB(mdb_put(txn, index_table, &entry, &nothing, 0));
    LMDB(mdb_put(txn, tuples, &key, &row, 0));
    commit(txn);
}

static void claim_with_deadline(long number, void *context) {
    (void)context;
    uint64_t deadline = number % 10 ? 0 : now_ns() + 600000000000u;
    complete(claim(deadline), deadline);
}

// Of 20 claims one is released, after eight others; the next claim has its tuple again.
static void claim_with_release(long number, void *context) {
    uint64_t *kept = context, id = claim(0);
    if (number % 20) complete(id, 0);
    if (number % 20 == 0) *kept = id;
    if (number % 20 == 8) release(*kept);
    if (number % 20 == 9) MUST(id == *kept);
}

// Whether there is such a work.
static int long_queue(const char *work, long count, long length) {
    uint64_t kept = 0;
    MUST(count <= length);
    if (!strcmp(work, "take")) {
        fill(length);
        measure("long take", count, take_leading, NULL);
    } else if (!strcmp(work, "claim")) {
        fill(length);
        measure("long claim", count, claim_and_complete, NULL);
    } else if (!strcmp(work, "behind")) {
        write_others(100);
        fill(length);
        measure("long take behind others", count, take_leading, NULL);
    } else if (!strcmp(work, "turns")) {
        fill_two(length);
        measure("long take by turns", count, take_by_turns, NULL);
    } else if (!strcmp(work, "released")) {
        fill(length);
        measure("long claim with releases", count, claim_with_release, &kept);
    } else if (!strcmp(work, "deadlines")) {
        fill(length);
        measure("long claim with deadlines", count, claim_with_deadline, NULL);
    } else {
        fprintf(stderr, "long-%s: unknown work\n", work);
        return 0;
    }
    return 1;
}
