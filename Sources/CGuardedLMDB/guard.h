// What the files of this library share: an environment's state, and the mark that a call sets.

#ifndef GUARD_H
#define GUARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "guarded_lmdb.h"

struct guarded_environment {
    MDB_env *environment;
    atomic_bool is_used;
    atomic_bool is_damaged;
    /// The map, as found in liblmdb's own structure; 0: not found, and then nothing is checked against it.
    _Atomic uintptr_t map;
    _Atomic size_t map_size;
    /// How many bytes of the map the file was last seen to have.
    _Atomic size_t known;
    size_t page_size;
    int descriptor;
    bool writes_map;
    unsigned database_count;
    /// liblmdb's one write transaction, and its lists of cursors; NULL until the first began.
    MDB_txn *writer;
    MDB_cursor **cursors;
};

/// Where a thread's guarded call goes on if liblmdb meets a damaged page.
///
/// setjmp(3) of the C library takes some 10 ns, the compiler's built-in one 1 ns. The thread sanitizer follows the former alone, and
/// not every processor has the latter. Neither saves the signal mask: the handlers block no signal.
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

/// The thread's mark; NULL outside guarded calls. Initial-exec: reading it calls nothing, so a signal handler may.
extern _Thread_local struct guard_mark *volatile guard_current __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Runs a call of liblmdb's; `result` is what it returns, or what `otherwise` gives after a jump.
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

/// Installs the handlers for SIGSEGV and SIGBUS, once in a process.
void guard_install_handlers(void);
/// liblmdb's assertion handler.
void guard_assertion_failed(MDB_env *environment, const char *message);

/// The environments of this process, used or not.
enum { GUARD_ENVIRONMENTS = 2048 };
extern struct guarded_environment guard_environments[GUARD_ENVIRONMENTS] __attribute__((visibility("hidden")));

/// Finds the map in liblmdb's structure.
void guard_find_map(struct guarded_environment *guard);
/// Finds the write transaction's lists of cursors, which only a write transaction shows.
void guard_find_cursors(struct guarded_environment *guard, MDB_txn *transaction);
/// Whether bytes that liblmdb returned lie where they can.
bool guard_lies_whole_slowly(struct guarded_environment *guard, const MDB_val *bytes, bool is_writing);

#endif
