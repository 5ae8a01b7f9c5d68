// A mutex in a mapped file, shared by processes that may be killed or stopped while they hold it.
//
// pthread_mutex_t is a union that Swift imports badly, PTHREAD_MUTEX_ROBUST and pthread_mutex_clocklock(3) need
// _GNU_SOURCE, and locking must not depend on how Swift imports the type's layout. So a mutex is a pointer to bytes
// here. Every function returns 0 or a negated error number.

#ifndef SPACE_MUTEX_H
#define SPACE_MUTEX_H

#include <stddef.h>
#include <stdint.h>

/// sizeof(pthread_mutex_t) and its alignment.
size_t space_mutex_size(void);
size_t space_mutex_alignment(void);

/// The C library whose layout and algorithm the mutex has: 1 is glibc.
uint32_t space_mutex_library(void);

/// Makes a robust, process-shared, error-checking mutex. No other thread may use the memory as a mutex meanwhile.
int space_mutex_initialise(void *_Nonnull mutex);

/// Returns -ETIMEDOUT if another thread holds the mutex, -EOWNERDEAD if it was acquired and the previous holder died,
/// -EDEADLK if this thread holds it.
int space_mutex_trylock(void *_Nonnull mutex);

/// Like trylock, but waits until `deadline`, in nanoseconds of CLOCK_MONOTONIC, before it returns -ETIMEDOUT.
///
/// It does not use pthread_mutex_timedlock(3), whose deadline is on CLOCK_REALTIME: setting the date would lengthen or
/// shorten the wait.
int space_mutex_lock_until(void *_Nonnull mutex, int64_t deadline);

/// The thread that holds the mutex, 0 if none does. The futex word of a robust mutex names the holder from the first
/// instant to the last.
int32_t space_mutex_owner(const void *_Nonnull mutex);

/// Does for a thread that no longer exists what the kernel does for a dying thread (robust-futex-ABI): the next thread
/// that locks the mutex learns of the death. Returns 1, or 0 if that thread doesn't hold the mutex.
int space_mutex_abandon(void *_Nonnull mutex, int32_t thread);

/// Whether the memory holds a robust, process-shared mutex of the default type, as LMDB makes its own; 1 or 0.
int space_mutex_is_robust_shared(const void *_Nonnull mutex);

int space_mutex_mark_consistent(void *_Nonnull mutex);
int space_mutex_unlock(void *_Nonnull mutex);

#endif
