// futex(2): glibc has no wrapper for it, and Swift can't call the variadic syscall(2).
// Like every function of this module that can fail, these return a negated error number instead of setting errno,
// which another call might overwrite before Swift reads it.

#ifndef SPACE_FUTEX_H
#define SPACE_FUTEX_H

#include <stdint.h>

/// Sleeps while `*word == expected`, for at most `nanoseconds` on CLOCK_MONOTONIC; negative: without limit.
///
/// Shared, not FUTEX_PRIVATE_FLAG: the word is found by file and offset, so the waker may be another process.
/// Returns 0 when woken, else -EAGAIN (the word differed), -EINTR, -ETIMEDOUT or another error.
int space_futex_wait(const uint32_t *_Nonnull word, uint32_t expected, int64_t nanoseconds);

/// The same with an absolute CLOCK_MONOTONIC deadline in nanoseconds, so that a loop of spurious wake-ups doesn't drift.
int space_futex_wait_until(const uint32_t *_Nonnull word, uint32_t expected, int64_t deadline);

/// Wakes at most `count` sleepers; returns how many, or a negated error number.
int space_futex_wake(uint32_t *_Nonnull word, int count);

#endif
