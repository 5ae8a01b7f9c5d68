// Locks, names and blocks of files. They are here because they need _GNU_SOURCE (F_OFD_SETLK, renameat2, O_PATH,
// fallocate), because they are variadic (open, fcntl), or because Swift doesn't import the header (sys/statfs.h). Every
// function returns a result >= 0 or a negated error number.

#ifndef SPACE_FILES_H
#define SPACE_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/// openat(2) with O_CLOEXEC always set; EINTR is retried (a FIFO or a network file system can give it).
int space_openat(int directory, const char *_Nonnull path, int flags, uint32_t mode);

int space_flag_path_only(void); // O_PATH

/// memfd_create(2) with MFD_CLOEXEC: a file in memory that has no name in any folder.
int space_memory_file(const char *_Nonnull name);

/// F_DUPFD_CLOEXEC.
int space_duplicate(int descriptor);
/// Sets or clears FD_CLOEXEC on an open descriptor.
int space_set_close_on_exec(int descriptor, bool close);

/// F_OFD_SETLK. The lock belongs to the open file description, not to the process, so closing another descriptor of the
/// same file doesn't release it (fcntl(2), "Open file description locks"). `length` 0 reaches to the largest offset.
/// `type` is F_WRLCK, F_RDLCK or F_UNLCK. Returns -EAGAIN if another open file holds a conflicting lock.
int space_ofd_set_lock(int descriptor, int16_t type, int64_t start, int64_t length);

/// F_OFD_GETLK: 1 if an exclusive lock would conflict with a lock of another open file, 0 if not. Acquires nothing.
int space_ofd_is_locked(int descriptor, int64_t start, int64_t length);

/// F_OFD_GETLK: 1 if a lock of `type` on the given range would conflict with a lock of another open file, 0 if not.
/// Returns the range of that lock; if there are several, the kernel names any of them. Acquires nothing.
int space_ofd_conflict(int descriptor, int16_t type, int64_t *_Nonnull start, int64_t *_Nonnull length);

/// F_GETLK: 1 if a shared POSIX lock would conflict with an exclusive lock, 0 if not. If so, `holder` is the
/// process that holds the exclusive lock, or -1 if an open file holds it. Acquires nothing.
int space_lock_writer(int descriptor, int64_t start, int64_t length, int32_t *_Nonnull holder);

/// renameat2(2) with RENAME_NOREPLACE: -EEXIST if the target exists. Unlike link-and-unlink it is one step, and works
/// on directories. If the call is refused, a directory is renamed by renameat(2), which replaces only an empty
/// directory.
int space_rename_no_replace(
    int fromDirectory, const char *_Nonnull from, int toDirectory, const char *_Nonnull to);

/// One call of fallocate(2). Never posix_fallocate(3): its fallback writes into every block, and so changes data that
/// other processes map.
int space_allocate(int descriptor, bool keepSize, int64_t offset, int64_t length);

/// fallocate(2) with FALLOC_FL_UNSHARE_RANGE: replaces blocks that the file shares with a copy by blocks of its own.
/// Also returns 0 if the file system has no shared blocks, or doesn't support the call.
int space_unshare_blocks(int descriptor, int64_t length);

struct space_file_info {
    uint64_t device, inode, links, size, allocated;
    uint32_t owner, group;
    uint32_t mode; // with the type bits
};

/// fstatat(2), never following a symbolic link in the last component.
int space_info_at(int directory, const char *_Nonnull name, struct space_file_info *_Nonnull info);
int space_info(int descriptor, struct space_file_info *_Nonnull info);

struct space_file_system {
    uint64_t kind;        // statfs(2) f_type
    uint64_t total, free; // in bytes; an unprivileged process may use the free ones
    uint64_t freeInodes;
    bool unlimited;       // a tmpfs mounted with size=0 counts nothing
    bool inodesUncounted; // a tmpfs mounted with nr_inodes=0, and btrfs
};
int space_file_system(int descriptor, struct space_file_system *_Nonnull result);

/// The entry's name. Swift imports the array as only its first 256 bytes, and copies it at each access.
const char *_Nonnull space_entry_name(const struct dirent *_Nonnull entry);

/// fdopendir(3) on a new open file: the caller's descriptor keeps its offset and stays open.
int space_open_listing(int directory, DIR *_Nullable *_Nonnull stream);

/// readdir(3): returns 1 and the entry, or 0 at the end.
int space_next_entry(DIR *_Nonnull stream, const struct dirent *_Nullable *_Nonnull entry);

/// mmap(2), readable and writable, with MAP_SHARED or, if `copies`, with MAP_PRIVATE.
int space_map(int descriptor, uint64_t length, bool copies, void *_Nullable *_Nonnull address);

/// unix(7), SO_PEERCRED: the process at the other end of a connected socket, and its user; the process is 0 if it is in
/// another PID namespace.
int space_peer(int socket, uint32_t *_Nonnull user, int32_t *_Nonnull process);

#endif
