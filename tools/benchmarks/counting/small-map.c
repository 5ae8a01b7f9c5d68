// Preloaded under valgrind, which has no room for a namespace's 64 GiB of addresses: maps at most 4 GiB of any file.
//
// The counted works stay far below; LMDB itself goes by its map's full size.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <sys/types.h>

static const size_t most = (size_t)4 << 30;

void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
    return real(address, size < most ? size : most, protection, flags, file, offset);
}
