// The declarations that the files of this library share: an environment's guard, and the mark that a call sets.

#ifndef GUARD_H
#define GUARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "guarded_lmdb.h"

struct guarded_environment {
    MDB_env *environment;
    atomic_bool is_used;
    atomic_bool is_damaged;
    /// The map's address, as found in liblmdb's own structure. If it is 0 (not found, or closed), no bytes are checked
    /// against the map.
    _Atomic uintptr_t map;
    /// Whether the map's address was found; it stays so once the environment is closed.
    atomic_bool is_map_known;
    _Atomic size_t map_size;
    /// How many bytes of the map the file backed when its size was last read.
    _Atomic size_t known;
    size_t page_size;
    int descriptor;
    bool writes_map;
    unsigned database_count;
    /// liblmdb's one write transaction and its lists of cursors; NULL until the first write transaction began.
    MDB_txn *writer;
    MDB_cursor **cursors;
    /// Where the write transaction counts its pages; NULL if that was not found.
    const uintptr_t *pages;
};

/// The place to which a jump leads if liblmdb meets a damaged page in a guarded call.
///
/// setjmp(3) of the C library takes about 10 ns, the compiler's built-in one 1 ns. But the sanitizers follow only the
/// former, and not every processor has the latter, which is therefore used only on x86-64. Neither saves the signal
/// mask, which is right because the handlers block no signal.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define GUARD_USES_LIBC 1
#endif
#endif
#if !defined(__x86_64__)
#define GUARD_USES_LIBC 1
#endif

#ifdef GUARD_USES_LIBC
#include <setjmp.h>
typedef jmp_buf guard_buffer;
#define GUARD_SET(buffer) _setjmp(buffer)
#define GUARD_JUMP(buffer) longjmp(buffer, 1)
#else
typedef void *guard_buffer[5];
#define GUARD_SET(buffer) __builtin_setjmp(buffer)
#define GUARD_JUMP(buffer) __builtin_longjmp(buffer, 1)
#endif

struct guard_mark {
    struct guard_mark *previous;
    guard_buffer buffer;
};

/// The thread's mark, or NULL outside guarded calls. With the initial-exec model reading it calls no function, so a
/// signal handler may read it.
extern _Thread_local struct guard_mark *volatile guard_current __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Runs a call of liblmdb; sets `result` to the value of `call` or, after a jump, to the value of `otherwise`.
#define GUARDED(result, call, otherwise)                                                                                         \
    do {                                                                                                                         \
        struct guard_mark mark;                                                                                                  \
        mark.previous = guard_current;                                                                                           \
        if (GUARD_SET(mark.buffer) == 0) {                                                                                       \
            guard_current = &mark;                                                                                               \
            (result) = (call);                                                                                                   \
            guard_current = mark.previous;                                                                                       \
        } else {                                                                                                                 \
            guard_current = mark.previous;                                                                                       \
            (result) = (otherwise);                                                                                              \
        }                                                                                                                        \
    } while (0)

/// Installs the handlers for SIGSEGV and SIGBUS, once per process.
void guard_install_handlers(void);
/// liblmdb's assertion handler.
void guard_assertion_failed(MDB_env *environment, const char *message);

/// The guards of this process, used and unused.
enum { GUARD_ENVIRONMENTS = 2048 };
extern struct guarded_environment guard_environments[GUARD_ENVIRONMENTS] __attribute__((visibility("hidden")));

/// The size of a page's header.
enum { PAGE_HEADER = 16 };

/// Finds the map's address in liblmdb's structure.
void guard_find_map(struct guarded_environment *guard);
/// Finds the lists of cursors in a write transaction; a read transaction has none.
void guard_find_cursors(struct guarded_environment *guard, MDB_txn *transaction);
/// Finds where a write transaction that has just begun counts its pages.
void guard_find_pages(struct guarded_environment *guard, MDB_txn *transaction);
/// Whether the bytes that liblmdb returned lie completely in a place where a value or key can lie.
bool guard_lies_whole_slowly(struct guarded_environment *guard, const MDB_val *bytes, bool is_writing);

#endif
