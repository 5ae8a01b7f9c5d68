/* What the examples share: a look at each call's outcome. */
#ifndef CHECK_H
#define CHECK_H

#include <sharedspace.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program if something is not as it should be. */
#define CHECK(condition)                                                                                  \
    do {                                                                                                  \
        if (!(condition)) {                                                                               \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                               \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)

/* Where the calls of an example store their errors. */
static sharedspace_error *error;

/* Ends the program if a call has failed; otherwise the call's outcome. */
#define DONE(call) check_done((call), __FILE__, __LINE__)
static int check_done(int outcome, const char *file, int line) {
    if (outcome >= 0) return outcome;
    fprintf(stderr, "%s:%d: %s\n", file, line, sharedspace_error_message(error));
    exit(1);
}

/* The code of a call that should fail; its error is freed. */
#define FAILS(call, code)                                                                                 \
    do {                                                                                                  \
        CHECK((call) < 0);                                                                                \
        if (strcmp(sharedspace_error_code(error), code) != 0) {                                           \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, sharedspace_error_message(error));         \
            exit(1);                                                                                      \
        }                                                                                                 \
        sharedspace_error_free(error);                                                                    \
        error = NULL;                                                                                     \
    } while (0)

/* Whether a result is a text. */
static inline int is(const sharedspace_result *result, const char *text) {
    return result->count == strlen(text) && memcmp(result->bytes, text, result->count) == 0;
}

/* Options for JSON, which wait as long as is said. */
static inline sharedspace_how json(int64_t timeout_ms) {
    sharedspace_how how = sharedspace_defaults();
    how.flags = SHAREDSPACE_JSON;
    how.timeout_ms = timeout_ms;
    return how;
}

/* Opens a namespace of the default space. */
static inline sharedspace_ns *open_namespace(const char *name) {
    sharedspace *space;
    sharedspace_ns *ns;
    DONE(sharedspace_open(NULL, NULL, &space, &error));
    DONE(sharedspace_ns_open(space, name, NULL, &ns, &error));
    sharedspace_close(space);
    return ns;
}

/* Writes a tuple that is given as JSON. */
static inline uint64_t write_json(sharedspace_ns *ns, const char *text) {
    sharedspace_bytes tuple = sharedspace_text(text);
    sharedspace_how how = json(0);
    uint64_t id;
    DONE(sharedspace_write(ns, &tuple, 1, &how, &id, &error));
    return id;
}

/* Finds a tuple by a template that is given as JSON. */
static inline int find_json(
    sharedspace_ns *ns, int what, const char *text, int64_t timeout_ms, sharedspace_result *result) {
    sharedspace_bytes template_ = sharedspace_text(text);
    sharedspace_how how = json(timeout_ms);
    return sharedspace_find(ns, what, &template_, 1, &how, result, &error);
}

#endif
