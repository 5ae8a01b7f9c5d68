// Locks, names and blocks of files. Here because of _GNU_SOURCE (F_OFD_SETLK, renameat2, O_PATH, fallocate), because
// they are variadic (open, fcntl), or because Swift doesn't import the header (sys/statfs.h).
// Every function returns a result >= 0 or a negated error number.

#ifndef SPACE_FILES_H
#define SPACE_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>

/// openat(2) with O_CLOEXEC always set; EINTR is retried (a FIFO or a network file system can give it).
int space_openat(int directory, const char *_Nonnull path, int flags, uint32_t mode);

int space_flag_path_only(void); // O_PATH

/// F_DUPFD_CLOEXEC, and FD_CLOEXEC on an open descriptor.
int space_duplicate(int descriptor);
int space_set_close_on_exec(int descriptor, bool close);

/// F_OFD_SETLK: the lock belongs to the open file description, not to the process, so closing some other descriptor of
/// the same file doesn't drop it (fcntl(2), "Open file description locks"). `length` 0 reaches to infinity.
/// `type` is F_WRLCK, F_RDLCK or F_UNLCK. Returns -EAGAIN when somebody else holds a conflicting one.
int space_ofd_set_lock(int descriptor, int16_t type, int64_t start, int64_t length);

/// F_OFD_GETLK: 1 if an exclusive lock would conflict with somebody else's, 0 if not. Acquires nothing.
int space_ofd_is_locked(int descriptor, int64_t start, int64_t length);

/// F_OFD_GETLK: 1 and the range of a lock of another open file that conflicts with one of `type` on the given range, 0 if
/// there is none. The kernel names any such lock, not the first. Acquires nothing.
int space_ofd_conflict(int descriptor, int16_t type, int64_t *_Nonnull start, int64_t *_Nonnull length);

/// F_GETLK: 1 if a shared POSIX lock would conflict with another process's exclusive one, and names that process (-1: a lock of
/// an open file), 0 if not. Acquires nothing.
int space_lock_writer(int descriptor, int64_t start, int64_t length, int32_t *_Nonnull holder);

/// renameat2(2) with RENAME_NOREPLACE: -EEXIST when the target exists. One step, unlike link-and-unlink, and it works on
/// directories. Where the call is refused a directory is renamed by renameat(2), which replaces nothing but an empty one.
int space_rename_no_replace(
    int fromDirectory, const char *_Nonnull from, int toDirectory, const char *_Nonnull to);

/// fallocate(2), one call; never posix_fallocate(3), whose fallback writes into every block and so changes data that
/// others map.
int space_allocate(int descriptor, bool keepSize, int64_t offset, int64_t length);

/// fallocate(2) with FALLOC_FL_UNSHARE_RANGE: gives the file blocks of its own where it shares some with a copy; 0 too where the
/// file system has no such blocks, or no such call.
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
    uint64_t total, free; // bytes; free: what an unprivileged process may use
    uint64_t freeInodes;
    bool unlimited;       // a tmpfs mounted with size=0 counts nothing
    bool inodesUncounted; // as with nr_inodes=0, and btrfs
};
int space_file_system(int descriptor, struct space_file_system *_Nonnull result);

/// The entry's name: a flexible array in Swift's eyes is only its first 256 bytes, copied at each look.
const char *_Nonnull space_entry_name(const struct dirent *_Nonnull entry);

/// fdopendir(3) on a fresh open file of its own: the caller's descriptor keeps its offset and stays open.
int space_open_listing(int directory, DIR *_Nullable *_Nonnull stream);

/// readdir(3): 1 and the entry, 0 at the end.
int space_next_entry(DIR *_Nonnull stream, const struct dirent *_Nullable *_Nonnull entry);

/// mmap(2), readable and writable; MAP_SHARED, or, if `copies`, MAP_PRIVATE.
int space_map(int descriptor, uint64_t length, bool copies, void *_Nullable *_Nonnull address);

#endif
