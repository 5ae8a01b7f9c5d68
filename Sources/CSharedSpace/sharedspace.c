/* Errors as C sees them: texts of their own, so that they last until they are freed.
 *
 * In C, so that nothing here needs the Swift runtime. A child made by fork may not: the runtime's locks, which a cast to an
 * optional can ask for, may be held by a thread that the child does not have. */
#include "sharedspace_errors.h"

#include <stdlib.h>

struct sharedspace_error {
    const char *code, *message, *operation, *space, *advice;
    int32_t holder;
};

#define ADVICE "start the child by exec or posix_spawn, or fork before this process opens its first namespace"

static sharedspace_error forked = {
    .code = "forked",
    .message = "cannot use the library: this process was forked from one that had opened a namespace or a loop, and has its "
               "parent's locks without its threads; " ADVICE,
    .operation = "use the library",
    .advice = ADVICE,
};

sharedspace_error *space_error_forked(void) { return &forked; }

static const char *copy(const char *text) { return text == NULL ? NULL : strdup(text); }

sharedspace_error *space_error_make(
    const char *code, const char *message, const char *operation, const char *space, const char *advice, int32_t holder) {
    sharedspace_error *error = malloc(sizeof *error);
    if (error == NULL) abort(); /* As Swift does where no memory is left. */
    *error = (sharedspace_error){copy(code), copy(message), copy(operation), copy(space), copy(advice), holder};
    return error;
}

const char *sharedspace_error_code(const sharedspace_error *error) { return error == NULL ? "" : error->code; }
const char *sharedspace_error_message(const sharedspace_error *error) { return error == NULL ? "" : error->message; }
const char *sharedspace_error_operation(const sharedspace_error *error) { return error == NULL ? "" : error->operation; }
const char *sharedspace_error_namespace(const sharedspace_error *error) { return error == NULL ? NULL : error->space; }
const char *sharedspace_error_advice(const sharedspace_error *error) { return error == NULL ? NULL : error->advice; }
int32_t sharedspace_error_holder(const sharedspace_error *error) { return error == NULL ? 0 : error->holder; }

void sharedspace_error_free(sharedspace_error *error) {
    if (error == NULL || error == &forked) return;
    const char *texts[] = {error->code, error->message, error->operation, error->space, error->advice};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) free((void *)texts[i]);
    free(error);
}
