#define _GNU_SOURCE
#include "write_recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_fd = -1;
static dev_t device;
static ino_t inode;
static uint64_t calls;

// Makes the system call itself, because libc's functions of these names are replaced here.
static void put(const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        long written = syscall(SYS_write, log_fd, next, count);
        if (written < 0 && errno == EINTR) continue;
        // A log with a hole would prove nothing.
        if (written <= 0) abort();
        next += written;
        count -= (size_t)written;
    }
}

static void put_record(char kind, uint64_t number, const void *bytes, size_t count) {
    char header[13];
    uint32_t length = (uint32_t)count;
    header[0] = kind;
    memcpy(header + 1, &number, 8);
    memcpy(header + 9, &length, 4);
    put(header, sizeof header);
    put(bytes, count);
}

static int is_recorded(int fd) {
    struct stat info;
    return log_fd >= 0 && fstat(fd, &info) == 0 && info.st_dev == device && info.st_ino == inode;
}

int write_recorder_begin(const char *path, const char *log) {
    struct stat info;
    if (stat(path, &info) != 0) return errno;
    device = info.st_dev;
    inode = info.st_ino;
    int fd = open(log, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) return errno;
    log_fd = fd;
    return 0;
}

void write_recorder_mark(uint64_t mark) {
    pthread_mutex_lock(&lock);
    put_record('m', mark, NULL, 0);
    pthread_mutex_unlock(&lock);
}

uint64_t write_recorder_calls(void) { return calls; }

// The lock is held from the call to the record, so that the records are in the order of the writes.

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    if (!is_recorded(fd)) return syscall(SYS_pwrite64, fd, bytes, count, offset);
    pthread_mutex_lock(&lock);
    ssize_t written = syscall(SYS_pwrite64, fd, bytes, count, offset);
    int error = errno;
    if (written > 0) put_record('w', (uint64_t)offset, bytes, (size_t)written);
    calls++;
    pthread_mutex_unlock(&lock);
    errno = error;
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    if (!is_recorded(fd)) return syscall(SYS_writev, fd, parts, count);
    pthread_mutex_lock(&lock);
    off_t offset = lseek(fd, 0, SEEK_CUR);
    ssize_t written = syscall(SYS_writev, fd, parts, count);
    int error = errno;
    size_t left = written > 0 ? (size_t)written : 0;
    for (int index = 0; index < count && left > 0; index++) {
        size_t length = parts[index].iov_len < left ? parts[index].iov_len : left;
        put_record('w', (uint64_t)offset, parts[index].iov_base, length);
        offset += (off_t)length;
        left -= length;
    }
    calls++;
    pthread_mutex_unlock(&lock);
    errno = error;
    return written;
}

int fdatasync(int fd) {
    if (!is_recorded(fd)) return (int)syscall(SYS_fdatasync, fd);
    pthread_mutex_lock(&lock);
    int result = (int)syscall(SYS_fdatasync, fd);
    int error = errno;
    if (result == 0) put_record('s', 0, NULL, 0);
    calls++;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
