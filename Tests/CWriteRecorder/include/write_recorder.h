#ifndef WRITE_RECORDER_H
#define WRITE_RECORDER_H

#include <stdint.h>

// Records the writes of this process to one file, and its syncs, in the order of the calls.
//
// The program that links this defines pwrite, writev and fdatasync itself, and the dynamic linker gives shared
// libraries the program's definitions before libc's (ld.so(8)): so the recorder sees the calls of liblmdb. A record is
// one byte for the kind ('w' written, 's' synced, 'm' a mark), eight for the offset or the mark, four for the length,
// then the bytes written.

/// Begins to record the writes to the file at `path`, into `log`.
///
/// Returns: 0, or an errno.
int write_recorder_begin(const char *path, const char *log);

/// Puts a mark between earlier and later writes.
void write_recorder_mark(uint64_t mark);

/// How many calls were seen, so that the recorder itself can be checked.
uint64_t write_recorder_calls(void);

#endif
