// The one convention of these functions: a system call's result, or the negated error number.

#ifndef SPACE_RESULT_H
#define SPACE_RESULT_H

#include <errno.h>
#include <stdint.h>

static inline int space_result(long result) {
    return result < 0 ? -errno : (int)result;
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
