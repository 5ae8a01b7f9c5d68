#define _GNU_SOURCE
#include "space_files.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "result.h"

_Static_assert(sizeof(off_t) == 8, "offsets must be 64 bits wide");

int space_openat(int directory, const char *path, int flags, uint32_t mode) {
    return space_result(SPACE_RETRYING(openat(directory, path, flags | O_CLOEXEC, (mode_t)mode)));
}

int space_flag_path_only(void) { return O_PATH; }

int space_memory_file(const char *name) { return space_result(memfd_create(name, MFD_CLOEXEC)); }

int space_duplicate(int descriptor) { return space_result(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)); }

int space_set_close_on_exec(int descriptor, bool close) {
    return space_result(fcntl(descriptor, F_SETFD, close ? FD_CLOEXEC : 0));
}

static struct flock range(int16_t type, int64_t start, int64_t length) {
    // fcntl(2): l_pid must be 0 in the request of an open-file-description lock.
    return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = length, .l_pid = 0};
}

int space_ofd_set_lock(int descriptor, int16_t type, int64_t start, int64_t length) {
    struct flock lock = range(type, start, length);
    int result = space_result(SPACE_RETRYING(fcntl(descriptor, F_OFD_SETLK, &lock)));
    // fcntl(2): a conflict is EACCES or EAGAIN.
    return result == -EACCES ? -EAGAIN : result;
}

int space_ofd_is_locked(int descriptor, int64_t start, int64_t length) {
    struct flock lock = range(F_WRLCK, start, length);
    int result = space_result(SPACE_RETRYING(fcntl(descriptor, F_OFD_GETLK, &lock)));
    return result < 0 ? result : lock.l_type != F_UNLCK;
}

int space_ofd_conflict(int descriptor, int16_t type, int64_t *start, int64_t *length) {
    struct flock lock = range(type, *start, *length);
    int result = space_result(SPACE_RETRYING(fcntl(descriptor, F_OFD_GETLK, &lock)));
    if (result < 0 || lock.l_type == F_UNLCK) return result < 0 ? result : 0;
    *start = lock.l_start;
    *length = lock.l_len;
    return 1;
}

int space_lock_writer(int descriptor, int64_t start, int64_t length, int32_t *holder) {
    struct flock lock = range(F_RDLCK, start, length);
    int result = space_result(SPACE_RETRYING(fcntl(descriptor, F_GETLK, &lock)));
    if (result < 0) return result;
    *holder = lock.l_pid;
    return lock.l_type != F_UNLCK;
}

int space_rename_no_replace(int fromDirectory, const char *from, int toDirectory, const char *to) {
    int result = space_result(renameat2(fromDirectory, from, toDirectory, to, RENAME_NOREPLACE));
    // If the kernel doesn't know the call, glibc returns EINVAL, and so does a file system that doesn't support it.
    if (result != -EPERM && result != -ENOSYS && result != -EINVAL) return result;
    struct stat status;
    if (fstatat(fromDirectory, from, &status, AT_SYMLINK_NOFOLLOW) < 0) return -errno;
    if (!S_ISDIR(status.st_mode)) return space_optional("renameat2", result);
    result = space_result(renameat(fromDirectory, from, toDirectory, to));
    // rename(2): with ENOTEMPTY or EEXIST the target is a directory that is not empty, with ENOTDIR it is not a
    // directory.
    return result == -ENOTEMPTY || result == -ENOTDIR ? -EEXIST : result;
}

int space_allocate(int descriptor, bool keepSize, int64_t offset, int64_t length) {
    return space_optional(
        "fallocate", space_result(fallocate(descriptor, keepSize ? FALLOC_FL_KEEP_SIZE : 0, offset, length)));
}

int space_unshare_blocks(int descriptor, int64_t length) {
    int result = space_result(fallocate(descriptor, FALLOC_FL_UNSHARE_RANGE, 0, length));
    return result == -ENOSPC || result == -EDQUOT || result == -EIO ? result : 0;
}

static void describe(const struct stat *status, struct space_file_info *info) {
    *info = (struct space_file_info){
        .device = status->st_dev,
        .inode = status->st_ino,
        .links = status->st_nlink,
        .size = (uint64_t)status->st_size,
        .allocated = (uint64_t)status->st_blocks * 512, // stat(2): st_blocks counts 512-byte units
        .owner = status->st_uid,
        .group = status->st_gid,
        .mode = status->st_mode,
    };
}

int space_info_at(int directory, const char *name, struct space_file_info *info) {
    struct stat status;
    int result = space_result(fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW));
    if (result == 0) describe(&status, info);
    return result;
}

int space_info(int descriptor, struct space_file_info *info) {
    struct stat status;
    int result = space_result(fstat(descriptor, &status));
    if (result == 0) describe(&status, info);
    return result;
}

int space_file_system(int descriptor, struct space_file_system *answer) {
    struct statfs status;
    int result = space_optional("fstatfs", space_result(SPACE_RETRYING(fstatfs(descriptor, &status))));
    if (result < 0) return result;
    // statfs(2): a kernel that doesn't fill f_frsize leaves it 0 and counts blocks in f_bsize.
    uint64_t unit = status.f_frsize > 0 ? (uint64_t)status.f_frsize : (uint64_t)status.f_bsize;
    bool overflow = __builtin_mul_overflow((uint64_t)status.f_blocks, unit, &answer->total);
    overflow |= __builtin_mul_overflow((uint64_t)status.f_bavail, unit, &answer->free);
    if (overflow) return -EOVERFLOW;
    answer->kind = (uint64_t)(uint32_t)status.f_type;
    answer->freeInodes = status.f_ffree;
    answer->unlimited = status.f_blocks == 0;
    answer->inodesUncounted = status.f_files == 0;
    return 0;
}

const char *space_entry_name(const struct dirent *entry) { return entry->d_name; }

int space_open_listing(int directory, DIR **stream) {
    int own = space_openat(directory, ".", O_RDONLY | O_DIRECTORY, 0);
    if (own < 0) return own;
    *stream = fdopendir(own);
    if (*stream) return 0;
    int error = errno;
    close(own);
    return -error;
}

int space_next_entry(DIR *stream, const struct dirent **entry) {
    errno = 0; // readdir(3): NULL means the end or an error; only errno tells which
    *entry = readdir(stream);
    if (*entry) return 1;
    return -errno;
}

int space_map(int descriptor, uint64_t length, bool copies, void **address) {
    int flags = copies ? MAP_PRIVATE : MAP_SHARED;
    void *mapped = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (mapped == MAP_FAILED) return -errno;
    *address = mapped;
    return 0;
}

int space_peer(int socket, uint32_t *user, int32_t *process) {
    struct ucred credentials;
    socklen_t size = sizeof credentials;
    int result = space_result(getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size));
    if (result == 0) {
        *user = credentials.uid;
        *process = credentials.pid;
    }
    return result;
}
