#define _GNU_SOURCE
#include "space_events.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "result.h"

int space_inotify_open(void) { return space_optional("inotify_init1", space_result(inotify_init1(IN_NONBLOCK | IN_CLOEXEC))); }

int space_inotify_add(int inotify, const char *path, uint32_t mask) {
    return space_result(inotify_add_watch(inotify, path, mask));
}

int space_inotify_remove(int inotify, int watch) { return space_result(inotify_rm_watch(inotify, watch)); }

int space_epoll_open(void) { return space_optional("epoll_create1", space_result(epoll_create1(EPOLL_CLOEXEC))); }

static int control(int epoll, int operation, int descriptor, uint32_t events, uint64_t token) {
    struct epoll_event event = {.events = events, .data.u64 = token};
    return space_optional("epoll_ctl", space_result(epoll_ctl(epoll, operation, descriptor, &event)));
}

int space_epoll_add(int epoll, int descriptor, uint32_t events, uint64_t token) {
    return control(epoll, EPOLL_CTL_ADD, descriptor, events, token);
}

int space_epoll_modify(int epoll, int descriptor, uint32_t events, uint64_t token) {
    return control(epoll, EPOLL_CTL_MOD, descriptor, events, token);
}

int space_epoll_remove(int epoll, int descriptor) { return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0); }

int space_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity, int milliseconds) {
    struct epoll_event ready[64];
    if (capacity > 64) capacity = 64;
    int count = space_optional("epoll_wait", space_result(epoll_wait(epoll, ready, capacity, milliseconds)));
    for (int i = 0; i < count; i++) {
        tokens[i] = ready[i].data.u64;
        events[i] = ready[i].events;
    }
    return count;
}

int space_eventfd_open(void) { return space_optional("eventfd2", space_result(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))); }

int space_timerfd_open(void) {
    return space_optional("timerfd_create", space_result(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)));
}

int space_timerfd_set(int timer, int64_t nanoseconds) {
    struct itimerspec time = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return space_result(timerfd_settime(timer, 0, &time, NULL));
}

int space_pipe(int ends[2]) { return space_result(pipe2(ends, O_CLOEXEC)); }

int64_t space_read(int descriptor, void *buffer, uint64_t capacity) {
    int64_t count = SPACE_RETRYING(read(descriptor, buffer, capacity));
    return count < 0 ? -errno : count;
}

int64_t space_write(int descriptor, const void *bytes, uint64_t count) {
    int64_t written = SPACE_RETRYING(write(descriptor, bytes, count));
    return written < 0 ? -errno : written;
}

int64_t space_read_at(int descriptor, void *buffer, uint64_t capacity, int64_t offset) {
    int64_t count = SPACE_RETRYING(pread(descriptor, buffer, capacity, offset));
    return count < 0 ? -errno : count;
}

int64_t space_write_at(int descriptor, const void *bytes, uint64_t count, int64_t offset) {
    int64_t written = SPACE_RETRYING(pwrite(descriptor, bytes, count, offset));
    return written < 0 ? -errno : written;
}

const uint32_t space_in_modify = IN_MODIFY, space_in_attributes = IN_ATTRIB;
const uint32_t space_in_moved_from = IN_MOVED_FROM, space_in_moved_to = IN_MOVED_TO;
const uint32_t space_in_created = IN_CREATE, space_in_deleted = IN_DELETE;
const uint32_t space_in_deleted_itself = IN_DELETE_SELF, space_in_moved_itself = IN_MOVE_SELF;
const uint32_t space_in_overflow = IN_Q_OVERFLOW, space_in_ignored = IN_IGNORED;
const uint32_t space_in_only_directory = IN_ONLYDIR, space_in_create_only = IN_MASK_CREATE;
const uint32_t space_in_is_directory = IN_ISDIR, space_in_dont_follow = IN_DONT_FOLLOW;
const uint32_t space_epoll_readable = EPOLLIN, space_epoll_writable = EPOLLOUT, space_epoll_error = EPOLLERR;
const uint32_t space_epoll_hang_up = EPOLLHUP, space_epoll_edge = EPOLLET;
