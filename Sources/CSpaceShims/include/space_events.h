// inotify, epoll, eventfd, timerfd and pipe2. They are here because they need _GNU_SOURCE, because their constants are
// enumerators without a usable type, or because (struct epoll_event on x86-64) they are packed, which Swift lays out
// differently. Every function returns a result >= 0 or a negated error number.

#ifndef SPACE_EVENTS_H
#define SPACE_EVENTS_H

#include <stdint.h>

/// Non-blocking, close-on-exec.
int space_inotify_open(void);
int space_inotify_add(int inotify, const char *_Nonnull path, uint32_t mask);
int space_inotify_remove(int inotify, int watch);

int space_epoll_open(void);
int space_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token);
int space_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token);
int space_epoll_remove(int epoll, int descriptor);

/// Waits for at most `milliseconds`, or without limit if that is negative. Fills at most `capacity` elements of both
/// arrays, and returns how many.
int space_epoll_wait(
    int epoll, uint64_t *_Nonnull tokens, uint32_t *_Nonnull events, int capacity, int milliseconds);

/// Non-blocking, close-on-exec, counting from 0.
int space_eventfd_open(void);

/// Non-blocking, close-on-exec, on the monotonic clock, not running.
int space_timerfd_open(void);

/// Sets the timer to expire once, `nanoseconds` from now; 0 stops it. An expiry that was not read is forgotten.
int space_timerfd_set(int timer, int64_t nanoseconds);

/// pipe2(2) with O_CLOEXEC. If the flag were set afterwards, a child that another thread spawns in between would
/// inherit both ends.
int space_pipe(int ends[_Nonnull 2]);

/// read(2), write(2), pread(2) and pwrite(2), retried on EINTR.
int64_t space_read(int descriptor, void *_Nonnull buffer, uint64_t capacity);
int64_t space_write(int descriptor, const void *_Nonnull bytes, uint64_t count);
int64_t space_read_at(int descriptor, void *_Nonnull buffer, uint64_t capacity, int64_t offset);
int64_t space_write_at(int descriptor, const void *_Nonnull bytes, uint64_t count, int64_t offset);

// The constants as numbers of one type.
extern const uint32_t space_in_modify, space_in_attributes;
extern const uint32_t space_in_moved_from, space_in_moved_to, space_in_created, space_in_deleted;
extern const uint32_t space_in_deleted_itself, space_in_moved_itself, space_in_overflow;
extern const uint32_t space_in_ignored, space_in_only_directory, space_in_create_only, space_in_is_directory;
extern const uint32_t space_in_dont_follow;
extern const uint32_t space_epoll_readable, space_epoll_writable, space_epoll_error, space_epoll_hang_up;
extern const uint32_t space_epoll_edge;

#endif
