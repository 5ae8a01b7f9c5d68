// liblmdb's calls, each of which returns an error where liblmdb itself would end the process.
//
// liblmdb 0.9 believes the pages of its file. A page that was damaged makes it fail an assertion, which calls abort(3), or follow an
// offset out of the file, which gives SIGSEGV or SIGBUS. Each call here sets a mark of its thread first. liblmdb's assertion handler and
// this library's signal handler jump back to the mark, and the call returns GUARDED_DAMAGED. Between mark and handler lie frames of C
// alone. guard.c has the marks and the handlers, calls.c the calls, bounds.c the check of what liblmdb returns.
//
// After such a jump the environment is damaged for good in this process: no transaction begins, and none is committed.

#ifndef GUARDED_LMDB_H
#define GUARDED_LMDB_H

// By its path: so it is found in the module CLMDB, and its types are not defined a second time.
#include "../../CLMDB/shim.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The code of a call that met a damaged page; liblmdb's own codes end at -30799 and begin at -30780.
#define GUARDED_DAMAGED (-30600)

/// What is known of one environment; lives as long as the process, and is used again after guarded_env_close.
struct guarded_environment;

/// mdb_env_create; installs the signal handlers if this is the process's first. ENOMEM: more than 2,048 are open.
int guarded_env_create(MDB_env **environment, struct guarded_environment **guard);
/// mdb_env_open; the environment is still to be closed if it fails.
int guarded_env_open(struct guarded_environment *guard, const char *path, unsigned flags, unsigned max_databases, unsigned mode);
void guarded_env_close(struct guarded_environment *guard);
/// Zeros, and the environment is marked as damaged, if the meta pages can't be read.
void guarded_env_info(struct guarded_environment *guard, MDB_envinfo *info);
int guarded_env_sync(struct guarded_environment *guard, int force);
/// mdb_env_copyfd2 without flags: a compacting copy has a thread of its own, which no jump may leave behind.
int guarded_env_copyfd(struct guarded_environment *guard, int descriptor);
int guarded_reader_check(struct guarded_environment *guard, int *dead);

/// For tests: failed assertions and faults end the process again.
void guarded_leave_out(void);
/// For tests: a fault inside a call whose mark was written over, or, if `leads_back`, one whose way back faults.
void guarded_fault_with_spoiled_mark(bool leads_back);

/// Whether a damaged page was met in this process.
bool guarded_is_damaged(const struct guarded_environment *guard);
/// Notes that a damaged page was met.
void guarded_mark_damaged(struct guarded_environment *guard);

/// mdb_txn_begin; a write transaction begins on a meta page that liblmdb can work on alone.
int guarded_txn_begin(struct guarded_environment *guard, unsigned flags, MDB_txn **transaction);
/// mdb_txn_renew; says too whether the snapshot is that of the last commit, which a renewal may miss.
int guarded_txn_renew(struct guarded_environment *guard, MDB_txn *transaction, bool *is_newest);
/// mdb_txn_commit; aborts instead if a damaged page was met. The transaction has ended either way.
int guarded_txn_commit(struct guarded_environment *guard, MDB_txn *transaction);
void guarded_txn_abort(struct guarded_environment *guard, MDB_txn *transaction);

int guarded_dbi_open(struct guarded_environment *guard, MDB_txn *transaction, const char *name, unsigned flags, MDB_dbi *database);
int guarded_drop(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, int deletes);
/// mdb_stat; depth and sizes that no tree in the map can have are damage.
int guarded_stat(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_stat *statistics);

// What these return lies whole inside the file's map, or in a page of the transaction's own.
int guarded_get(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key, MDB_val *value);
int guarded_put(
    struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key, MDB_val *value, unsigned flags);
int guarded_del(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key);

/// Whether the committed pages have room for so many records.
bool guarded_fits(struct guarded_environment *guard, uint64_t records);

int guarded_cursor_open(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_cursor **cursor);
int guarded_cursor_renew(struct guarded_environment *guard, MDB_txn *transaction, MDB_cursor *cursor);
int guarded_cursor_get(
    struct guarded_environment *guard, MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op operation);
int guarded_cursor_put(struct guarded_environment *guard, MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned flags);
int guarded_cursor_del(struct guarded_environment *guard, MDB_cursor *cursor);

#endif
