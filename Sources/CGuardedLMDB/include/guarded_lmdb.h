// liblmdb's calls, guarded: on a damaged page they return an error where liblmdb itself would end the process.
//
// liblmdb 0.9 trusts the pages of its file. On a damaged page it fails an assertion, which calls abort(3), or follows
// an offset out of the file, which raises SIGSEGV or SIGBUS. Each call here first sets a mark for its thread. liblmdb's
// assertion handler and this library's signal handler jump back to the mark, and the call returns GUARDED_DAMAGED. The
// jump skips only frames of C. guard.c contains the marks and the handlers, calls.c the calls, and bounds.c the check
// of the bytes that liblmdb returns.
//
// After such a jump the environment is damaged for good in this process: no transaction begins or commits there any
// more.

#ifndef GUARDED_LMDB_H
#define GUARDED_LMDB_H

// Included by its path, so that clang finds it in the module CLMDB and does not define its types a second time.
#include "../../CLMDB/shim.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The code of a call that met a damaged page; liblmdb's own codes end at -30799 and begin at -30780.
#define GUARDED_DAMAGED (-30600)

/// The guard of one environment. It lives as long as the process, and another environment may use it after
/// guarded_env_release.
struct guarded_environment;

/// mdb_env_create; also installs the signal handlers at the process's first call. Returns ENOMEM if 2,048 environments
/// are open.
int guarded_env_create(MDB_env **environment, struct guarded_environment **guard);
/// mdb_env_open; if it fails, the caller must still close the environment.
int guarded_env_open(struct guarded_environment *guard, const char *path, unsigned flags, unsigned max_databases, unsigned mode);
void guarded_env_close(struct guarded_environment *guard);
/// Gives the guard of a closed environment back; no thread may use it any more.
void guarded_env_release(struct guarded_environment *guard);
/// The number of the last commit, read from the map alone; 0 if the environment is closed or the meta pages can't be read.
///
/// If guarded_knows_map, another thread may close the environment meanwhile: then the result may be any number.
size_t guarded_last_commit(struct guarded_environment *guard);
/// Whether the map's address is known, or was known before the environment was closed.
bool guarded_knows_map(const struct guarded_environment *guard);
/// mdb_env_info; if the meta pages can't be read, it fills `info` with zeros and marks the environment as damaged.
void guarded_env_info(struct guarded_environment *guard, MDB_envinfo *info);
int guarded_env_sync(struct guarded_environment *guard, int force);
/// mdb_reader_check; MDB_BAD_RSLOT if the lock file says that it has more readers than it can have.
int guarded_reader_check(struct guarded_environment *guard, int *dead);
/// mdb_reader_list, with the same error; `tell` is not guarded.
int guarded_reader_list(struct guarded_environment *guard, MDB_msg_func *tell, void *context);

/// For tests: makes failed assertions and faults end the process again.
void guarded_leave_out(void);
/// For tests: raises a fault inside a call whose mark was overwritten or, if `leads_back`, whose jump back faults.
void guarded_fault_with_spoiled_mark(bool leads_back);

/// Whether this process has met a damaged page of the environment.
bool guarded_is_damaged(const struct guarded_environment *guard);
/// Notes that this process has met a damaged page.
void guarded_mark_damaged(struct guarded_environment *guard);

/// mdb_txn_begin; a write transaction begins only if liblmdb can work on its meta page.
int guarded_txn_begin(struct guarded_environment *guard, unsigned flags, MDB_txn **transaction);
/// mdb_txn_renew; also sets `is_newest` to whether the snapshot is the last commit's, which a renewal may miss.
int guarded_txn_renew(struct guarded_environment *guard, MDB_txn *transaction, bool *is_newest);
/// mdb_txn_commit; if the process has met a damaged page, it aborts instead. Either way the transaction has ended.
int guarded_txn_commit(struct guarded_environment *guard, MDB_txn *transaction);
void guarded_txn_abort(struct guarded_environment *guard, MDB_txn *transaction);

/// What a write transaction has done with pages so far.
struct guarded_pages {
    /// The first page that neither a commit nor this transaction has used.
    size_t next;
    /// How many pages of the last commit it no longer uses.
    size_t freed;
    /// How many times it has taken pages, for a page of a tree or for a value; it may be too high, never too low, except
    /// that it does not count values which were freed again.
    size_t taken;
};
/// Reads that from the transaction; false if liblmdb's structure is not the known one.
bool guarded_count_pages(struct guarded_environment *guard, MDB_txn *transaction, struct guarded_pages *counted);

int guarded_dbi_open(struct guarded_environment *guard, MDB_txn *transaction, const char *name, unsigned flags, MDB_dbi *database);
/// mdb_drop with 0.
int guarded_empty(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database);
/// mdb_stat; returns GUARDED_DAMAGED if no tree in the map can have this depth or these sizes.
int guarded_stat(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_stat *statistics);

// The bytes that these calls return lie completely in the file's map, or in a page that the transaction has copied or
// made.
int guarded_get(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key, MDB_val *value);
int guarded_put(
    struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key, MDB_val *value, unsigned flags);
int guarded_del(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_val *key);

/// Whether the committed pages have room for this number of records.
bool guarded_fits(struct guarded_environment *guard, uint64_t records);

int guarded_cursor_open(struct guarded_environment *guard, MDB_txn *transaction, MDB_dbi database, MDB_cursor **cursor);
int guarded_cursor_get(
    struct guarded_environment *guard, MDB_cursor *cursor, MDB_val *key, MDB_val *value, MDB_cursor_op operation);
int guarded_cursor_put(struct guarded_environment *guard, MDB_cursor *cursor, MDB_val *key, MDB_val *value, unsigned flags);
int guarded_cursor_del(struct guarded_environment *guard, MDB_cursor *cursor);

#endif
