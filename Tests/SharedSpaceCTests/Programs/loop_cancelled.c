/* Takes, claims, items and locks that are cancelled at odd moments: nothing is lost, and nothing is delivered twice. */
#include "writer.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TUPLES = 400, WAITS = 8 };

static uint64_t seed = 20261129;
static uint64_t random_below(uint64_t bound) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % bound;
}

static int got[TUPLES], count;

static void note(const sharedspace_result *result) {
    int number;
    CHECK(sscanf((char *)result->bytes, "[\"job\",%d]", &number) == 1 && number >= 0 && number < TUPLES);
    CHECK(got[number]++ == 0 && result->deliveries == 0);
    count++;
}

/* Hands out what has ended, at most so many. */
static void hand_out(sharedspace_ns *ns, sharedspace_loop *loop, int most) {
    sharedspace_result result = sharedspace_no_result();
    uint64_t token;
    int outcome;
    while (most-- > 0 && DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 1) {
        CHECK(outcome == 1);
        note(&result);
        if (result.number > 0) DONE(sharedspace_end(ns, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
    }
    sharedspace_result_free(&result);
}

int main(void) {
    int go[2];
    char byte = 0, text[64];
    pid_t writer = writer_of_jobs(TUPLES, go);

    alarm(120);
    sharedspace_ns *ns = open_namespace("n");
    sharedspace_loop *loop;
    sharedspace_how how = json(SHAREDSPACE_FOREVER);
    sharedspace_bytes job = sharedspace_text("[\"job\", \"?int\"]");
    DONE(sharedspace_loop_open(&loop, &error));
    CHECK(write(go[1], &byte, 1) == 1);
    struct pollfd ready = {.fd = sharedspace_loop_descriptor(loop, &error), .events = POLLIN};
    int cancelled = 0, status = -1;
    /* While the tuples are written, and when they are there. */
    while (cancelled < TUPLES || waitpid(writer, &status, WNOHANG) == 0) {
        for (uint64_t i = 0; i < WAITS; i++) {
            int what = random_below(2) == 0 ? SHAREDSPACE_WAIT_TAKE : SHAREDSPACE_WAIT_CLAIM;
            DONE(sharedspace_loop_begin(loop, i, ns, what, &job, NULL, 1, &how, &error));
        }
        /* At once, at the first outcome, or in the midst of the outcomes. */
        if (random_below(3) > 0) poll(&ready, 1, (int)random_below(3));
        if (random_below(8) == 0) hand_out(ns, loop, 1);
        for (uint64_t i = 0; i < WAITS; i++) cancelled += DONE(sharedspace_loop_cancel(loop, i, &error));
        hand_out(ns, loop, 1); /* the descriptor tells of cancelled ones, too */
        CHECK(poll(&ready, 1, 0) == 0);
    }

    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);

    /* All that were not handed out are there, for a wait of the loop and for a call. */
    sharedspace_result result = sharedspace_no_result();
    while (count < TUPLES) {
        if (count % 2 == 0) {
            CHECK(DONE(find_json(ns, SHAREDSPACE_TAKE, "[\"job\", \"?int\"]", SHAREDSPACE_FOREVER, &result)) == 1);
            note(&result);
        } else {
            int before = count;
            DONE(sharedspace_loop_begin(loop, 1, ns, SHAREDSPACE_WAIT_TAKE, &job, NULL, 1, &how, &error));
            while (count == before) {
                CHECK(poll(&ready, 1, -1) == 1);
                hand_out(ns, loop, 1);
            }
            hand_out(ns, loop, 1);
        }
    }
    sharedspace_loop_close(loop);
    sharedspace_bytes any = sharedspace_text("\"?\"");
    how = json(0);
    CHECK(sharedspace_count(ns, &any, 1, &how, &error) == 0);

    /* The tuple comes at the very moment of the cancel. */
    DONE(sharedspace_loop_open(&loop, &error));
    ready.fd = sharedspace_loop_descriptor(loop, &error);
    how.timeout_ms = SHAREDSPACE_FOREVER;
    for (int i = 0; i < 300; i++) {
        int what = i % 2 == 0 ? SHAREDSPACE_WAIT_TAKE : SHAREDSPACE_WAIT_CLAIM;
        DONE(sharedspace_loop_begin(loop, 1, ns, what, &job, NULL, 1, &how, &error));
        write_json(ns, "[\"job\", 1]");
        for (volatile uint64_t spins = random_below(100000); spins > 0; spins--) {}
        CHECK(DONE(sharedspace_loop_cancel(loop, 1, &error)) == 1);
        CHECK(DONE(find_json(ns, SHAREDSPACE_TAKE, "[\"job\", 1]", SHAREDSPACE_FOREVER, &result)) == 1);
        CHECK(result.deliveries == 0);
    }
    sharedspace_loop_close(loop);

    /* A lock and an item that were obtained and cancelled are free, and the next in line has them. */
    const char *name = "x";
    uint64_t token;
    int outcome;
    DONE(sharedspace_loop_open(&loop, &error));
    ready.fd = sharedspace_loop_descriptor(loop, &error);
    sharedspace_how at_once = json(0);
    DONE(sharedspace_put(ns, "mail", &job, 1, &at_once, NULL, &error));
    for (int what = SHAREDSPACE_WAIT_LOCK; what <= SHAREDSPACE_WAIT_ITEM; what += SHAREDSPACE_WAIT_ITEM - SHAREDSPACE_WAIT_LOCK) {
        name = what == SHAREDSPACE_WAIT_ITEM ? "mail" : "lock";
        for (uint64_t i = 1; i <= 3; i++)
            DONE(sharedspace_loop_begin(loop, i, ns, what, NULL, &name, 1, &how, &error));
        CHECK(poll(&ready, 1, -1) == 1); /* the first has it */
        CHECK(DONE(sharedspace_loop_cancel(loop, 2, &error)) == 1);
        CHECK(DONE(sharedspace_loop_cancel(loop, 1, &error)) == 1);
        while (DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0) CHECK(poll(&ready, 1, -1) == 1);
        CHECK(token == 3 && outcome == 1 && result.deliveries == 0);
        if (what == SHAREDSPACE_WAIT_LOCK) DONE(sharedspace_let_go(ns, result.number, &error));
        else DONE(sharedspace_end(ns, result.number, SHAREDSPACE_COMPLETE, NULL, &error));
    }

    /* A change that a cancelled wait had obtained comes next, and the point of the watch is before it. */
    sharedspace_watch *watch;
    sharedspace_result before = sharedspace_no_result();
    DONE(sharedspace_watch_open(ns, sharedspace_text("{\"posts\": \"*\"}"), NULL, NULL, &watch, &error));
    for (int i = 0; i < 50; i++) {
        DONE(sharedspace_loop_watch(loop, 1, watch, &how, &error));
        FAILS(sharedspace_loop_watch(loop, 2, watch, &how, &error), "invalidArgument");
        FAILS(sharedspace_watch_next(watch, &how, &result, &error), "invalidArgument");
        snprintf(text, sizeof text, "post %d", i);
        DONE(sharedspace_post(ns, text, (sharedspace_bytes){NULL, 0}, NULL, &error));
        if (i % 2 == 0) CHECK(poll(&ready, 1, -1) == 1);
        CHECK(DONE(sharedspace_loop_cancel(loop, 1, &error)) == 1);
        DONE(sharedspace_watch_point(watch, &before, &error));
        CHECK(DONE(sharedspace_watch_next(watch, &how, &result, &error)) == 1);
        CHECK(strstr((char *)result.bytes, text) != NULL);
        CHECK(strtoull((char *)before.bytes, NULL, 10) <= result.sequence);
        CHECK(DONE(sharedspace_loop_next(loop, &token, &outcome, &result, &error)) == 0);
    }
    sharedspace_watch_close(watch);
    sharedspace_loop_close(loop);
    sharedspace_result_free(&before);
    sharedspace_result_free(&result);
    return 0;
}
