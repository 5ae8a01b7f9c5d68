// The guarded calls.
//
// A jump out of a call leaves liblmdb's structures as they were at that moment. For a read transaction that is
// harmless: it can be reset, renewed and aborted. A write transaction can only be aborted. Its lists of cursors may
// contain cursors on the stack frames that the jump skipped (mdb.c: mdb_put, mdb_del0, WITH_CURSOR_TRACKING), and the
// abort would pass these to free(3). So the lists are emptied right after the jump. The cursors from the heap that were
// in the lists are closed by their owners, or leak.

#include "guard.h"

#include <errno.h>
#include <string.h>

bool guarded_is_damaged(const struct guarded_environment *guard) {
    return atomic_load_explicit(&guard->is_damaged, memory_order_relaxed);
}

void guarded_mark_damaged(struct guarded_environment *guard) {
    atomic_store_explicit(&guard->is_damaged, true, memory_order_relaxed);
}

/// Cleans up after a jump out of a call, and returns the call's result.
static __attribute__((noinline, cold)) int damaged(struct guarded_environment *guard, MDB_txn *transaction) {
    guarded_mark_damaged(guard);
    if (transaction && transaction == guard->writer) memset(guard->cursors, 0, guard->database_count * sizeof *guard->cursors);
    return GUARDED_DAMAGED;
}

static __attribute__((noinline, cold)) int damaged_by(struct guarded_environment *guard, MDB_cursor *cursor) {
    return damaged(guard, mdb_cursor_txn(cursor));
}

/// Whether the bytes that liblmdb returned lie in a possible place; most lie in one leaf of the file within its last
/// known size. (Right behind the header of a page only the value of an overflow page begins.)
static inline bool lies_whole(struct guarded_environment *guard, const MDB_val *bytes, bool is_writing) {
    size_t offset = (uintptr_t)bytes->mv_data - atomic_load_explicit(&guard->map, memory_order_relaxed);
    size_t within = offset & (guard->page_size - 1);
    if (within + bytes->mv_size <= guard->page_size && within != PAGE_HEADER
        && offset < atomic_load_explicit(&guard->known, memory_order_relaxed))
        return true;
    return guard_lies_whole_slowly(guard, bytes, is_writing);
}

/// Whether the room that a put has reserved, which the caller then fills, lies in a possible place.
///
/// In a leaf of a form that no table has (mdb.c: P_LEAF2), liblmdb stores keys alone, and names no room for a value.
static inline bool has_room(struct guarded_environment *guard, const MDB_val *value, unsigned flags) {
    return !(flags & MDB_RESERVE) || value->mv_size == 0 || (value->mv_data && lies_whole(guard, value, true));
}

// MARK: Environments

int guarded_env_create(MDB_env **environment, struct guarded_environment **guard) {
    guard_install_handlers();
    struct guarded_environment *free = NULL;
    for (int i = 0; i < GUARD_ENVIRONMENTS && !free; i++) {
        bool expected = false;
        if (atomic_compare_exchange_strong(&guard_environments[i].is_used, &expected, true)) free = &guard_environments[i];
    }
    if (!free) return ENOMEM;
    int result = mdb_env_create(environment);
    if (result != 0) {
        atomic_store(&free->is_used, false);
        return result;
    }
    free->environment = *environment;
    free->writer = NULL;
    free->cursors = NULL;
    free->pages = NULL;
    free->descriptor = -1;
    free->page_size = 1;
    atomic_store(&free->known, 0);
    atomic_store(&free->is_map_known, false);
    atomic_store(&free->is_damaged, false);
    mdb_env_set_assert(*environment, guard_assertion_failed);
    *guard = free;
    return 0;
}

int guarded_env_open(struct guarded_environment *guard, const char *path, unsigned flags, unsigned max_databases, unsigned mode) {
    int result;
    guard->writes_map = (flags & MDB_WRITEMAP) != 0 && (flags & MDB_RDONLY) == 0;
    guard->database_count = max_databases + 2; // mdb.c: CORE_DBS
    GUARDED(result, mdb_env_open(guard->environment, path, flags, (mdb_mode_t)mode), damaged(guard, NULL));
    if (result != 0) return result;
    mdb_env_get_fd(guard->environment, &guard->descriptor);
    GUARDED(result, (guard_find_map(guard), 0), damaged(guard, NULL));
    return result;
}

void guarded_env_close(struct guarded_environment *guard) {
    int result;
    // The map's addresses may belong to other memory once the environment is closed.
    atomic_store(&guard->map, 0);
    GUARDED(result, (mdb_env_close(guard->environment), 0), GUARDED_DAMAGED);
    (void)result;
    guard->environment = NULL;
}

void guarded_env_release(struct guarded_environment *guard) { atomic_store(&guard->is_used, false); }

bool guarded_knows_map(const struct guarded_environment *guard) { return atomic_load(&guard->is_map_known); }

/// mdb.c, MDB_meta: the transaction's id is at this offset from the beginning of either meta page, and the last commit's
/// is the higher one (mdb_env_pick_meta).
static inline uint64_t last_commit(uintptr_t map, size_t page_size) {
    enum { TRANSACTION = 144 };
    uint64_t first = *(const volatile uint64_t *)(map + TRANSACTION);
    uint64_t second = *(const volatile uint64_t *)(map + page_size + TRANSACTION);
    return first < second ? second : first;
}

size_t guarded_last_commit(struct guarded_environment *guard) {
    uint64_t commit = 0;
    int result;
    uintptr_t map = atomic_load_explicit(&guard->map, memory_order_acquire);
    if (map != 0) {
        GUARDED(result, (commit = last_commit(map, guard->page_size), 0), damaged(guard, NULL));
        return result == 0 ? commit : 0;
    }
    if (guarded_knows_map(guard) || guard->environment == NULL) return 0;
    MDB_envinfo info;
    guarded_env_info(guard, &info);
    return info.me_last_txnid;
}

void guarded_env_info(struct guarded_environment *guard, MDB_envinfo *info) {
    int result;
    GUARDED(result, mdb_env_info(guard->environment, info), damaged(guard, NULL));
    if (result != 0) memset(info, 0, sizeof *info);
}

int guarded_env_sync(struct guarded_environment *guard, int force) {
    int result;
    GUARDED(result, mdb_env_sync(guard->environment, force), damaged(guard, NULL));
    return result;
}

/// Whether the lock file can have as many readers as it says, which liblmdb believes: another program may have changed it.
static bool has_reader_table(struct guarded_environment *guard) {
    MDB_envinfo info;
    guarded_env_info(guard, &info);
    return info.me_numreaders <= info.me_maxreaders;
}

int guarded_reader_list(struct guarded_environment *guard, MDB_msg_func *tell, void *context) {
    return has_reader_table(guard) ? mdb_reader_list(guard->environment, tell, context) : MDB_BAD_RSLOT;
}

int guarded_reader_check(struct guarded_environment *guard, int *dead) {
    if (!has_reader_table(guard)) return MDB_BAD_RSLOT;
    int result;
    GUARDED(result, mdb_reader_check(guard->environment, dead), damaged(guard, NULL));
    return result;
}

// MARK: Transactions

/// Whether liblmdb can work on the meta page that a write transaction began with.
///
/// If a tree's depth is above 32, liblmdb writes past the end of a cursor, which has 32 levels. mdb.c, MDB_meta: these
/// are the offsets from the page's beginning of the flags and depths of two trees (44 and 92), of their roots (80 and
/// 128), of the last page (136), and of the transaction's id (144).
///
/// The meta page must be the last commit's. If the lock file has a wrong number of the last commit, liblmdb begins with
/// an earlier one, and its commit would overwrite pages in use.
static inline bool is_meta_page_whole(const struct guarded_environment *guard, const MDB_txn *transaction) {
    enum { FREE_FLAGS = 8, DEEPEST = 32 };
    uintptr_t map = atomic_load_explicit(&guard->map, memory_order_relaxed);
    if (map == 0) return true;
    uint64_t commit = mdb_txn_id((MDB_txn *)transaction) - 1;
    const char *page = (const char *)map + (commit & 1) * guard->page_size;
    const char *other = (const char *)map + (~commit & 1) * guard->page_size;
    if (*(const uint64_t *)(page + 144) != commit || *(const uint64_t *)(other + 144) > commit) return false;
    const uint16_t *free_tree = (const uint16_t *)(page + 44), *main_tree = (const uint16_t *)(page + 92);
    const uint64_t last = *(const uint64_t *)(page + 136);
    const uint64_t free_root = *(const uint64_t *)(page + 80), main_root = *(const uint64_t *)(page + 128);
    return free_tree[0] == FREE_FLAGS && main_tree[0] == 0 && free_tree[1] <= DEEPEST && main_tree[1] <= DEEPEST
        && (free_root <= last || free_root == UINT64_MAX) && (main_root <= last || main_root == UINT64_MAX);
}

static inline int begin(struct guarded_environment *guard, unsigned flags, MDB_txn **transaction) {
    int result = mdb_txn_begin(guard->environment, NULL, flags, transaction);
    if (result != 0 || (flags & MDB_RDONLY) != 0 || is_meta_page_whole(guard, *transaction)) return result;
    mdb_txn_abort(*transaction);
    guarded_mark_damaged(guard);
    return GUARDED_DAMAGED;
}

int guarded_txn_begin(struct guarded_environment *guard, unsigned flags, MDB_txn **transaction) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    // A truncated file faults here, before liblmdb holds its writer mutex.
    MDB_envinfo info;
    GUARDED(result, mdb_env_info(guard->environment, &info), damaged(guard, NULL));
    if (result != 0) return result;
    GUARDED(result, begin(guard, flags, transaction), damaged(guard, NULL));
    if (result != 0 || (flags & MDB_RDONLY) != 0 || guard->cursors) return result;
    GUARDED(
        result, (guard_find_pages(guard, *transaction), guard_find_cursors(guard, *transaction), 0), damaged(guard, NULL));
    return 0;
}

static inline int renew(struct guarded_environment *guard, MDB_txn *transaction, bool *is_newest) {
    int result = mdb_txn_renew(transaction);
    if (result != 0) return result;
    uintptr_t map = atomic_load_explicit(&guard->map, memory_order_acquire);
    uint64_t last;
    if (map != 0) {
        last = last_commit(map, guard->page_size);
    } else {
        MDB_envinfo info;
        mdb_env_info(guard->environment, &info);
        last = info.me_last_txnid;
    }
    *is_newest = last == mdb_txn_id(transaction);
    return 0;
}

int guarded_txn_renew(struct guarded_environment *guard, MDB_txn *transaction, bool *is_newest) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    // One mark serves both calls, because every read passes here.
    GUARDED(result, renew(guard, transaction, is_newest), damaged(guard, transaction));
    return result;
}

void guarded_txn_abort(struct guarded_environment *guard, MDB_txn *transaction) {
    int result;
    GUARDED(result, (mdb_txn_abort(transaction), 0), damaged(guard, transaction));
    // After the jump the lists of cursors are empty, so the second abort reads no page.
    if (result != 0) GUARDED(result, (mdb_txn_abort(transaction), 0), damaged(guard, transaction));
}

int guarded_txn_commit(struct guarded_environment *guard, MDB_txn *transaction) {
    int result = GUARDED_DAMAGED;
    if (!guarded_is_damaged(guard)) {
        GUARDED(result, mdb_txn_commit(transaction), damaged(guard, transaction));
        if (result != GUARDED_DAMAGED) return result;
    }
    guarded_txn_abort(guard, transaction);
    return result;
}

// MARK: Databases

int guarded_dbi_open(struct guarded_environment *guard, MDB_txn *transaction, const char *name, unsigned flags, MDB_dbi *database) {
    int result;
    GUARDED(result, mdb_dbi_open(transaction, name, flags, database), damaged(guard, transaction));
    return result;
}

int guarded_empty(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    GUARDED(result, mdb_drop(transaction, database, 0), damaged(guard, transaction));
    return result;
}

/// Whether a tree in a map of this size can have this shape; the numbers come from the file.
static bool is_possible(struct guarded_environment *guard, const MDB_stat *tree) {
    enum { DEEPEST = 32, SMALLEST = 10 }; // mdb.c: CURSOR_STACK; the size of a node's header and its offset
    MDB_envinfo info;
    guarded_env_info(guard, &info);
    size_t pages = info.me_mapsize / tree->ms_psize;
    return tree->ms_depth <= DEEPEST && tree->ms_branch_pages <= pages && tree->ms_leaf_pages <= pages
        && tree->ms_overflow_pages <= pages && tree->ms_entries <= info.me_mapsize / SMALLEST;
}

int guarded_stat(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_stat *statistics) {
    int result;
    GUARDED(result, mdb_stat(transaction, database, statistics), damaged(guard, transaction));
    if (result != 0 || is_possible(guard, statistics)) return result;
    return damaged(guard, transaction);
}

// MARK: Records

int guarded_get(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key, MDB_val *value) {
    int result;
    GUARDED(result, mdb_get(transaction, database, key, value), damaged(guard, transaction));
    if (result != 0 || lies_whole(guard, value, transaction == guard->writer)) return result;
    return damaged(guard, transaction);
}

int guarded_put(
    struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key, MDB_val *value, unsigned flags) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    GUARDED(result, mdb_put(transaction, database, key, value, flags), damaged(guard, transaction));
    return result != 0 || has_room(guard, value, flags) ? result : damaged(guard, transaction);
}

int guarded_del(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    GUARDED(result, mdb_del(transaction, database, key, NULL), damaged(guard, transaction));
    return result;
}

// MARK: Cursors

bool guarded_fits(struct guarded_environment *guard, uint64_t records) {
    enum { SMALLEST = 10 }; // mdb.c: the size of a node's header and its offset
    MDB_envinfo info;
    guarded_env_info(guard, &info);
    return records / ((info.me_last_pgno + 1) * guard->page_size / SMALLEST + 1) == 0;
}

int guarded_cursor_open(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_cursor **cursor) {
    int result;
    GUARDED(result, mdb_cursor_open(transaction, database, cursor), damaged(guard, transaction));
    return result;
}

int guarded_cursor_get(
    struct guarded_environment *guard, MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op operation) {
    int result;
    GUARDED(result, mdb_cursor_get(cursor, key, value, operation), damaged_by(guard, cursor));
    if (result != 0) return result;
    bool is_writing = guard->writer && mdb_cursor_txn(cursor) == guard->writer;
    if (lies_whole(guard, value, is_writing) && lies_whole(guard, key, is_writing)) return result;
    return damaged_by(guard, cursor);
}

int guarded_cursor_put(struct guarded_environment *guard, MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned flags) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    GUARDED(result, mdb_cursor_put(cursor, key, value, flags), damaged_by(guard, cursor));
    return result != 0 || has_room(guard, value, flags) ? result : damaged_by(guard, cursor);
}

int guarded_cursor_del(struct guarded_environment *guard, MDB_cursor *cursor) {
    int result;
    if (guarded_is_damaged(guard)) return GUARDED_DAMAGED;
    GUARDED(result, mdb_cursor_del(cursor, 0), damaged_by(guard, cursor));
    return result;
}
