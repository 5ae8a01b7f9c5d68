// Finds liblmdb's map, and checks whether the bytes that liblmdb returns lie in it.
//
// liblmdb reveals neither the map's address nor the page that a value is in, and it checks none of the sizes in a page.
// So this file searches liblmdb's own structures for the address. It does not rely on offsets, which change between
// versions: it looks for words that are related to each other as no other words there are. If it finds none, no bytes
// are checked, and everything else works.

#include "guard.h"

#include <malloc.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

// mdb.c: a page begins with its number (8 bytes), pad (2), flags (2), and lower and upper (2 each) or the number of
// pages (4).
enum { OVERFLOW_FLAG = 0x04 };

void guard_find_map(struct guarded_environment *guard) {
    const uintptr_t *words = (const uintptr_t *)guard->environment;
    size_t count = malloc_usable_size(guard->environment) / sizeof *words;
    MDB_envinfo info;
    MDB_stat statistics;
    if (mdb_env_info(guard->environment, &info) != 0 || mdb_env_stat(guard->environment, &statistics) != 0) return;
    size_t page_size = statistics.ms_psize;
    if (page_size < 512 || (page_size & (page_size - 1)) != 0) return;
    guard->page_size = page_size;
    for (size_t i = 0; i < count; i++) {
        if (words[i] == 0 || (words[i] & (page_size - 1)) != 0) continue;
        // mdb.c: me_metas[2] lies some words after me_map; its two pointers point behind the headers of the first two
        // pages.
        for (size_t j = i + 1; j + 1 < count; j++) {
            if (words[j] != words[i] + PAGE_HEADER || words[j + 1] != words[j] + page_size) continue;
            atomic_store_explicit(&guard->map_size, info.me_mapsize, memory_order_relaxed);
            atomic_store(&guard->is_map_known, true);
            atomic_store_explicit(&guard->map, words[i], memory_order_release);
            // core(5): a core dump leaves out mappings of files, but it treats the mapping of a deleted file as shared
            // memory. Then the dump would read the whole map page by page, and a memory file system fills every hole
            // that is read.
            madvise((void *)words[i], info.me_mapsize, MADV_DONTDUMP);
            return;
        }
    }
}

void guard_find_cursors(struct guarded_environment *guard, MDB_txn *transaction) {
    enum { MAIN = 1 }; // mdb.c: MAIN_DBI
    MDB_cursor *cursor = NULL;
    if (mdb_cursor_open(transaction, MAIN, &cursor) != 0) return;
    // mdb.c: the transaction's block holds a list of cursors for each database; the new cursor is the only one in them.
    uintptr_t *words = (uintptr_t *)transaction;
    size_t count = malloc_usable_size(transaction) / sizeof *words;
    size_t found = 0, place = 0;
    for (size_t i = MAIN; i < count; i++) {
        if (words[i] != (uintptr_t)cursor) continue;
        found++;
        place = i;
    }
    mdb_cursor_close(cursor);
    if (found != 1 || words[place] != 0 || place - MAIN + guard->database_count > count) return;
    guard->cursors = (MDB_cursor **)&words[place - MAIN];
    guard->writer = transaction;
}

// The words of a write transaction that count its pages (mdb.c: struct MDB_txn, from mt_next_pgno on).
enum { NEXT_PAGE, ID, ENVIRONMENT, FREED, LOOSE, LOOSE_COUNT, SPILLED, DIRTY, PAGE_WORDS };

void guard_find_pages(struct guarded_environment *guard, MDB_txn *transaction) {
    const uintptr_t *words = (const uintptr_t *)transaction;
    size_t count = malloc_usable_size(transaction) / sizeof *words;
    MDB_envinfo info;
    if (mdb_env_info(guard->environment, &info) != 0) return;
    // As the transaction begins, its next page is the one after the last commit's last, and its lists are empty. A list
    // begins with its length.
    for (size_t i = 0; i + PAGE_WORDS <= count; i++) {
        const uintptr_t *found = words + i;
        if (found[NEXT_PAGE] != info.me_last_pgno + 1 || found[ID] != mdb_txn_id(transaction)) continue;
        if (found[ENVIRONMENT] != (uintptr_t)guard->environment) continue;
        if (found[FREED] == 0 || *(const uintptr_t *)found[FREED] != 0) return;
        if (found[LOOSE] != 0 || (uint32_t)found[LOOSE_COUNT] != 0 || found[SPILLED] != 0) return;
        if (found[DIRTY] == 0 || *(const uintptr_t *)found[DIRTY] != 0) return;
        guard->pages = found;
        return;
    }
}

bool guarded_count_pages(struct guarded_environment *guard, MDB_txn *transaction, struct guarded_pages *counted) {
    const uintptr_t *pages = guard->pages;
    if (!pages || transaction != guard->writer || pages[ID] != mdb_txn_id(transaction)) return false;
    counted->next = pages[NEXT_PAGE];
    counted->freed = *(const uintptr_t *)pages[FREED];
    // A page that was spilled and is used again is in both lists.
    counted->taken = *(const uintptr_t *)pages[DIRTY] + (pages[SPILLED] ? *(const uintptr_t *)pages[SPILLED] : 0);
    return true;
}

/// Reads how many bytes of the map the file backs now.
static size_t measure(struct guarded_environment *guard, size_t map_size) {
    struct stat status;
    if (fstat(guard->descriptor, &status) != 0 || status.st_size < 0) return 0;
    size_t known = (size_t)status.st_size < map_size ? (size_t)status.st_size : map_size;
    atomic_store_explicit(&guard->known, known, memory_order_relaxed);
    return known;
}

/// Whether the value at `start` is the content of an overflow page that has enough pages for `size` bytes, and not more
/// than `most`.
///
/// liblmdb puts each page on a list when the value is removed, as many as the page says: with a number beyond all bounds
/// it would fill the memory.
static bool fills_overflow_page(struct guarded_environment *guard, const char *start, size_t size, size_t most) {
    const char *page = start - PAGE_HEADER;
    uint16_t flags;
    uint32_t pages;
    memcpy(&flags, page + 10, sizeof flags);
    memcpy(&pages, page + 12, sizeof pages);
    if ((flags & OVERFLOW_FLAG) == 0 || pages == 0 || pages > most) return false;
    return size <= pages * guard->page_size - PAGE_HEADER;
}

bool guard_lies_whole_slowly(struct guarded_environment *guard, const MDB_val *bytes, bool is_writing) {
    uintptr_t map = atomic_load_explicit(&guard->map, memory_order_acquire);
    if (map == 0 || bytes->mv_size == 0) return true;
    size_t map_size = atomic_load_explicit(&guard->map_size, memory_order_relaxed);
    size_t size = bytes->mv_size, offset = (uintptr_t)bytes->mv_data - map, page_size = guard->page_size;
    if (offset >= map_size) {
        // Only pages that this transaction has copied or made lie outside the map.
        if (!is_writing || guard->writes_map) return false;
        return size <= page_size || fills_overflow_page(guard, bytes->mv_data, size, map_size / page_size);
    }
    size_t known = atomic_load_explicit(&guard->known, memory_order_relaxed);
    if (size > known || offset > known - size) {
        known = measure(guard, map_size);
        if (size > known || offset > known - size) return false;
    }
    size_t within = offset & (page_size - 1);
    if (within != PAGE_HEADER) return within + size <= page_size;
    // The last commit's pages are in the file.
    if (fills_overflow_page(guard, bytes->mv_data, size, (known - offset) / page_size + 1)) return true;
    known = measure(guard, map_size);
    return known > offset && fills_overflow_page(guard, bytes->mv_data, size, (known - offset) / page_size + 1);
}
