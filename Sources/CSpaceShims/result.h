// The convention of all these functions: they return a system call's result, or the negated error number.

#ifndef SPACE_RESULT_H
#define SPACE_RESULT_H

#include <errno.h>
#include <stdint.h>

static inline int space_result(long result) {
    return result < 0 ? -errno : (int)result;
}

/// The last system call that was refused on this thread.
extern _Thread_local const char *space_refused_name;

/// The result of a system call that a container's seccomp profile may refuse.
///
/// Docker's profiles return EPERM, others ENOSYS. The calls for which this function is used never return EPERM for
/// another reason. So both errors become ENOSYS, and the call's name is noted.
static inline int space_optional(const char *call, int result) {
    if (result != -EPERM && result != -ENOSYS) return result;
    space_refused_name = call;
    return -ENOSYS;
}

#define SPACE_RETRYING(call)                                                                                           \
    ({                                                                                                                 \
        long retried;                                                                                                  \
        do {                                                                                                           \
            retried = (call);                                                                                          \
        } while (retried < 0 && errno == EINTR);                                                                       \
        retried;                                                                                                       \
    })

#endif
