/* A loop is closed while waits are under way, by threads that begin and cancel, and by another that hands out: nothing that
 * was not handed out stays away, and nothing waits any more. */
#include "../Examples/check.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 20 };

static sharedspace_ns *ns;
static sharedspace_loop *loop;
static int started[2];

/* Begins and cancels until the loop is closed. */
static void *begin_and_cancel(void *first) {
    sharedspace_error *failure = NULL;
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes job = sharedspace_text("[\"job\"]");
    const char *lock = "lock";
    char byte = 0;
    for (uint64_t i = 0;; i++) {
        uint64_t token = (uint64_t)(uintptr_t)first + i % 50;
        int outcome = i % 4 == 0
            ? sharedspace_loop_begin(loop, token, ns, SHAREDSPACE_WAIT_LOCK, NULL, &lock, 1, &how, &failure)
            : sharedspace_loop_begin(loop, token, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &failure);
        if (outcome < 0) break;
        if (i == 20) CHECK(write(started[1], &byte, 1) == 1);
        /* Ten of fifty stay. */
        if (i % 5 > 0 && sharedspace_loop_cancel(loop, token, &failure) < 0) break;
        if (i % 50 == 49) {
            for (uint64_t j = 0; j < 50; j += 5) sharedspace_loop_cancel(loop, (uint64_t)(uintptr_t)first + j, NULL);
        }
    }
    CHECK(strcmp(sharedspace_error_code(failure), "closed") == 0);
    sharedspace_error_free(failure);
    return NULL;
}

int main(void) {
    sharedspace_result result = sharedspace_no_result();
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes job = sharedspace_text("[\"job\"]"), any = sharedspace_text("\"?\"");
    const char *lock = "lock";
    uint64_t token;
    int outcome;
    char byte;
    alarm(120);
    ns = open_namespace("n");
    CHECK(pipe(started) == 0);

    /* What was obtained, and not handed out, is back when the call returns. */
    write_json(ns, "[\"job\"]");
    DONE(sharedspace_loop_open(&loop, &error));
    DONE(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
    DONE(sharedspace_loop_begin(loop, 2, ns, SHAREDSPACE_WAIT_LOCK, NULL, &lock, 1, &how, &error));
    for (uint64_t i = 3; i < 100; i++)
        DONE(sharedspace_loop_begin(loop, i, ns, i % 2 ? SHAREDSPACE_WAIT_TAKE : SHAREDSPACE_WAIT_CLAIM, &job, NULL, 1, &how, &error));
    struct pollfd ready = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
    CHECK(poll(&ready, 1, -1) == 1);
    CHECK(DONE(find_json(ns, SHAREDSPACE_READ, "[\"job\"]", 0, &result)) == 0);
    sharedspace_loop_close(loop);
    CHECK(DONE(find_json(ns, SHAREDSPACE_TAKE, "[\"job\"]", 0, &result)) == 1 && result.deliveries == 0);
    how.timeout_ms = 0;
    CHECK(DONE(sharedspace_hold(ns, SHAREDSPACE_LOCK, &lock, 1, &how, &result, &error)) == 1);
    DONE(sharedspace_let_go(ns, result.number, &error));
    FAILS(sharedspace_loop_next(loop, &token, &outcome, &result, &error), "closed");
    sharedspace_loop_close(loop);
    write_json(ns, "[\"job\"]"); /* no wait is left that takes it */
    CHECK(DONE(find_json(ns, SHAREDSPACE_TAKE, "[\"job\"]", 0, &result)) == 1);

    /* A tuple and a lock come at the very moment of the close. */
    for (int i = 0; i < 100; i++) {
        how.timeout_ms = 0;
        CHECK(DONE(sharedspace_hold(ns, SHAREDSPACE_LOCK, &lock, 1, &how, &result, &error)) == 1);
        how.timeout_ms = SHAREDSPACE_FOREVER;
        DONE(sharedspace_loop_open(&loop, &error));
        for (uint64_t j = 4; j < 8; j++)
            DONE(sharedspace_loop_begin(loop, j, ns, SHAREDSPACE_WAIT_LOCK, NULL, &lock, 1, &how, &error));
        for (uint64_t j = 0; j < 4; j++)
            DONE(sharedspace_loop_begin(loop, j, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
        write_json(ns, "[\"job\"]");
        DONE(sharedspace_let_go(ns, result.number, &error));
        for (volatile int spins = 1000 * i; spins > 0; spins--) {}
        sharedspace_loop_close(loop);
        CHECK(DONE(find_json(ns, SHAREDSPACE_TAKE, "[\"job\"]", 0, &result)) == 1 && result.deliveries == 0);
    }

    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        int written = 0, taken = 0;
        DONE(sharedspace_loop_open(&loop, &error));
        for (uintptr_t i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, begin_and_cancel, (void *)(i * 100)) == 0);
        for (int i = 0; i < THREADS; i++) CHECK(read(started[0], &byte, 1) == 1);
        for (int i = 0; i < 30; i++, written++) {
            write_json(ns, "[\"job\"]");
            while (DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 1) {
                CHECK(outcome == 1);
                if (result.number > 0) DONE(sharedspace_let_go(ns, result.number, &error));
                else taken++;
            }
        }
        sharedspace_loop_close(loop);
        for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
        how = json(0);
        CHECK(sharedspace_count(ns, &any, 1, &how, &error) == written - taken);
        while (DONE(find_json(ns, SHAREDSPACE_TAKE, "\"?\"", 0, &result)) == 1) {}
        CHECK(DONE(sharedspace_hold(ns, SHAREDSPACE_LOCK, &lock, 1, &how, &result, &error)) == 1);
        DONE(sharedspace_let_go(ns, result.number, &error));
    }

    /* The namespace is closed under the waits: they end with `closed`, and so does what was not handed out. */
    how = json(SHAREDSPACE_FOREVER);
    write_json(ns, "[\"job\"]");
    DONE(sharedspace_loop_open(&loop, &error));
    DONE(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_CLAIM, &job, NULL, 1, &how, &error));
    DONE(sharedspace_loop_begin(loop, 2, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
    ready.fd = sharedspace_loop_descriptor(loop, &error);
    DONE(sharedspace_ns_close(ns, &error));
    for (int i = 0; i < 2; i++) {
        while (DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0) CHECK(poll(&ready, 1, -1) == 1);
        CHECK(outcome == -1 && strcmp(sharedspace_error_code(error), "closed") == 0);
        sharedspace_error_free(error);
    }
    sharedspace_loop_close(loop);
    sharedspace_result_free(&result);
    return 0;
}
