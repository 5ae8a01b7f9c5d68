// futex(2). It is here because glibc has no wrapper for it, and Swift can't call the variadic syscall(2). Like every
// function of this module that can fail, these return a negated error number: another call could overwrite errno before
// Swift reads it.

#ifndef SPACE_FUTEX_H
#define SPACE_FUTEX_H

#include <stdint.h>

/// Sleeps while `*word == expected`, for at most `nanoseconds` on CLOCK_MONOTONIC, or without limit if that is
/// negative.
///
/// FUTEX_PRIVATE_FLAG is not set, so the kernel identifies the word by file and offset, and the waker may be another
/// process. Returns 0 if woken, else -EAGAIN (the word differed), -EINTR, -ETIMEDOUT or another error.
int space_futex_wait(const uint32_t *_Nonnull word, uint32_t expected, int64_t nanoseconds);

/// The same with an absolute deadline in nanoseconds of CLOCK_MONOTONIC, so that repeated spurious wake-ups don't
/// prolong the wait.
int space_futex_wait_until(const uint32_t *_Nonnull word, uint32_t expected, int64_t deadline);

/// Wakes at most `count` sleepers; returns how many, or a negated error number.
int space_futex_wake(uint32_t *_Nonnull word, int count);

#endif
