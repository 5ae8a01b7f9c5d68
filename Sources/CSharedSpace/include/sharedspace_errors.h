/* How the library makes errors; not installed. */
#ifndef SHAREDSPACE_ERRORS_H
#define SHAREDSPACE_ERRORS_H

#include "sharedspace.h"

/* An error with copies of the texts; `space` and `advice` may be NULL. */
sharedspace_error *space_error_make(
    const char *code, const char *message, const char *operation, const char *space, const char *advice, int32_t holder);

/* What every call of a child made by fork receives: a constant, which may be freed like any other. */
sharedspace_error *space_error_forked(void);

#endif
